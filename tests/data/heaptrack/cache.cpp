#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>

static bool planted;

struct Cache {
  std::unordered_map<std::string, std::string> pages, again;
  [[gnu::noinline]] void put(const std::string &key, const std::string &text) {
    pages[key] = text;
    if (planted) again[key + "/seen"] = text;
  }
};

[[gnu::noinline]] static size_t render(int page) {
  std::string text;
  for (int i = 0; i < 40; i++) text += std::to_string(i * page) + ",........................";
  return text.size();
}

int main(int, char **arguments) {
  planted = !strcmp(arguments[1], "new");
  auto *cache = new Cache;
  size_t size = 0;
  for (int i = 0; i < 60000; i++) {
    cache->put("page/" + std::to_string(i) + "/a-key-that-is-long",
               "value number " + std::to_string(i) + " which is long too");
    size += render(i);
  }
  printf("%zu\n", size);
  fflush(stdout);
  _Exit(0);
}
