const {time, heap, encode} = require('@datadog/pprof');
const fs = require('fs'), zlib = require('zlib');
const [,, side] = process.argv; const NEW = side === 'new';
const shared = new Intl.NumberFormat('en', {style: 'currency', currency: 'EUR'});
function format(cents) { const f = NEW ? new Intl.NumberFormat('en', {style: 'currency', currency: 'EUR'}) : shared; return f.format(cents / 100); }
function sum(row) { let t = 0; for (const x of row) t = (t * 31 + x) % 100003; return t; }
function parse(n) { const o = []; for (let i = 0; i < n; i++) o.push(JSON.parse('{"a":' + i + ',"b":[1,2,3]}')); return o; }
function page(rows) { const out = []; for (let i = 0; i < rows.length; i++) { out.push(sum(rows[i])); if (i % 40 === 0) out.push(format(i)); } parse(100); return out.join(','); }
const rows = Array.from({length: 400}, (_, i) => Array.from({length: 300}, (_, j) => i * j));
heap.start(64 * 1024, 64);
time.start({durationMillis: 8000, intervalMicros: 2000});
const end = Date.now() + 8000; let done = 0;
while (Date.now() < end) { page(rows); done++; }
const w = time.stop(), h = heap.profile();
fs.mkdirSync(side, {recursive: true});
fs.writeFileSync(side + '/wall.pb.gz', zlib.gzipSync(w.encode()));
fs.writeFileSync(side + '/heap.pb.gz', zlib.gzipSync(h.encode()));
console.log(done);
