//! Loops and products are found in short listings, one for each instruction set.

use super::disassembly::{self, Instruction, Set};
use super::{loops, processors, sources};

/// Two loops in one, a call, another function: as llvm-objdump prints them.
const X86: &str = "
target/program:\tfile format elf64-x86-64

0000000000001000 <other::function>:
    1000:      \tjne\t0x1000 <other::function>

0000000000002000 <mmascope_gemm::cpu::enter::enter>:
    2000:      \txorl\t%eax, %eax
    2002:      \tvmovups\t(%rdi), %ymm0
    2008:      \tvbroadcastss\t(%rsi), %ymm1
    200c:      \tvmulps\t%ymm1, %ymm4, %ymm1
    2010:      \tvmulps\t0x20(%rdi), %ymm1, %ymm2  # 0x8000
    2018:      \tvcvttps2dq\t%ymm2, %ymm2
    2020:      \tvpaddd\t%ymm2, %ymm0, %ymm0
    2028:      \tjne\t0x2008 <mmascope_gemm::cpu::enter::enter+0x8>
    2030:      \tvcvtdq2ps\t%ymm0, %ymm0
    2038:      \tvmulps\t%ymm0, %ymm3, %ymm3
    2040:      \tjae\t0x2038 <mmascope_gemm::cpu::enter::enter+0x38>
    2048:      \tvmovups\t%ymm0, (%rdx)
    2050:      \tjmp\t0x2002 <mmascope_gemm::cpu::enter::enter+0x2>
    2058:      \tvmulps\t%ymm0, %ymm1, %ymm1
    2060:      \tcallq\t0x1000 <other::function>
    2068:      \tjb\t0x2058 <mmascope_gemm::cpu::enter::enter+0x58>
    2070:      \tjmp\t0x2078 <mmascope_gemm::cpu::enter::enter+0x78>
    2078:      \tjmpq\t*%rax
    2080:      \tretq
";

const AARCH64: &str = "
target/program:\tfile format elf64-littleaarch64

0000000000002000 <mmascope_gemm::cpu::enter::enter>:
    2000:      \tmov\tx8, #0x4                // =4
    2004:      \tldr\tq0, [x0], #0x10
    2008:      \tfmul\tv1.4s, v0.4s, v2.s[0]
    200c:      \tfmul\tv1.4s, v1.4s, v3.4s
    2010:      \tfcvtzs\tv1.4s, v1.4s
    2014:      \tadd\tv4.4s, v4.4s, v1.4s
    2018:      \tfcvtzs\tw9, s9
    201c:      \tcbnz\tx8, 0x2004 <mmascope_gemm::cpu::enter::enter+0x4>
    2020:      \tfmla\tv5.2d, v6.2d, v7.2d
    2024:      \tfmla\tv5.2d, v6.2d, v8.2d
    2028:      \tb.ne\t0x2020 <mmascope_gemm::cpu::enter::enter+0x20>
    202c:      \ttbnz\tw9, #0x1f, 0x2000 <mmascope_gemm::cpu::enter::enter>
    2030:      \tfmul\tv1.4s, v0.4s, v2.4s
    2034:      \tbl\t0x1000 <other::function>
    2038:      \tb\t0x2030 <mmascope_gemm::cpu::enter::enter+0x30>
    203c:      \tret
";

fn function(listing: &str) -> (Set, Vec<Instruction>) {
    let lines = listing.lines().map(str::to_owned);
    let (set, mut functions) = disassembly::functions(lines).expect("an instruction set");
    assert_eq!(functions.len(), 1, "functions of kernels");
    (set, functions.remove(0))
}

