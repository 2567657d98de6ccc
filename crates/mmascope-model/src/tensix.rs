//! A machine with state of its own: Tensix cores, their unpackers, matrix unit, Dst, vector unit and packers.
//!
//! One output element of the matrix unit is a `gr-fdpa` of the catalogue and one lane of the vector unit a
//! `semi-fma`; this room adds what stands around them: the formats of memory and how unpackers read them,
//! the two source registers of 19 bits, Dst with 16 or 32 bits a datum, tile operations in their order,
//! packers, accumulation in memory, and the sticky status register. Everything that differs between the
//! chips comes from the catalogue ([`Machine::of`]); nothing here names one.
//!
//! Sections cited are those of `tensix.md`, the specification, which restates the vendor's simulator
//! (ttsim v1.10.0) and documentation. The model is bit-exact to that simulator, not to silicon.

mod accumulate;
mod block;
mod core;
mod dst;
mod flags;
mod fpu;
mod integer;
mod machine;
mod pack;
mod sfpu;
mod source;
mod tile;
mod unpack;

pub use self::core::{Core, CoreSetting};
pub use accumulate::{accumulate_bf16, accumulate_f16, accumulate_f32};
pub use block::{Block, TensixBlockFormat};
pub use dst::Dst;
pub use flags::{Flag, STICKY_ADDRESS, STICKY_NAME, StickyFlags};
pub use fpu::{Fpu, pool_maximum};
pub use integer::{Integer, integer_add, integer_mvmul};
pub use machine::{Fidelity, Machine, Phase, TensixElement};
pub use pack::{
    Early, Relu, RoundedBlock, dst_32_to_int16, f16_to_bf16, f16_to_e4m3, f16_to_f32, f32_to_f16,
    f32_to_rounded, int32_to_int8, int32_to_uint8, pack_block,
};
pub use sfpu::{
    Constant, Integers, Narrow, Stored, TensixRandomBits, absolute, absolute_reciprocal,
    add_immediate, add_integers, cast_to_f32, compare_order, divide_by_power, load,
    load_immediate_f16, lut_coefficient, lut16_coefficient, round_to_integer, round_to_narrow,
    store,
};
pub use source::{SourceFormat, Width};
pub use tile::{TILE, Tile};
pub use unpack::{
    Memory, bfp_to_source, e4m3_to_f16, e5m2_to_f16, f32_to_bf16, int8_to_source, unpack,
};
