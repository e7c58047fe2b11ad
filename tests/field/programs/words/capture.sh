# Samples a C++ program by gperftools; $1 receives cpu.pb.gz, the rest is for the compiler.
# Debian's packages are unpacked here. The pprof of google/pprof writes the profile as
# protobuf: Go's own names no functions of C++.
set -e
out=$1
shift
apt-get -qq download libgoogle-perftools4 libunwind8
for package in *.deb; do dpkg -x "$package" .; done
libraries=$(dirname "$(find . -name 'libprofiler.so.0' | head -n 1)")
c++ -std=c++17 -O1 -g -no-pie "$@" -o words words.cc
CPUPROFILE=words.prof CPUPROFILE_FREQUENCY=200 LD_LIBRARY_PATH=$libraries \
	LD_PRELOAD=libprofiler.so.0 ./words 6
go run github.com/google/pprof@v0.0.0-20250403155104-27863c87afa6 -proto -output="$out/cpu.pb.gz" words words.prof
