package com.shop;
import java.security.MessageDigest;
import java.util.*;
import java.util.concurrent.*;

class Pricing {
    long quote(int sku, int qty) { return discount(qty, base(sku) * qty); }
    long base(int sku) { return 100 + (sku * 7919L) % 9000; }
    long discount(int qty, long a) { return qty > 5 ? a * 93 / 100 : a; }
}
class Catalog {
    final Map<String, Integer> bySlug = new HashMap<>();
    final List<String> titles = new ArrayList<>();
    final boolean slow;
    Catalog(int n, boolean slow) { this.slow = slow; for (int i = 0; i < n; i++) { bySlug.put("item-" + i, i); titles.add("Item number " + i + " oak lamp"); } }
    int find(String slug) { return bySlug.getOrDefault(slug.toLowerCase(Locale.ROOT), 0); }
    List<String> search(String term, int from) {
        List<String> out = new ArrayList<>();
        for (int k = 0; k < 400; k++) { String t = titles.get((from + k) % titles.size()); if (t.contains(term)) out.add(t); }
        if (slow) out.sort(this::compareTitles); else Collections.sort(out);
        return out;
    }
    int compareTitles(String a, String b) {
        String[] x = a.toLowerCase(Locale.ROOT).split(" +"), y = b.toLowerCase(Locale.ROOT).split(" +");
        return Arrays.compare(x, y);
    }
}
class Json {
    static String write(Map<String, Object> m) {
        StringBuilder b = new StringBuilder("{");
        for (Map.Entry<String, Object> e : m.entrySet()) { if (b.length() > 1) b.append(','); quote(b, e.getKey()); b.append(':'); quote(b, String.valueOf(e.getValue())); }
        return b.append('}').toString();
    }
    static void quote(StringBuilder b, String s) { b.append('"'); for (int i = 0; i < s.length(); i++) { char c = s.charAt(i); if (c == '"') b.append('\\'); b.append(c); } b.append('"'); }
}
class Audit {
    final boolean slow; final Object lock = new Object(); final ArrayDeque<String> tail = new ArrayDeque<>();
    Audit(boolean slow) { this.slow = slow; }
    void record(String what, int id, String body) throws Exception {
        String d = digest(formatLine(what, id, body), 8); synchronized (lock) { append(d); }
    }
    void append(String d) { tail.addLast(d); if (tail.size() > 1000) tail.removeFirst(); }
    String formatLine(String what, int id, String body) { return String.format("%s %08d %s", what, id, body); }
    String digest(String s, int rounds) throws Exception {
        byte[] d = s.getBytes("UTF-8");
        for (int i = 0; i < rounds; i++) d = MessageDigest.getInstance("SHA-256").digest(d);
        return HexFormat.of().formatHex(d);
    }
}
class OrderService {
    final Catalog c; final Pricing p; final Audit a;
    OrderService(Catalog c, Pricing p, Audit a) { this.c = c; this.p = p; this.a = a; }
    int place(int n) throws Exception {
        long total = 0; Map<String, Object> m = new TreeMap<>();
        for (int i = 0; i < 20; i++) { int sku = c.find("ITEM-" + (n * 31 + i) % 2000); total += p.quote(sku, 1 + i % 9); m.put("line" + i, sku); }
        m.put("total", total);
        String body = Json.write(m);
        a.record("order", n, body);
        return body.length();
    }
}
class CartService {
    final Map<Integer, List<Integer>> carts = new ConcurrentHashMap<>(); final Catalog c; final Audit a;
    CartService(Catalog c, Audit a) { this.c = c; this.a = a; }
    int add(int n) throws Exception {
        List<Integer> l = carts.computeIfAbsent(n % 500, k -> Collections.synchronizedList(new ArrayList<>()));
        if (l.size() > 20) l.clear();
        l.add(c.find("Item-" + n % 2000));
        a.record("cart", n, "size " + l.size());
        return l.size();
    }
}
class SearchService {
    final Catalog c; SearchService(Catalog c) { this.c = c; }
    int find(int n) { Map<String, Object> m = new LinkedHashMap<>(); List<String> r = c.search("" + n % 10, n); m.put("hits", r.size()); m.put("first", rank(r)); return Json.write(m).length(); }
    String rank(List<String> r) { String best = ""; int s = -1; for (String t : r) { int h = t.hashCode() & 0xffff; if (h > s) { s = h; best = t; } } return best; }
}
public class Main {
    public static void main(String[] x) throws Exception {
        boolean slow = Boolean.parseBoolean(x[0]); int n = Integer.parseInt(x[1]);
        Catalog c = new Catalog(2000, slow); Audit a = new Audit(slow);
        OrderService o = new OrderService(c, new Pricing(), a); CartService cs = new CartService(c, a); SearchService s = new SearchService(c);
        long t = System.nanoTime();
        Thread[] ts = new Thread[4]; long[] sums = new long[4];
        for (int w = 0; w < 4; w++) { int id = w; ts[w] = new Thread(() -> { try { for (int i = id; i < n; i += 4) sums[id] += request(o, cs, s, i); } catch (Exception e) { throw new RuntimeException(e); } }, "worker-" + w); ts[w].start(); }
        for (Thread w : ts) w.join();
        System.out.println(n + " requests " + Arrays.stream(sums).sum() + " " + (System.nanoTime() - t) / 1000000 + " ms");
    }
    static int request(OrderService o, CartService cs, SearchService s, int i) throws Exception { return o.place(i) + cs.add(i) + s.find(i); }
}
