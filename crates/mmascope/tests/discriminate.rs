//! Discriminating vectors separate what they say; runners hold every line.

use mmascope::discriminate::{discriminate, runner};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::isa::{Architecture, Catalogue, Instruction};

fn row(arch: &str, inst: &str) -> &'static Instruction {
    Catalogue::built_in().find(arch, inst).expect("a row")
}

/// Each neighbour built here from text, apart from the code that makes the vectors.
#[test]
fn neighbours_are_separated() {
    let row = row("hopper", "mma.m16n8k16.f32.bf16.bf16.f32");
    let unit = row.unit().expect("a unit");
    let vectors = discriminate(unit, 3).expect("vectors");
    println!(
        "{} lines separate {}; not separable: {:?}",
        vectors.lines.len(),
        vectors.separated,
        vectors.inseparable
    );
    assert!(vectors.lines.len() < 80, "{} lines", vectors.lines.len());
    for neighbour in [
        "t-fdpa L=16 F=24 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=26 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=15 F=25 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=8 F=25 e0=-133 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-132 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-134 -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 align=rd -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 align=rne -> rz f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 -> rne f32 nan=7fffffff",
        "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff zero=exact",
        "t-fdpa L=16 F=25 e0=-133 -> rz f32 nan=7fffffff overflow=sat",
        "t = t-fdpa L=16 F=25 e0=-133 from +0 -> rz f32 ; d = add c t -> rz f32",
        "fused L=16 F=25 e0=-133 flush-in=plus -> rz f32 nan=7fffffff zero=plus",
    ] {
        let other =
            Unit::new(row.signature, neighbour.parse().expect("a program")).expect("a unit");
        let differs = vectors.lines.iter().any(|line| {
            let word = other
                .dot(&line.case.operands(), &Modifiers::default())
                .expect("computes");
            word != line.d
        });
        assert!(differs, "{neighbour}");
    }
    for line in &vectors.lines {
        assert!(!line.separates.is_empty());
        assert_eq!(
            unit.dot(&line.case.operands(), &Modifiers::default()),
            Ok(line.d)
        );
    }
}

fn architecture(name: &str) -> &'static Architecture {
    let found = Catalogue::built_in().architecture(name);
    found.expect("an architecture")
}

#[test]
fn runners_hold_every_line() {
    for (arch, inst, language) in [
        ("hopper", "mma.m16n8k16.f32.f16.f16.f32", "cuda"),
        ("ampere", "mma.m16n8k8.f32.tf32.tf32.f32", "cuda"),
        ("ampere", "mma.m16n8k8.f16.f16.f16.f16", "cuda"),
        ("ada", "mma.m16n8k32.f32.e4m3.e5m2.f32", "cuda"),
        ("ampere", "mma.m8n8k4.f64.f64.f64.f64", "cuda"),
        ("hopper", "wgmma.m64n8k16.f32.bf16.bf16", "cuda"),
        ("hopper", "wgmma.m64n8k16.f16.f16.f16", "cuda"),
        ("hopper", "wgmma.m64n8k8.f32.tf32.tf32", "cuda"),
        ("hopper", "wgmma.m64n8k32.f32.e4m3.e5m2", "cuda"),
        (
            "rtx-blackwell",
            "mma.m16n8k32.kind::f8f6f4.f16.e2m1.e3m2.f16",
            "cuda",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.f32.ue8m0",
            "cuda",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3",
            "cuda",
        ),
        (
            "rtx-blackwell",
            "mma.m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0",
            "cuda",
        ),
        ("cdna2", "v_mfma_f32_16x16x16_bf16_1k", "hip"),
        ("cdna3", "v_mfma_f32_16x16x32_fp8_bf8", "hip"),
    ] {
        let row = row(arch, inst);
        let vectors = discriminate(row.unit().expect("a unit"), 1).expect("vectors");
        let text = runner(architecture(arch), row, &vectors, language).expect("a runner");
        assert_eq!(
            text.matches("ull, 0, \"").count() + text.matches("ull, 1, \"").count(),
            vectors.lines.len(),
            "{arch} {inst}"
        );
        assert_eq!(
            text.matches('{').count(),
            text.matches('}').count(),
            "{arch} {inst}"
        );
        // What only one architecture has is compiled for it.
        let own = inst.starts_with("wgmma") || inst.contains("kind::");
        assert_eq!(text.contains("-gencode arch=compute_"), own, "{inst}");
        if language == "cuda" {
            compiled(&text, arch, inst);
        } else {
            compiled_by_hipcc(&text, arch, inst);
        }
    }
    let wmma = row("ampere", "wmma.m16n16k16.f32.f16.f16.f32");
    let vectors = discriminate(wmma.unit().expect("a unit"), 1).expect("vectors");
    let error = runner(architecture("ampere"), wmma, &vectors, "cuda").expect_err("no runner");
    assert!(error.to_string().contains("runner"), "{error}");
}

/// Compiles device code with NVRTC where it is installed (`MMASCOPE_NVRTC` may name the library).
fn compiled(source: &str, arch: &str, inst: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runner.cu");
    std::fs::write(&file, source).expect("written");
    let script = r#"
import ctypes, glob, os, site, sys
paths = [os.environ.get("MMASCOPE_NVRTC"), "libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"]
for folder in site.getsitepackages() + [site.getusersitepackages()]:
    paths += glob.glob(folder + "/nvidia/*/lib/libnvrtc.so*")
for path in paths:
    try:
        nvrtc = ctypes.CDLL(path) if path else None
    except OSError:
        nvrtc = None
    if nvrtc: break
if not nvrtc:
    print("skipped: no NVRTC"); sys.exit(0)
program = ctypes.c_void_p()
text = open(sys.argv[1], "rb").read()
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"runner.cu", 0, None, None) == 0
# To machine code: only then is the inline assembly read.
options = (ctypes.c_char_p * 1)(b"--gpu-architecture=" + sys.argv[2].encode())
status = nvrtc.nvrtcCompileProgram(program, 1, options)
size = ctypes.c_size_t()
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
text = log.value.decode()
if "gpu-architecture" in text:
    print("skipped: this NVRTC does not know", sys.argv[2]); sys.exit(0)
print(text); sys.exit(status)
"#;
    let output = std::process::Command::new("python3")
        .arg("-c")
        .arg(script)
        .arg(&file)
        .arg(
            ["sm_120a", "sm_90a"]
                .into_iter()
                .find(|sm| source.contains(sm))
                .unwrap_or("sm_90"),
        )
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            println!("{arch} {inst}: {}", text.trim());
            assert!(
                output.status.success(),
                "{arch} {inst}: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Err(error) => println!("skipped: no python3 ({error})"),
    }
}

/// Compiles a HIP source for its chip where hipcc is installed (Debian: hipcc, libamdhip64-dev).
fn compiled_by_hipcc(source: &str, arch: &str, inst: &str) {
    let chip = match arch {
        "cdna1" => "gfx908",
        "cdna2" => "gfx90a",
        _ => "gfx940",
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("runner.hip.cpp");
    std::fs::write(&file, source).expect("written");
    let output = std::process::Command::new("hipcc")
        .arg(format!("--offload-arch={chip}"))
        .arg("-c")
        .arg(&file)
        .arg("-o")
        .arg(folder.path().join("runner.o"))
        .output();
    match output {
        Ok(output) => assert!(
            output.status.success(),
            "{arch} {inst}: {}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => println!("skipped: no hipcc ({error})"),
    }
}
