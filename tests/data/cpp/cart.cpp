#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
#include <algorithm>
namespace shop {
struct Line { std::string name; long cents; };
#ifdef NEW
using Lines = std::vector<Line>;
#else
using Lines = const std::vector<Line>&;
#endif
struct Cart {
  std::vector<Line> lines;
  __attribute__((noinline)) static long sum(Lines all) { long t = 0; for (auto& l : all) t = (t * 31 + l.cents) % 100003; return t; }
  __attribute__((noinline)) long total() const { return sum(lines); }
};
__attribute__((noinline)) long sorted(unsigned long x) { std::vector<unsigned long> v; for (int i = 0; i < 2000; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; v.push_back(x); } std::sort(v.begin(), v.end()); return v[7]; }
template <class K> __attribute__((noinline)) long count(const std::vector<Line>& lines) { std::map<K, long> m; for (auto& l : lines) m[l.name] += l.cents; return m.size(); }
}
int main() {
  shop::Cart cart; for (int i = 0; i < 400; i++) cart.lines.push_back({"a rather long name of a line " + std::to_string(i % 60), i});
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(6); long n = 0, x = 0;
  while (std::chrono::steady_clock::now() < end) { for (int i = 0; i < 8; i++) x += cart.total(); x += shop::sorted(88172645463325252 + (x & 1)); x += shop::count<std::string>(cart.lines); n++; }
  printf("%ld %ld\n", n, x & 1);
}
