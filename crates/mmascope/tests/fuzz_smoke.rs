//! The fuzzers' entry functions under deterministic mutations of good inputs, about ten seconds.
//!
//! No call may panic, and none may take a second. `fuzz/` has the same under libFuzzer.

#[path = "../../../fuzz/entry.rs"]
#[allow(dead_code)] // the readers of arrays have a test of their own
mod entry;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    fn choose<'s, T: ?Sized>(&mut self, from: &[&'s T]) -> &'s T {
        from[self.below(from.len())]
    }
}

const TOKENS: &[&str] = &[
    "4294967295",
    "-9223372036854775808",
    "99999999999999999999999",
    "0",
    "-1",
    "4096",
    "256",
    "é",
    "\u{1f468}\u{200d}\u{1f469}",
    "\u{0}",
    "\u{202e}",
    "|",
    "=",
    "{",
    "}",
    "{shape}",
    "{a}",
    "{s}",
    "..",
    "m{1..4096/1}n{1..4096/1}k4096",
    " ; d = add c c -> rne f32",
    " over k%3=0,2",
    " over k=3,2,1,0",
    " from +0",
    " from c",
    "align=odd",
    "zero=ieee",
    "overflow=satfinite",
    "nan=any",
    " scale ue8m0/32",
    " scale ue4m3/16",
    "e5m2",
    "f64",
    "f32",
    "int8",
    "ue8m0",
    "mxint8",
    "bf16",
    "t-fdpa",
    "gst-fdpa",
    "ftz-addmul P=4",
    "gtr-fdpa L=3 F=64 F2=64",
    "e0=2000",
    "e0=-2000",
    "L=256",
    "F=64",
    "F2=1",
    "G=1",
    "\n",
    "\r\n",
    "arch x = y\n",
    "let z = f16 bf16 e4m3\n",
    "note n\n",
    "mods negA scaleD\n",
    "\"",
    "\\u0041",
    "\\ud800",
    "\"mods\":[\"negA\"],",
    "\"sa\":\"7f\",",
    "\"d\":\"nan\",",
    "\"id\":18446744073709551616,",
    "null",
    "[[[[",
    "]]]]",
    "1e999",
    "@ptxas12.4",
    "_2b",
    ".rz",
    ".sync.aligned",
    "32x32x4",
    "m16n8k16",
];

/// One change.
fn mutate(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = at + random.below(bytes.len() - at + 1).min(1 + random.below(64));
    match random.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = random.bits() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let part = bytes[at..end].to_vec();
            let most = if random.below(50) == 0 { 1000 } else { 4 };
            let times = 1 + random.below(most);
            bytes.splice(at..at, part.repeat(times));
        }
        5 => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len() + 1);
            bytes.truncate(at);
            bytes.extend(&other[from..]);
        }
        6 => {
            // A whole word becomes another token.
            let is_end = |b: &u8| b" |=\"\n:,{}".contains(b);
            let start = bytes[..at].iter().rposition(is_end).map_or(0, |i| i + 1);
            let stop = bytes[at..]
                .iter()
                .position(is_end)
                .map_or(bytes.len(), |i| at + i);
            bytes.splice(start..stop, random.choose(TOKENS).bytes());
        }
        _ => drop(bytes.splice(at..at, random.choose(TOKENS).bytes())),
    }
    bytes.truncate(1 << 16);
}

