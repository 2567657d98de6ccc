//! The makers' compilers, where they are installed: device code becomes machine code.

use std::process::{Command, Output};

use mmascope::discriminate::runner;
use mmascope::isa::Catalogue;

use super::{different, other_shapes, whole_numbers};

const SCRIPT: &str = r#"
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
failed = 0
for file in sys.argv[1:]:
    target = os.path.basename(file).split("-")[0]
    program = ctypes.c_void_p()
    text = open(file, "rb").read()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"runner.cu", 0, None, None) == 0
    # To machine code: only then is the inline assembly read.
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=" + target.encode())
    status = nvrtc.nvrtcCompileProgram(program, 1, options)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    log = log.value.decode()
    name = os.path.basename(file)
    # The manual has this form; NVRTC 12.9 does not.
    newer = "mxf4nvf4.block16" in name and "ue8m0" in name and "Illegal modifier" in log
    if "gpu-architecture" in log or newer:
        print("skipped: this NVRTC does not know", name, log)
    elif status:
        print(file, log)
        failed = 1
print("assembled", len(sys.argv) - 1)
sys.exit(failed)
"#;

/// What the command printed; `None` where it is not installed.
fn run(command: &mut Command) -> Option<Output> {
    match command.output() {
        Ok(output) => Some(output),
        Err(error) => {
            println!("skipped: {command:?}: {error}");
            None
        }
    }
}

/// `MMASCOPE_NVRTC` may name the library (`libnvrtc.so` of any CUDA, or of the Python package).
#[test]
fn cuda_programs_are_assembled() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    // All of them are minutes: every seventh, and `MMASCOPE_NVRTC_STEP=1` for all.
    let step = std::env::var("MMASCOPE_NVRTC_STEP").ok();
    let step = step
        .and_then(|text| text.parse().ok())
        .unwrap_or(7_usize)
        .max(1);
    for (number, (architecture, row, text)) in
        different("cuda").into_iter().enumerate().step_by(step)
    {
        // The target by name where there is one, else the first of the architecture.
        let mut names = architecture
            .aliases
            .iter()
            .filter(|name| name.starts_with("sm_"));
        let own = text
            .split("code=")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let target = own.or(names.next().map(String::as_str)).expect("a target");
        let name = format!("{target}-{number}-{}.cu", row.name.replace(':', "_"));
        let file = folder.path().join(name);
        std::fs::write(&file, text).expect("written");
        files.push(file);
    }
    let Some(output) = run(Command::new("python3").arg("-c").arg(SCRIPT).args(&files)) else {
        return;
    };
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// One form of operands each: a file takes seconds. Debian: hipcc, libamdhip64-dev.
#[test]
fn hip_programs_compile() {
    let folder = tempfile::tempdir().expect("a folder");
    let (shipped, mine) = (Catalogue::built_in(), other_shapes());
    for (number, (catalogue, arch, inst, targets)) in [
        (shipped, "cdna2", "v_mfma_f64_16x16x4_f64", &["gfx90a"][..]),
        (shipped, "cdna1", "v_mfma_f32_32x32x2_2b_bf16", &["gfx908"]),
        (
            shipped,
            "cdna2",
            "v_mfma_f32_32x32x4_2b_bf16_1k",
            &["gfx90a"],
        ),
        // The compiler may be older than the chip's last revision.
        (
            shipped,
            "cdna3",
            "v_mfma_f32_16x16x8_xf32",
            &["gfx942", "gfx940"],
        ),
        (
            shipped,
            "cdna3",
            "v_mfma_f32_16x16x32_fp8_bf8",
            &["gfx942", "gfx940"],
        ),
        (&mine, "amd", "v_mfma_f64_4x4x4_4b_f64", &["gfx90a"]),
        (&mine, "amd", "v_mfma_f32_4x4x1_16b_f32", &["gfx90a"]),
        (&mine, "amd", "v_mfma_f32_16x16x4_4b_f16", &["gfx90a"]),
    ]
    .into_iter()
    .enumerate()
    {
        let architecture = catalogue.architecture(arch).expect("an architecture");
        let row = architecture.find(inst).expect("a row");
        let text = runner(architecture, row, &whole_numbers(row, 2), "hip").expect("a runner");
        let file = folder.path().join(format!("{number}.hip.cpp"));
        std::fs::write(&file, text).expect("written");
        let mut said = String::new();
        let compiled = targets.iter().any(|target| {
            let mut command = Command::new("hipcc");
            command
                .arg(format!("--offload-arch={target}"))
                .arg("-c")
                .arg(&file);
            let Some(output) = run(command.arg("-o").arg(folder.path().join("x.o"))) else {
                return true;
            };
            said += &String::from_utf8_lossy(&output.stderr);
            output.status.success()
        });
        assert!(compiled, "{arch} {inst}: {said}");
    }
}
