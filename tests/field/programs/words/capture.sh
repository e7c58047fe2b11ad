# Samples a C++ program by gperftools; $1 receives cpu.pb.gz, the rest is for the compiler.
# Debian's packages are unpacked here; Go's pprof writes the profile as protobuf.
set -e
out=$1
shift
apt-get -qq download libgoogle-perftools4 libunwind8
for package in *.deb; do dpkg -x "$package" .; done
libraries=$(dirname "$(find . -name 'libprofiler.so.0' | head -n 1)")
c++ -std=c++17 -O1 -g -no-pie "$@" -o words words.cc
CPUPROFILE=words.prof CPUPROFILE_FREQUENCY=200 LD_LIBRARY_PATH=$libraries \
	LD_PRELOAD=libprofiler.so.0 ./words 6
go tool pprof -proto -output="$out/cpu.pb.gz" words words.prof
