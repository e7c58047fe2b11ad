import java.util.*;
public class Orders {
  record Line(String name, int count, long cents) {}
  static final boolean NEW = Boolean.getBoolean("planted");
  static List<Line> parse(String text) {
    List<Line> out = new ArrayList<>();
    for (String part : text.split(";")) {
      String[] f = part.split(",");
      out.add(new Line(f[0], Integer.parseInt(f[1]), Long.parseLong(f[2])));
    }
    return out;
  }
  static long total(List<Line> lines) { long t = 0; for (Line l : lines) t += l.count() * l.cents(); return t; }
  static String receipt(List<Line> lines) {
    StringBuilder b = new StringBuilder();
    for (Line l : lines) {
      if (NEW && l == lines.get(0)) b.append(String.format("%-10s %4d %d%n", l.name(), l.count(), l.cents()));
      else { b.append(l.name()).append(' ').append(l.count()).append(' ').append(l.cents()).append('\n'); }
    }
    return b.toString();
  }
  static long checksum(String s) { long h = 7; for (int r = 0; r < 12; r++) for (int i = 0; i < s.length(); i++) h = h * 31 + s.charAt(i); return h; }
  public static void main(String[] a) {
    StringBuilder t = new StringBuilder();
    for (int i = 0; i < 40; i++) t.append("item").append(i).append(',').append(i % 7 + 1).append(',').append(100 + i * 13).append(';');
    String text = t.toString(); long end = System.nanoTime() + Long.parseLong(a[0]) * 1_000_000_000L, ops = 0, sink = 0;
    while (System.nanoTime() < end) { List<Line> l = parse(text); sink += total(l); sink += checksum(receipt(l)); ops++; }
    System.out.println("operations " + ops + " " + sink);
  }
}
