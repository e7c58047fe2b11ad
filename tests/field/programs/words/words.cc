// Counts the words of a text for a fixed time.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#ifdef ORDERED
#include <map>
using Table = std::map<std::string, long>;
#else
#include <unordered_map>
using Table = std::unordered_map<std::string, long>;
#endif

__attribute__((noinline)) std::vector<std::string> Split(const std::string &text) {
  std::vector<std::string> words;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find(' ', begin);
    if (end == std::string::npos) end = text.size();
    words.emplace_back(text, begin, end - begin);
    begin = end + 1;
  }
  return words;
}

__attribute__((noinline)) void Count(Table &table, const std::vector<std::string> &words) {
  for (const std::string &word : words) ++table[word];
}

__attribute__((noinline)) std::string Line(unsigned long seed) {
  std::string text;
  for (int i = 0; i < 40; i++) {
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    text += "counted word " + std::to_string(seed >> 49) + " ";
  }
  return text;
}

int main(int argc, char **argv) {
  auto stop = std::chrono::steady_clock::now() + std::chrono::seconds(atoi(argv[1]));
  Table table;
  unsigned long lines = 0;
  while (std::chrono::steady_clock::now() < stop) Count(table, Split(Line(lines++)));
  fprintf(stderr, "%lu lines, %zu words\n", lines, table.size());
}
