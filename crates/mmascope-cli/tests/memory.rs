//! Peak memory of `matmul`, with kernels and with schedules: at most three times operands and results.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mmascope::array::write_npy;
use mmascope::isa::Catalogue;

/// The peak of the resident memory of a run, in bytes.
fn peak(folder: &Path, arguments: &[&str]) -> u64 {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .arg("matmul")
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program runs");
    let file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let status = fs::read_to_string(&file).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{arguments:?}: {status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn at_most_three_times_operands_and_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let cases = [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", "f32"),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "f32"),
        ("cdna3", "v_mfma_f32_32x32x8_f16", "f32"),
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", "f64"),
    ];
    for (arch, inst, outside) in cases {
        let row = Catalogue::built_in().find(arch, inst);
        let signature = row.and_then(|row| row.unit()).expect("a row").signature();
        let write = |name: &str, shape: [usize; 2]| {
            // Ones and twos, so that nothing is special.
            let one = signature.a.float().expect("a float");
            let one = (one.bias as u64) << one.fraction_bits;
            let words = (0..shape[0] * shape[1]).map(|at| {
                let two = u64::from(at % 3 == 0) << signature.a.float().expect("one").fraction_bits;
                one + two
            });
            let words: Vec<u64> = words.collect();
            let file = folder.join(name);
            let go = std::sync::atomic::AtomicBool::new(false);
            let file = file.to_str().expect("a name");
            write_npy(file, &shape, &signature.a, &words, &go).expect("written");
        };
        let (m, n, k) = (1280, 1280, 512);
        write("a.npy", [m, k]);
        write("b.npy", [k, n]);
        write("one.npy", [64, 64]);
        let bytes = |bits: u32| bits as usize / 8;
        let operands = (m * k + k * n) * bytes(signature.a.register.bits);
        let all = (operands + m * n * bytes(signature.d.register.bits)) as u64;
        let run = |a: &str, b: &str, schedule: &str| {
            let common = [
                "--arch", arch, "--inst", inst, "-o", "d.npy", "--stats", "none",
            ];
            peak(
                folder,
                &[&common[..], &[a, b, "--schedule", schedule]].concat(),
            )
        };
        let nothing = run("one.npy", "one.npy", "chain");
        for schedule in [
            "chain".to_owned(),
            format!("split-k=4 reduce=pairwise/{outside}"),
            format!("promote=4/{outside}"),
            format!("stream-k=7 tile=256x128 reduce=ascending/{outside}"),
            format!("c=epilogue/{outside} alpha=2 beta=1"),
        ] {
            let used = run("a.npy", "b.npy", &schedule).saturating_sub(nothing);
            let ratio = used as f64 / all as f64;
            println!("{inst} [{schedule}]: {used} bytes for {all}, {ratio:.2}");
            assert!(
                used <= 3 * all,
                "{inst} [{schedule}]: {used} bytes for {all}"
            );
            assert!(used >= all, "measured too little: {used} bytes for {all}");
        }
    }
}
