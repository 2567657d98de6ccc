//! No instruction of vectors is called as a function: it then takes a tenfold, and no test of bits shows it.
//!
//! That happens where a kernel gives lanes to a closure or to `map`: what those compile to does not have the instruction set of
//! the kernel around them.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::process::Command;

#[test]
fn no_instruction_is_called_as_a_function() {
    let program = env!("CARGO_BIN_EXE_mmascope");
    let Ok(output) = Command::new("nm").args(["-C", program]).output() else {
        println!("skipped: no nm here");
        return;
    };
    let names = String::from_utf8_lossy(&output.stdout);
    if !names.contains("mmascope_gemm::cpu::") {
        println!("skipped: the program was made without symbols");
        return;
    }
    let called: Vec<&str> = names
        .lines()
        .filter(|line| line.contains("core_arch::") && line.contains("::_mm"))
        .collect();
    assert!(called.is_empty(), "{}", called.join("\n"));
}
