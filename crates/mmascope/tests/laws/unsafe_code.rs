//! The law of unsafe code: the files that may have it, and the comment that must stand beside it.

use super::house::{code, sources, words};

/// Files and folders that may hold unsafe code, below `crates`. A folder ends in `/`.
const ALLOWED: [&str; 26] = [
    // Vector registers, and what is generic over them.
    "mmascope-gemm/src/cpu/lanes.rs",
    "mmascope-gemm/src/cpu/lanes/",
    "mmascope-gemm/src/cpu/kernels.rs",
    "mmascope-gemm/src/cpu/kernels/",
    // Entrances to instruction sets.
    "mmascope-gemm/src/cpu/enter.rs",
    "mmascope-gemm/src/cast.rs",
    "mmascope-gemm/src/cpu/fast.rs",
    "mmascope-gemm/src/random/avx2.rs",
    // Slices that tasks share, and memory.
    "mmascope-gemm/src/cpu/shared.rs",
    "mmascope-gemm/src/cpu/rows.rs",
    "mmascope-gemm/src/cpu/aligned.rs",
    "mmascope-gemm/src/memory.rs",
    "mmascope-host/src/memory.rs",
    // Memory of Python's arrays.
    "mmascope-python/src/array.rs",
    "mmascope-python/src/reveal.rs",
    // Foreign code.
    "mmascope-capi/src/",
    // Names of exported functions.
    "mmascope-wasm/src/lib.rs",
    "mmascope-host/src/dut/plugin.rs",
    "mmascope-host/src/reveal/blas.rs",
    "mmascope-host/src/reveal/blas/routine.rs",
    "mmascope-cuda/src/gpu.rs",
    "mmascope-cuda/src/nvrtc.rs",
    "mmascope-cuda/src/cublas.rs",
    "mmascope-cuda/src/cublas_lt.rs",
    "mmascope-cuda/src/on_device.rs",
    "mmascope-python/src/on_device.rs",
];

fn may_hold_unsafe(file: &str) -> bool {
    ALLOWED
        .iter()
        .any(|allowed| match allowed.strip_suffix('/') {
            Some(folder) => file
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/')),
            None => file == *allowed,
        })
}

/// What is wrong with a file, line by line.
fn faults(file: &str, text: &str) -> Vec<String> {
    let bare = code(text, false);
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in bare.lines().enumerate() {
        let mut fault = |what: &str| found.push(format!("{file}:{}: {what}", number + 1));
        if line.contains("allow(unsafe_code)") && !may_hold_unsafe(file) {
            fault("this file may not allow unsafe code");
        }
        if !words(line).any(|word| word == "unsafe") {
            continue;
        }
        if !may_hold_unsafe(file) {
            fault("`unsafe` outside the files that may hold it");
        }
        let is_function = line.contains("unsafe fn") || line.contains("unsafe extern");
        let is_trait = line.contains("unsafe trait");
        if is_function && !line.trim_start().starts_with("fn ") && !line.contains("unsafe {") {
            // What callers have to see to is documented at the function or, in `lanes`, at the trait.
            let in_lanes = file.contains("/cpu/lanes");
            let is_type = !line.contains("unsafe fn") || line.contains("= unsafe");
            // An implementation's contract is its trait's; a type of functions is none.
            let is_nested = has(&lines, number, "target_feature");
            if !(in_lanes || is_type || is_nested || has(&lines, number, "# Safety")) {
                fault("an unsafe function without `# Safety`");
            }
        } else if is_trait {
            if !has(&lines, number, "# Safety") {
                fault("an unsafe trait without `# Safety`");
            }
        } else if !has(&lines, number, "SAFETY:") && !line.contains("unsafe(") {
            fault("unsafe code without a `SAFETY:` comment right above it");
        }
    }
    found
}

/// The comments and attributes right above a line, nearest first, and above the lines that the same statement begins with.
fn above<'t>(lines: &[&'t str], number: usize) -> Vec<&'t str> {
    let mut in_attribute = false;
    let is_beside = |line: &&&str| {
        let line = line.trim_start();
        if line == ")]" {
            in_attribute = true;
        }
        let is_inside = in_attribute;
        if line.starts_with("#[") {
            in_attribute = false;
        }
        let continues = line.ends_with('=') || line.ends_with('(') || line.ends_with("=>");
        is_inside || line.starts_with("//") || line.starts_with("#[") || continues
    };
    let before = lines[..number].iter().rev();
    before.take_while(is_beside).copied().collect()
}

fn has(lines: &[&str], number: usize, what: &str) -> bool {
    above(lines, number).iter().any(|line| line.contains(what))
}

#[test]
fn unsafe_code_stands_where_it_may_and_says_why_it_is_sound() {
    let mut all = Vec::new();
    let mut holders: Vec<String> = Vec::new();
    for (path, text) in sources(&[".."]) {
        let path = path.display().to_string();
        let Some((_, file)) = path.split_once("/../") else {
            panic!("{path} is no path below the crates");
        };
        let is_source = file.contains("/src/") && !file.contains("/target/");
        if !is_source {
            continue;
        }
        if words(&code(&text, false)).any(|word| word == "unsafe") {
            holders.push(file.to_owned());
        }
        all.extend(faults(file, &text));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(holders.len() > 15, "{holders:?}");
    // The list has nothing that is not needed.
    for allowed in ALLOWED {
        let is_used = holders.iter().any(|file| file.starts_with(allowed));
        let declares = allowed.ends_with("kernels.rs");
        assert!(is_used || declares, "{allowed} holds no unsafe code");
    }
}

#[test]
fn the_search_for_unsafe_code_finds_it() {
    let allowed = "mmascope-gemm/src/cpu/enter.rs";
    let good = [
        "fn f() {\n    // SAFETY: it is there.\n    unsafe { g() }\n}",
        "fn f() {\n    // SAFETY: it is there,\n    // and so on.\n    #[cfg(x)]\n    let x = unsafe { g() };\n}",
        "/// # Safety\n/// The level.\n#[inline(always)]\nunsafe fn g() {}",
        "// unsafe { in a comment }\nconst X: &str = \"unsafe { in a text }\";",
    ];
    for text in good {
        assert_eq!(faults(allowed, text), Vec::<String>::new(), "{text}");
    }
    let bad = [
        "fn f() {\n    unsafe { g() }\n}",
        "fn f() {\n    // SAFETY: it is there.\n    h();\n    unsafe { g() }\n}",
        "// Not documented.\nunsafe fn g() {}",
        "unsafe impl Sync for X {}",
        "/// Of what?\nunsafe trait T {}",
    ];
    for text in bad {
        assert_eq!(faults(allowed, text).len(), 1, "{text}");
    }
    for (file, text) in [
        ("mmascope-gemm/src/cpu/block.rs", good[0]),
        ("mmascope-gemm/src/cpu/kernels2/x.rs", good[0]),
        ("mmascope-lab/src/lib.rs", "#![allow(unsafe_code)]"),
    ] {
        assert_eq!(faults(file, text).len(), 1, "{file}");
    }
}
