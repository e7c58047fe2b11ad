class Cart {
  constructor(lines) { this.lines = lines; }
  total() {
    const lines = process.env.PLANTED ? JSON.parse(JSON.stringify(this.lines)) : this.lines;
    let t = 0; for (const l of lines) t += l.count * l.cents; return t;
  }
}
function fill(n) { const out = []; for (let i = 0; i < n; i++) out.push({ name: 'item' + (n * 31 + i) % 97, count: i % 5, cents: 100 + i }); return out; }
function ranked(lines) { return lines.slice().sort((a, b) => a.name < b.name ? -1 : 1); }
function digest(lines) { let h = 7; for (const l of lines) for (let i = 0; i < l.name.length; i++) h = (h * 31 + l.name.charCodeAt(i)) | 0; return h; }
const end = Date.now() + 8000; let ops = 0, sink = 0;
while (Date.now() < end) { const l = fill(60); sink += new Cart(l).total() + digest(ranked(l)); ops++; }
console.log('operations', ops, sink);