/// Runs `entry` on mutations of the seeds. Returns calls, and how much of it was good.
fn drive(
    seeds: &[Vec<u8>],
    pack: bool,
    time: Duration,
    entry: fn(&[u8]) -> usize,
) -> (usize, usize) {
    for seed in seeds {
        assert!(
            entry(seed) > 0,
            "a good seed: {}",
            String::from_utf8_lossy(seed)
        );
    }
    let mut random = Random(2026);
    let (start, mut calls, mut good) = (Instant::now(), 0, 0);
    while start.elapsed() < time {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, seeds, &mut random);
        }
        if pack && random.below(8) == 0 {
            bytes = gzip(&bytes);
            if random.below(2) == 0 {
                mutate(&mut bytes, seeds, &mut random);
            }
        }
        let call = || {
            let begin = Instant::now();
            let result = catch_unwind(AssertUnwindSafe(|| entry(&bytes)));
            let result = result.unwrap_or_else(|_| panic!("input: {}", bytes.escape_ascii()));
            (result, begin.elapsed())
        };
        let (mut result, mut took) = call();
        if took > Duration::from_secs(1) {
            (result, took) = call(); // Once more: the machine may have been busy.
        }
        assert!(
            took < Duration::from_secs(1),
            "{took:?}: {}",
            bytes.escape_ascii()
        );
        (calls, good) = (calls + 1, good + result);
    }
    println!("{calls} calls, {good} good lines or rows");
    (calls, good)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn vector_lines() {
    let line = |arch: &str, inst: &str, a: &str, b: &str, c: &str, more: &str| {
        format!(
            "{{\"arch\":\"{arch}\",\"inst\":\"{inst}\",\"a\":\"{a}\",\"b\":\"{b}\",\"c\":\"{c}\"{more}}}\n"
        )
    };
    let lines = [
        line(
            "volta",
            "mma.m8n8k4.f32.f16.f16.f32",
            "3c00f0003c007c00",
            "3c00b4003c000001",
            "4b000000",
            "",
        ),
        line(
            "V100",
            "mma.m8n8k4.f16.f16.f16.f16",
            "3c003c003c003c00",
            "3c003c003c003c00",
            "3c00",
            ",\"d\":\"4500\",\"id\":7",
        ),
        line(
            "sm_100",
            "tcgen05.mma.m128n8k8.kind::tf32.f32.tf32.tf32",
            &"3f8000017f800001".repeat(4),
            &"bf80000000000001".repeat(4),
            "ff7fffff",
            ",\"mods\":[\"negA\",\"noC\",\"scaleD=-3\"],\"note\":\"é\"",
        ),
        line(
            "sm_120",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            &"0123456789abcdef".repeat(4),
            &"fedcba9876543210".repeat(4),
            "00000001",
            ",\"sa\":\"00387f80\",\"sb\":\"38ff4001\"",
        ),
        line(
            "gfx942",
            "v_mfma_f32_16x16x32_fp8_bf8",
            &"7f80".repeat(16),
            &"0180".repeat(16),
            "7fc00000",
            "",
        ),
        line(
            "gfx90a",
            "v_mfma_f64_16x16x4f64",
            &"3ff0000000000001".repeat(4),
            &"0010000000000001".repeat(4),
            "7fefffffffffffff",
            "",
        ),
    ];
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|line| line.clone().into_bytes()).collect();
    seeds.push(lines.concat().into_bytes());
    seeds.push(gzip(lines.concat().as_bytes()));
    let (calls, good) = drive(&seeds, true, Duration::from_secs(5), entry::vector_lines);
    assert!(calls > 1000 && good > calls / 20, "{calls} {good}");
}

#[test]
fn catalogue() {
    let arithmetic = [
        "t-fdpa L=4 F=23 e0=-131 -> rz f32 nan=7fffffff",
        "e-fdpa L=2 -> rne f32 zero=ieee",
        "ftz-addmul P=4 flush-in=kept flush-out=plus -> rne f32",
        "tr-fdpa L=4 F=24 F2=31 -> rne f32",
        "gtr-fdpa L=8 F=24 F2=31 -> rne f32",
        "fma-chain -> ru f32",
        "t = t-fdpa L=16 F=25 e0=-133 over k%4=0,1 from +0 -> rz f32 ; u = e-fdpa L=3 over k%4=2,3 from t -> rz f32 ; d = add c u -> rne f32",
        "p = fma-chain over k=0,1 from product -> rne f16 ; q = fma-chain over k=2,3 from product -> rd f32 ; d = add p q -> rne f32",
    ];
    let block = |arithmetic: &str| {
        format!(
            "arch chip = alias\ntitle A chip\nlet s = f16 bf16\nx.{{shape}}.{{a}}.{{b}} | s x s + f32 -> f32 | m8n{{8..64/8}}k4\n  | {arithmetic} | hw L=open\n  mods negA noC\n  note a note\n"
        )
    };
    let mut seeds: Vec<Vec<u8>> = arithmetic
        .iter()
        .map(|text| block(text).into_bytes())
        .collect();
    let scaled = "arch mx\ny.{shape}.{a}.{s} | e2m1 x e5m2 + f32 -> f32 scale ue8m0/32, e2m1 x e4m3 + f32 -> f32 scale ue4m3/16 | m1n1k64\n  | gst-fdpa L=64 G=16 F=35 e0=-139 -> rz f32 | open\nz | e3m2 x e2m3 + f32 -> f16 scale ue8m0/32 | 4x4x32_2b | st-fdpa L=32 F=64 e0=-2000 align=ra -> rne f16 | open\n";
    seeds.push(scaled.as_bytes().to_vec());
    let shipped = include_str!("../../mmascope-model/isa/nvidia.txt");
    seeds.extend(
        shipped
            .split("\narch ")
            .skip(1)
            .take(3)
            .map(|text| format!("arch {text}").into_bytes()),
    );
    let (calls, good) = drive(&seeds, false, Duration::from_secs(5), entry::catalogue);
    assert!(calls > 500 && good > calls / 20, "{calls} {good}");
}
