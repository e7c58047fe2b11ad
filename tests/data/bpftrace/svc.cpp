#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include <unistd.h>
#define NI __attribute__((noinline))
namespace ingest {
struct Rng { unsigned long s = 88172645463325252ul; NI unsigned long next() { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s; } };
struct Event { std::string host, path; int status = 0; long micros = 0; std::vector<std::string> tags; };
template <class T> class RingBuffer {
 public:
  explicit RingBuffer(size_t cap) : cap_(cap) {}
  NI void push(T v) { if (q_.size() == cap_) q_.pop_front(); q_.push_back(std::move(v)); }
  size_t size() const { return q_.size(); }
 private: size_t cap_; std::deque<T> q_;
};
NI std::vector<std::string_view> split(std::string_view s, char sep) {
  std::vector<std::string_view> out; size_t i = 0;
  while (true) { size_t p = s.find(sep, i); out.push_back(s.substr(i, p == s.npos ? p : p - i)); if (p == s.npos) break; i = p + 1; }
  return out;
}
NI long to_long(std::string_view s) { long v = 0; for (char c : s) v = v * 10 + (c - '0'); return v; }
NI Event parse(std::string_view line) {
  auto f = split(line, ' '); Event e; e.host = f[0]; e.path = f[1]; e.status = (int)to_long(f[2]); e.micros = to_long(f[3]);
  for (auto t : split(f[4], ',')) e.tags.emplace_back(t);
  return e;
}
class Router {
 public:
  Router() { for (int i = 0; i < 60; i++) { std::string p = "/service-number-" + std::to_string(10 + i) + "/"; map_[p] = i; table_.emplace_back(p, i); } }
  NI int lookup(std::string_view path) const;
 private: std::map<std::string, int, std::less<>> map_; std::vector<std::pair<std::string, int>> table_;
};
#ifdef SLOW
int Router::lookup(std::string_view path) const {
  std::vector<std::pair<std::string, int>> t = table_;
  for (auto& p : t) if (path.substr(0, p.first.size()) == p.first) return p.second;
  return -1;
}
#else
int Router::lookup(std::string_view path) const {
  auto it = map_.upper_bound(path);
  if (it == map_.begin()) return -1;
  --it; return path.substr(0, it->first.size()) == it->first ? it->second : -1;
}
#endif
class Histogram {
 public:
  NI void add(long v) { buckets_[std::min<size_t>(63, v ? 64 - __builtin_clzl(v) : 0)]++; n_++; recent_.push_back(v); if (recent_.size() >= 256) flush(); }
  NI void flush() { std::nth_element(recent_.begin(), recent_.begin() + 240, recent_.end()); p95_ = recent_[240]; recent_.clear(); }
  long p95() const { return p95_; }
 private: long buckets_[64] = {}; long n_ = 0, p95_ = 0; std::vector<long> recent_;
};
class Metrics {
 public:
  NI void record(const Event& e, int svc) { by_host_[e.host].add(e.micros); by_svc_[svc].add(e.micros); if (e.status >= 500) errors_[e.host]++; }
  NI std::string dump() const { std::string s; for (auto& [h, x] : by_svc_) { s += std::to_string(h); s += '='; s += std::to_string(x.p95()); s += '\n'; } return s; }
 private: std::unordered_map<std::string, Histogram> by_host_; std::map<int, Histogram> by_svc_; std::unordered_map<std::string, long> errors_;
};
NI std::string to_json(const Event& e, int svc) {
  std::string s = "{\"host\":\"" + e.host + "\",\"path\":\"" + e.path + "\",\"svc\":" + std::to_string(svc) + ",\"tags\":[";
  for (auto& t : e.tags) { s += '"'; s += t; s += "\","; }
  return s + "]}";
}
class Service {
 public:
  NI void on_line(std::string_view line) { Event e = parse(line); int svc = router_.lookup(e.path); metrics_.record(e, svc); auto j = to_json(e, svc); bytes_ += j.size(); last_.push(std::move(j)); }
  NI void on_trace(std::string_view path, long v) { int svc = router_.lookup(path); traces_[svc].add(v); }
  NI void on_scrape() { bytes_ += metrics_.dump().size(); }
  unsigned long bytes() const { return bytes_; }
 private: Router router_; Metrics metrics_; RingBuffer<std::string> last_{2000}; std::map<int, Histogram> traces_; unsigned long bytes_ = 0;
};
NI std::string make_line(Rng& r) {
  char b[256]; snprintf(b, sizeof b, "host-%lu.example.internal /service-number-%lu/items/%lu %d %lu zone-%lu,rack-%lu,canary", r.next() % 40, 10 + r.next() % 60, r.next() % 9999, r.next() % 50 ? 200 : 503, r.next() % 100000, r.next() % 3, r.next() % 16);
  return b;
}
}  // namespace ingest
int main(int, char** v) {
  long n = atol(v[1]); ingest::Rng r; ingest::Service s;
  for (long i = 0; i < n; i++) {
    std::string l = ingest::make_line(r); s.on_line(l);
    if (i % 2) s.on_trace(std::string_view(l).substr(l.find(' ') + 1), (long)(r.next() % 5000));
    if (i % 100 == 0) s.on_scrape();
  }
  printf("%ld lines %lu bytes\n", n, s.bytes());
  fflush(stdout); sleep(12);  // stay for the symbols
}
