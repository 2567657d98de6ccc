//! Peak memory of `matmul`, with kernels and with schedules: at most three times operands and results.
//!
//! What the system counts for a process has pages, stacks and each thread's panels in it, so the products are
//! large here; the library's test of the same name counts allocations, of small ones too. Pages of the program's file
//! are left out: how many of them are there differs by a megabyte from run to run.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mmascope::array::write_npy;
use mmascope::format::Format;
use mmascope::gemm::Schedule;
use mmascope::isa::Catalogue;

/// The peak of the resident memory of a run, in bytes: of what it has allocated.
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
        let kilobytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        if let (Some(highest), Some(of_files)) = (kilobytes("VmHWM:"), kilobytes("RssFile:")) {
            peak = peak.max(highest.saturating_sub(of_files) * 1024);
        }
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{arguments:?}: {status}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ones and twos of a format, so that nothing is special.
fn write(folder: &Path, name: &str, shape: [usize; 2], format: &Format) {
    let float = format.float().expect("a float");
    let one = (float.bias as u64) << float.fraction_bits;
    let two = |at: usize| u64::from(at.is_multiple_of(3)) << float.fraction_bits;
    let words: Vec<u64> = (0..shape[0] * shape[1]).map(|at| one + two(at)).collect();
    let file = folder.join(name);
    let go = std::sync::atomic::AtomicBool::new(false);
    write_npy(file.to_str().expect("a name"), &shape, format, &words, &go).expect("written");
}

/// Products of a unit by some schedules, as large as given.
fn check(arch: &str, inst: &str, [m, n, k]: [usize; 3], schedules: &[String]) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let row = Catalogue::built_in().find(arch, inst);
    let unit = row.and_then(|row| row.unit()).expect("a row");
    let signature = unit.signature();
    let file = |name: &str, shape, format| write(folder, name, shape, format);
    let bytes = |words: usize, format: &Format| words * format.register.bits as usize / 8;
    file("a.npy", [m, k], &signature.a);
    file("b.npy", [k, n], &signature.b);
    file("one_a.npy", [64, 64], &signature.a);
    file("one_b.npy", [64, 64], &signature.b);
    let operands = bytes(m * k, &signature.a) + bytes(k * n, &signature.b);
    let mut scaling = 0;
    let mut scales = [Vec::new(), Vec::new()];
    if let Some(scale) = signature.scale {
        let blocks = k / scale.block;
        file("scale_a.npy", [m, blocks], &scale.format);
        file("scale_b.npy", [blocks, n], &scale.format);
        file("one_scale_a.npy", [64, 64 / scale.block], &scale.format);
        file("one_scale_b.npy", [64 / scale.block, 64], &scale.format);
        scaling = bytes(blocks * (m + n), &scale.format);
        let options = |a, b| vec!["--scale-a", a, "--scale-b", b];
        scales = [
            options("one_scale_a.npy", "one_scale_b.npy"),
            options("scale_a.npy", "scale_b.npy"),
        ];
    }
    let run = |names: [&str; 2], scales: &[&str], schedule: &str| {
        let common = [
            "--arch",
            arch,
            "--inst",
            inst,
            "-o",
            "d.npy",
            "--stats",
            "none",
            // (Each thread touches a stack of its own.)
            "--threads",
            "2",
        ];
        let operands = [names[0], names[1], "--schedule", schedule];
        peak(folder, &[&common[..], &operands, scales].concat())
    };
    let nothing = run(["one_a.npy", "one_b.npy"], &scales[0], "chain");
    for schedule in schedules {
        let used = run(["a.npy", "b.npy"], &scales[1], schedule).saturating_sub(nothing);
        let read: Schedule = schedule.parse().expect("a schedule");
        let all = operands + scaling + bytes(m * n, &read.format(unit));
        let ratio = used as f64 / all as f64;
        println!("{inst} {m} x {n} x {k} [{schedule}]: {used} bytes for {all}, {ratio:.2}");
        assert!(
            used <= 3 * all as u64,
            "{inst} {m} x {n} x {k} [{schedule}]: {used} bytes for {all}"
        );
        assert!(
            used >= all as u64,
            "measured too little: {used} bytes for {all}"
        );
    }
}

#[test]
fn at_most_three_times_operands_and_results() {
    for (arch, inst, outside) in [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", "f32"),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", "f32"),
        ("cdna3", "v_mfma_f32_32x32x8_f16", "f32"),
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", "f64"),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            "f32",
        ),
    ] {
        let schedules = [
            "chain".to_owned(),
            format!("split-k=4 reduce=pairwise/{outside}"),
            format!("promote=4/{outside}"),
            format!("stream-k=7 tile=256x128 reduce=ascending/{outside}"),
            format!("c=epilogue/{outside} alpha=2 beta=1"),
        ];
        check(arch, inst, [1280, 1280, 512], &schedules);
    }
}

/// Packed, these operands would take five times themselves.
#[test]
fn where_k_is_long() {
    for (arch, inst, size) in [
        ("hopper", "wgmma.m64n8k16.f32.f16.f16", 256),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3", 512),
    ] {
        let schedules = [
            "chain".to_owned(),
            "split-k=4 reduce=pairwise/f32".to_owned(),
            "promote=4/f32".to_owned(),
            "stream-k=7 tile=128x128 reduce=ascending/f32".to_owned(),
        ];
        check(arch, inst, [size, size, 8192], &schedules);
    }
}
