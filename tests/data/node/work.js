const {time, encode, SourceMapper} = require('@datadog/pprof');
const fs = require('fs');
const [,, out, factor] = process.argv;
function hash(text) { let h = 7; for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) | 0; return h; }
function parse(n) { const o = []; for (let i = 0; i < n; i++) o.push(JSON.parse('{"a":' + i + ',"b":[1,2,3]}')); return o.length; }
function dearer(text, k) { let h = 0; for (let i = 0; i < k; i++) h ^= hash(text + i); return h; }
const text = 'x'.repeat(2000);
time.start({durationMillis: 5000, intervalMicros: 1000});
const end = Date.now() + 5000; let done = 0;
while (Date.now() < end) { parse(300); dearer(text, 20 * Number(factor)); done++; }
const profile = time.stop();
fs.writeFileSync(out, require('zlib').gzipSync(profile.encode ? profile.encode() : encode.encodeSync(profile)));
console.log(done);
