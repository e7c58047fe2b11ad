use std::collections::HashMap;
use std::hint::black_box;
use std::io::Write;
use pprof::protos::Message;

#[inline(never)]
fn checksum(text: &[u8], rounds: u32) -> u32 {
    let mut h = 7u32;
    for _ in 0..rounds { for b in text { h = h.wrapping_mul(31) ^ (*b as u32); } }
    h
}
#[inline(never)]
fn sorted(seed: u64) -> Vec<u64> {
    let mut x = seed; let mut v = Vec::with_capacity(3000);
    for _ in 0..3000 { x ^= x << 13; x ^= x >> 7; x ^= x << 17; v.push(x); }
    v.sort_unstable(); v
}
#[inline(never)]
fn count(words: &[String]) -> HashMap<String, usize> {
    let mut m = HashMap::new();
    for w in words { *m.entry(w.clone()).or_insert(0) += 1; }
    m
}
fn serve(words: &[String], text: &[u8], rounds: u32) {
    black_box(checksum(text, rounds)); black_box(sorted(black_box(88172645463325252))); black_box(count(words));
}
fn main() {
    let new = std::env::args().nth(1).unwrap() == "new";
    let out = std::env::args().nth(2).unwrap_or_default();
    let rounds = if new { 8 } else { 2 };
    let words: Vec<String> = (0..600).map(|i| format!("word{}", i % 97)).collect();
    let text = vec![b'x'; 8000];
    let guard = if out.is_empty() { None } else { Some(pprof::ProfilerGuardBuilder::default().frequency(200).blocklist(&["libc", "libgcc", "pthread", "vdso"]).build().unwrap()) };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(6);
    let mut n = 0u64;
    while std::time::Instant::now() < end { serve(&words, &text, rounds); n += 1; }
    println!("{n}");
    if let Some(g) = guard {
        let report = g.report().build().unwrap();
        let mut bytes = Vec::new();
        report.pprof().unwrap().encode(&mut bytes).unwrap();
        std::fs::File::create(out).unwrap().write_all(&bytes).unwrap();
    }
}
