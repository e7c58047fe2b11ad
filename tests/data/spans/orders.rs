//! Orders, traced by spans. With the argument `new`, `price` is asked of the tariff for each line anew,
//! which `tariff` parses each time.
use std::time::{Duration, Instant};
use tracing::instrument;
use tracing_flame::FlameLayer;
use tracing_subscriber::{prelude::*, registry::Registry};

const TARIFF: &str = "a=3,b=5,c=8,d=13,e=21,f=34,g=55,h=89,i=144,j=233";

#[instrument(skip_all)]
fn tariff() -> Vec<(String, u64)> {
    TARIFF.split(',').map(|p| { let (k, v) = p.split_once('=').unwrap(); (k.to_string(), v.parse().unwrap()) }).collect()
}

#[instrument(skip_all)]
fn price(lines: &[(String, u64)], new: bool) -> u64 {
    let mut known = tariff();
    let mut sum = 0;
    for (name, n) in lines {
        if new { known = tariff(); }
        sum += known.iter().find(|(k, _)| k == name).map_or(0, |(_, v)| v * n);
    }
    sum
}

#[instrument(skip_all)]
fn decode(n: u64) -> Vec<(String, u64)> {
    (0..30).map(|i| (((b'a' + ((i + n) % 10) as u8) as char).to_string(), i * n % 17)).collect()
}

#[instrument(skip_all)]
fn sign(sum: u64) -> u64 {
    (0..60_000u64).fold(sum, |h, i| (h ^ i).wrapping_mul(0x100000001b3))
}

#[instrument(skip_all, name = "write to disk")]
fn store(order: u64) -> String {
    let mut text = String::new();
    for i in 0..200 { text.push_str(&format!("{:x}", order.wrapping_mul(i))); }
    text
}

#[instrument(skip_all, fields(id = n))]
fn order(n: u64, new: bool) -> usize {
    let lines = decode(n);
    let sum = price(&lines, new);
    let hash = sign(sum);
    store(hash).len()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (flame, guard) = FlameLayer::with_file(&args[2]).unwrap();
    tracing::subscriber::set_global_default(Registry::default().with(flame)).unwrap();
    let start = Instant::now();
    let (mut n, mut size) = (0, 0);
    while start.elapsed() < Duration::from_millis(args[3].parse().unwrap()) { size += order(n, args[1] == "new"); n += 1; std::thread::sleep(Duration::from_micros(200)); }
    drop(guard);
    println!("{n} orders, {size} bytes");
}
