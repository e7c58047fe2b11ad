#include <chrono>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>
struct Item { std::string name; long stock; };
class Index {
  std::unordered_map<std::string, long> byName; std::vector<Item> items;
 public:
  void add(const std::string& n, long s) { byName[n] = s; items.push_back({n, s}); }
  __attribute__((noinline)) long find(const std::string& n) const {
#ifdef PLANTED
    for (const auto& i : items) if (i.name == n) return i.stock;
    return -1;
#else
    auto it = byName.find(n); return it == byName.end() ? -1 : it->second;
#endif
  }
};
__attribute__((noinline)) std::string label(long i) { std::string s = "warehouse-"; s += std::to_string(i % 400); return s; }
__attribute__((noinline)) long digest(const std::string& s) { long h = 0; for (int r = 0; r < 30; r++) for (char c : s) h = h * 131 + c; return h; }
int main(int argc, char** argv) {
  Index index; for (long i = 0; i < 400; i++) index.add(label(i), i);
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(atoi(argv[1])); long ops = 0, sink = 0;
  while (std::chrono::steady_clock::now() < end) for (int k = 0; k < 1000; k++, ops++) { auto n = label(ops); sink += index.find(n) + digest(n); }
  printf("operations %ld %ld\n", ops, sink);
}
