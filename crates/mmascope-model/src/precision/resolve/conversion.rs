//! Conversions between the types of a function: `fpext` and `fptrunc`.

use super::select::{Lowering, ROUND_BF16};
use super::step::StepOperand;
use crate::format::{BF16, F16, F32, F64, Format};

/// The instruction that widens a bf16 where there is no conversion.
const WIDEN_BF16: &[&str] = &["shl.b32"];
/// The instructions that round an f64 to an f32 so that a second rounding to bf16 does no harm: to odd.
const ROUND_TO_ODD: &[&str] = &[
    "abs.f64",
    "cvt.rn.f32.f64",
    "cvt.f64.f32",
    "abs.f64",
    "setp.gt.f64",
    "selp.b32",
    "add.s32",
    "and.b32",
    "setp.ne.b32",
    "selp.b32",
    "setp.equ.f64",
    "selp.b32",
];
/// The same where f32 flushes.
const ROUND_TO_ODD_FLUSHING: &[&str] = &[
    "abs.f64",
    "cvt.rn.ftz.f32.f64",
    "cvt.ftz.f64.f32",
    "abs.f64",
    "setp.gt.f64",
    "selp.b32",
    "add.s32",
    "and.b32",
    "setp.ne.b32",
    "selp.b32",
    "setp.equ.f64",
    "selp.b32",
];
/// The instructions that round an f32 to bf16 where there is no conversion and f32 flushes.
const ROUND_BF16_FLUSHING: &[&str] = &[
    "bfe.u32",
    "add.s32",
    "add.s32",
    "setp.nan.ftz.f32",
    "or.b32",
    "selp.b32",
    "shr.u32",
];
/// The instructions that round an f64 that was rounded to odd to bf16 where there is no conversion.
const ROUND_BF16_OF_F64: &[&str] = &[
    "bfe.u32",
    "add.s32",
    "add.s32",
    "or.b32",
    "setp.nan.f64",
    "selp.b32",
    "shr.u32",
];

impl Lowering<'_> {
    /// One value in the type of the operation. `.ftz` is about f32, on whichever side it stands, and never stands beside f16
    /// results.
    pub(super) fn conversion(&mut self, from: &Format, args: &[StepOperand]) -> StepOperand {
        const RULE: &str = "operation/conversion";
        let to = self.format;
        let sm = self.context.target.sm;
        let flush = if self.function_flushes() { ".ftz" } else { "" };
        match (*from, to) {
            (F16 | BF16, F32) => self.widen(*from, args, RULE),
            (BF16, F64) if sm < 90 => {
                let wide = self.widen(*from, args, RULE);
                self.emit(&format!("cvt{flush}.f64.f32"), &[wide], RULE)
            }
            (F32, F64) => self.emit(&format!("cvt{flush}.f64.f32"), args, RULE),
            (F32, BF16) if sm < 80 => {
                let emulation = if flush.is_empty() {
                    ROUND_BF16
                } else {
                    ROUND_BF16_FLUSHING
                };
                self.emit_as("cvt.rn.bf16.f32", emulation, args, RULE)
            }
            (F64, F32) => self.emit(&format!("cvt.rn{flush}.f32.f64"), args, RULE),
            (F64, BF16) if sm < 90 => {
                let odd = if flush.is_empty() {
                    ROUND_TO_ODD
                } else {
                    ROUND_TO_ODD_FLUSHING
                };
                let last = if sm < 80 {
                    ROUND_BF16_OF_F64
                } else {
                    &["cvt.rn.bf16.f32"]
                };
                let emulation = [odd, last].concat();
                self.emit_as(&format!("cvt.rn{flush}.bf16.f64"), &emulation, args, RULE)
            }
            (F64 | F32, _) => self.emit(&format!("cvt.rn.{to}.{from}"), args, RULE),
            _ => self.emit(&format!("cvt.{to}.{from}"), args, RULE),
        }
    }

    /// A value of f16 or bf16 in f32.
    pub(super) fn widen(&mut self, from: Format, args: &[StepOperand], rule: &str) -> StepOperand {
        let flush = if self.function_flushes() { ".ftz" } else { "" };
        match from {
            BF16 if self.context.target.sm < 86 => {
                self.emit_as("cvt.f32.bf16", WIDEN_BF16, args, rule)
            }
            // cvt.ftz.f32.bf16 came with sm_90.
            BF16 if self.context.target.sm < 90 => self.emit("cvt.f32.bf16", args, rule),
            _ => self.emit(&format!("cvt{flush}.f32.{from}"), args, rule),
        }
    }
}
