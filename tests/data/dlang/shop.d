module shop;
import std.datetime.stopwatch, std.stdio, std.conv : to;
struct Account { int id; long sum; }
class Ledger {
  Account[] all; Account*[int] byId;
  this() { foreach (i; 0 .. 400) all ~= Account(i * 7, i); foreach (ref a; all) byId[a.id] = &a; }
  pragma(inline, false) Account* find(int id) {
    version (planted) { foreach (ref a; all) if (a.id == id) return &a; return null; }
    else { return byId.get(id, null); }
  }
  pragma(inline, false) ulong digest(string s) { ulong h = 17; foreach (k; 0 .. 40) foreach (c; s) h = h * 31 ^ c; return h; }
}
pragma(inline, false) ulong serve(T)(Ledger l, T n) { auto a = l.find((n % 400) * 7); a.sum++; return l.digest("order number " ~ n.to!string) + a.sum; }
void main() { auto l = new Ledger; auto sw = StopWatch(AutoStart.yes); ulong h; int n; while (sw.peek.total!"seconds" < 5) { foreach (i; 0 .. 100) h ^= serve(l, n++); } writeln(n, " ", h); }