/// Of each innermost loop: its first and last address, how many instructions stand around it, registers and products.
type Found = (u64, u64, Option<usize>, Option<(&'static str, usize)>);

fn found(listing: &str) -> Vec<Found> {
    let (set, function) = function(listing);
    let mut found: Vec<Found> = loops::innermost(set, &function)
        .into_iter()
        .map(|it| {
            let body: Vec<&Instruction> = function[it.body].iter().collect();
            let work = loops::work(set, &body).map(|work| (work.registers, work.products));
            let ends = (body[0].address, body[body.len() - 1].address);
            (ends.0, ends.1, it.around.map(|around| around.len()), work)
        })
        .collect();
    found.sort_by_key(|it| it.0);
    found
}

#[test]
fn loops_of_x86() {
    assert_eq!(
        found(X86),
        [
            // A converted product counts once, by its conversion. Around both: four instructions of neither.
            (0x2008, 0x2028, Some(4), Some(("ymm", 8))),
            (0x2038, 0x2040, Some(4), Some(("ymm", 8))),
            (0x2058, 0x2068, None, None),
        ]
    );
}

#[test]
fn loops_of_aarch64() {
    assert_eq!(
        found(AARCH64),
        [
            // The conversion of one f32 in a scalar register is none of a product.
            (0x2004, 0x201c, Some(2), Some(("NEON", 4))),
            (0x2020, 0x2028, Some(2), Some(("NEON", 4))),
            (0x2030, 0x2038, None, None),
        ]
    );
}

#[test]
fn products_by_kind() {
    for (set, text, expected) in [
        (Set::X86, "vfmadd231pd\t(%rax), %zmm1, %zmm2", ("zmm", 8)),
        (Set::X86, "vfmadd231ps\t%ymm0, %ymm1, %ymm2", ("ymm", 8)),
        (Set::X86, "vpdpbusd\t%zmm0, %zmm1, %zmm2", ("zmm", 64)),
        (Set::X86, "vpmaddwd\t%ymm0, %ymm1, %ymm2", ("ymm", 16)),
        (Set::Aarch64, "mul\tv0.8h, v1.8h, v2.8h", ("NEON", 8)),
        (Set::Aarch64, "smlal2\tv0.4s, v1.8h, v2.8h", ("NEON", 4)),
        (Set::Aarch64, "mla\tv0.4s, v1.4s, v2.4s", ("NEON", 4)),
    ] {
        let text = text.to_owned();
        let instruction = Instruction { address: 0, text };
        let work = loops::work(set, &[&instruction]).expect(&instruction.text);
        assert_eq!(
            (work.registers, work.products),
            expected,
            "{}",
            instruction.text
        );
    }
}

#[test]
fn remarks_are_no_operands() {
    let texts = |listing| function(listing).1.into_iter().map(|it| it.text);
    let x86: Vec<String> = texts(X86).collect();
    assert!(x86.contains(&"vmulps\t0x20(%rdi), %ymm1, %ymm2".to_owned()));
    let aarch64: Vec<String> = texts(AARCH64).collect();
    assert!(aarch64.contains(&"mov\tx8, #0x4".to_owned()));
}

#[test]
fn a_loop_has_the_name_of_the_kernel_that_most_of_it_comes_from() {
    let lanes = "lanes::mul::h0123456789abcdef\n/src/cpu/lanes/avx2.rs:12:3\n";
    let answer = |place: &str| format!("{lanes}<fused::Sum<T> as Kernel>::run<V>\n{place}\n");
    let answers = [
        answer("/src/cpu/kernels/fused.rs:40:9"),
        answer("/src/cpu/kernels/fused.rs:0:9"),
        answer("/src/cpu/kernels/fused.rs:31:9"),
        answer("/src/cpu/kernels/late.rs:7:1"),
        lanes.to_owned(),
    ];
    let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
    let name = sources::name(&answers);
    assert_eq!(name.as_deref(), Some("fused.rs:31 run"));
    // Loops of the lanes alone have theirs.
    let name = sources::name(&answers[4..]);
    assert_eq!(name.as_deref(), Some("lanes/avx2.rs:12 mul"));
    // Those of the portable lanes are of no interest.
    let portable = "mul\n/src/cpu/lanes/portable.rs:5:1\n";
    assert_eq!(sources::name(&[answers[0], portable]), None);
    assert_eq!(sources::name(&["pack\n/src/cpu/pack.rs:3:1\n"]), None);
}

#[test]
fn conversions_of_results_are_no_products() {
    let body = ["vmulps\t%ymm0, %ymm1, %ymm2", "vcvttps2dq\t%ymm2, %ymm2"];
    let body = body.map(|text| Instruction {
        address: 0,
        text: text.to_owned(),
    });
    let body: Vec<&Instruction> = body.iter().collect();
    assert_eq!(loops::work(Set::X86, &body), None);
}

#[test]
fn half_of_an_instruction() {
    for (text, half) in [
        (
            "vfmadd231pd\t{rd-sae}, %zmm1, %zmm2, %zmm3",
            "vfmadd231pd\t%ymm1, %ymm2, %ymm3",
        ),
        (
            "vmulps\t(%rax){1to16}, %zmm1, %zmm2",
            "vmulps\t(%rax){1to8}, %ymm1, %ymm2",
        ),
        (
            "vextractf64x4\t$0x1, %zmm1, %ymm2",
            "vextractf64x2\t$0x1, %ymm1, %xmm2",
        ),
    ] {
        assert_eq!(processors::narrow(text), half);
    }
}
