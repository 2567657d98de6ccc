//! Functions that touch a caller's memory, called from Rust with memory that is exactly as long as promised (all but the two
//! that read the catalogue, which takes miri too long):
//! `cargo xtask prove miri` runs this file in miri, which does not run C. The C tests in `tests/` say what the answers are.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use crate::cases::mmascope_case;
use crate::casting::{mmascope_cast, mmascope_cast_packed};
use crate::dot::{mmascope_dot, mmascope_dot_packed, mmascope_tile, mmascope_tile_packed};
use crate::failure::mmascope_last_error;
use crate::product::{mmascope_matmul, mmascope_matmul_words};
use crate::quantising::{mmascope_dequantize, mmascope_quantize};
use crate::tree::mmascope_tree;
use crate::unit::{
    mmascope_shape, mmascope_unit, mmascope_unit_free, mmascope_unit_parse, mmascope_unit_shape,
    mmascope_unit_text,
};

const ONE: u64 = 0x3c00;
const F32_ONE: u64 = 0x3f80_0000;
const F32_FIVE: u64 = 0x40a0_0000;

/// A handle that is freed at the end.
struct Handle(*mut mmascope_unit);

impl Handle {
    fn new() -> Self {
        let mut unit = null_mut();
        let (signature, program) = (
            c"a=f16 b=f16 c=f32 d=f32 k=4",
            c"t-fdpa L=4 F=24 e0=-133 -> rz f32",
        );
        // SAFETY: texts end with a NUL, `unit` is a place.
        let status =
            unsafe { mmascope_unit_parse(signature.as_ptr(), program.as_ptr(), &raw mut unit) };
        assert_eq!(status, 0, "{}", last_error());
        Self(unit)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: a handle, freed once.
        unsafe { mmascope_unit_free(self.0) };
    }
}

fn last_error() -> String {
    // SAFETY: the text stays until this thread's next error.
    let text = unsafe { CStr::from_ptr(mmascope_last_error()) };
    text.to_string_lossy().into_owned()
}

#[test]
fn units_are_made_asked_and_freed() {
    let unit = Handle::new();
    let mut shape = mmascope_shape {
        k: 0,
        scales: 1,
        block: 1,
        bytes_a: 0,
        bytes_b: 0,
        bytes_c: 0,
        bytes_d: 0,
    };
    // SAFETY: a handle and a place.
    assert_eq!(unsafe { mmascope_unit_shape(unit.0, &raw mut shape) }, 0);
    assert_eq!(
        (shape.k, shape.scales, shape.bytes_a, shape.bytes_d),
        (4, 0, 2, 4)
    );
    let mut needed = 0;
    // SAFETY: no buffer of no bytes; then one of as many as are needed, and one that is too short.
    unsafe {
        assert_eq!(
            mmascope_unit_text(unit.0, null_mut(), 0, &raw mut needed),
            0
        );
        let mut buffer = vec![1; needed];
        assert_eq!(
            mmascope_unit_text(unit.0, buffer.as_mut_ptr().cast(), needed, null_mut()),
            0
        );
        assert_eq!(buffer.last(), Some(&0_u8));
        let mut short = vec![1_u8; needed - 1];
        assert_eq!(
            mmascope_unit_text(unit.0, short.as_mut_ptr().cast(), needed - 1, null_mut()),
            2
        );
        assert!(short.iter().all(|&byte| byte == 1));
    }
}

#[test]
fn dot_products_and_tiles() {
    let unit = Handle::new();
    let (a, c) = (vec![ONE; 8], vec![F32_ONE; 2]);
    let mut d = vec![0; 2];
    // SAFETY: arrays of 2 × 4 and 2 words.
    let status = unsafe {
        mmascope_dot(
            unit.0,
            2,
            a.as_ptr(),
            a.as_ptr(),
            c.as_ptr(),
            null(),
            null(),
            d.as_mut_ptr(),
        )
    };
    assert_eq!((status, &d), (0, &vec![F32_FIVE; 2]), "{}", last_error());
    let mut d = vec![0; 1];
    // SAFETY: tiles of 1 × 4, 4 × 1 and 1 × 1 words.
    let status = unsafe {
        mmascope_tile(
            unit.0,
            1,
            1,
            a[..4].as_ptr(),
            a[..4].as_ptr(),
            c[..1].as_ptr(),
            null(),
            null(),
            d.as_mut_ptr(),
        )
    };
    assert_eq!((status, &d), (0, &vec![F32_FIVE]), "{}", last_error());
}

/// Packed elements at odd addresses, which C may give.
#[test]
fn packed_elements_at_any_address() {
    let unit = Handle::new();
    let odd = |elements: &[u8], count| [&[0xff][..], &elements.repeat(count)].concat();
    let (a, c) = (odd(&[0, 0x3c], 4), odd(&[0, 0, 0x80, 0x3f], 1));
    let place = |bytes: &[u8]| bytes[1..].as_ptr().cast::<c_void>();
    for tile in [false, true] {
        let mut d = [0_u8; 5];
        let to = d[1..].as_mut_ptr().cast();
        // SAFETY: 4 elements of 2 bytes, and 1 of 4 bytes, from the second byte on.
        let status = unsafe {
            match tile {
                false => mmascope_dot_packed(
                    unit.0,
                    1,
                    place(&a),
                    place(&a),
                    place(&c),
                    null(),
                    null(),
                    to,
                ),
                true => mmascope_tile_packed(
                    unit.0,
                    1,
                    1,
                    place(&a),
                    place(&a),
                    place(&c),
                    null(),
                    null(),
                    to,
                ),
            }
        };
        assert_eq!(
            (status, &d[..]),
            (0, &[0, 0, 0, 0xa0, 0x40][..]),
            "{}",
            last_error()
        );
    }
}

#[test]
fn matrix_products_on_two_threads() {
    let unit = Handle::new();
    let (a, b) = ([0_u8, 0x3c].repeat(3 * 8), [0_u8, 0x3c].repeat(8 * 2));
    let mut d = vec![0_u8; 3 * 2 * 4];
    // SAFETY: 3 × 8 and 8 × 2 elements of 2 bytes, 3 × 2 of 4 bytes; no c, no scales, no schedule.
    let status = unsafe {
        mmascope_matmul(
            unit.0,
            null(),
            0,
            3,
            2,
            8,
            a.as_ptr().cast(),
            b.as_ptr().cast(),
            null(),
            null(),
            null(),
            d.as_mut_ptr().cast(),
            2,
        )
    };
    assert_eq!(
        (status, d),
        (0, [0, 0, 0, 0x41].repeat(6)),
        "{}",
        last_error()
    );
    let (a, mut d) = (vec![ONE; 4], vec![0; 1]);
    // SAFETY: 1 × 4, 4 × 1 and 1 × 1 words.
    let status = unsafe {
        mmascope_matmul_words(
            unit.0,
            c"chain".as_ptr(),
            0,
            1,
            1,
            4,
            a.as_ptr(),
            a.as_ptr(),
            null(),
            null(),
            null(),
            d.as_mut_ptr(),
            1,
        )
    };
    assert_eq!((status, d), (0, vec![0x4080_0000]), "{}", last_error());
}

#[test]
fn casts_in_place_and_block_scaling() {
    let (from, to) = (c"f32".as_ptr(), c"e4m3".as_ptr());
    let mut words = vec![F32_ONE, F32_FIVE];
    let place = words.as_mut_ptr();
    // SAFETY: 2 words, read and written at one place.
    assert_eq!(
        unsafe { mmascope_cast(from, to, null(), 2, place, place) },
        0,
        "{}",
        last_error()
    );
    assert_eq!(words, [0x38, 0x4a]);
    let mut bytes = 1.0_f32.to_le_bytes();
    let place = bytes.as_mut_ptr().cast::<c_void>();
    // SAFETY: one element of 4 bytes, written in 1 at the same place.
    assert_eq!(
        unsafe { mmascope_cast_packed(from, to, null(), 1, place, place) },
        0,
        "{}",
        last_error()
    );
    assert_eq!(bytes[0], 0x38);

    let (values, mut codes, mut scales, mut scale) =
        (vec![3.0_f32; 32], vec![0; 32], vec![0; 1], 0.0);
    let mut back = vec![0.0; 32];
    // SAFETY: one row of 32 values and codes, one scale.
    unsafe {
        let format = c"mxfp8-e4m3".as_ptr();
        let made = mmascope_quantize(
            format,
            null(),
            1,
            32,
            1,
            values.as_ptr(),
            codes.as_mut_ptr(),
            scales.as_mut_ptr(),
            &raw mut scale,
        );
        assert_eq!(made, 0, "{}", last_error());
        let read = mmascope_dequantize(
            format,
            1,
            32,
            1,
            codes.as_ptr(),
            scales.as_ptr(),
            scale,
            back.as_mut_ptr(),
        );
        assert_eq!(read, 0, "{}", last_error());
    }
    assert_eq!(back, values);
}

#[test]
fn cases_and_trees() {
    let unit = Handle::new();
    let (mut a, mut b, mut c) = (vec![0; 4], vec![0; 4], 0);
    let mut needed = 0;
    // SAFETY: 4 words of a and b, one of c; a place for a number.
    unsafe {
        let made = mmascope_case(
            unit.0,
            c"normal".as_ptr(),
            1,
            0,
            a.as_mut_ptr(),
            b.as_mut_ptr(),
            &raw mut c,
            null_mut(),
            null_mut(),
        );
        assert_eq!(made, 0, "{}", last_error());
        assert_eq!(
            mmascope_tree(unit.0, null(), 4, null_mut(), 0, &raw mut needed),
            0,
            "{}",
            last_error()
        );
    }
    assert!(needed > 1 && a != b);
}

#[test]
fn null_and_misaligned_pointers_are_errors() {
    let unit = Handle::new();
    let (a, c, mut d) = (vec![ONE; 5], vec![F32_ONE], vec![7_u64; 1]);
    let misaligned = a.as_ptr().cast::<u8>().wrapping_add(1).cast::<u64>();
    for (pointer, said) in [(null(), "a is NULL"), (misaligned, "a is misaligned")] {
        // SAFETY: what is wrong is looked at before anything is read.
        let status = unsafe {
            mmascope_dot(
                unit.0,
                1,
                pointer,
                a.as_ptr(),
                c.as_ptr(),
                null(),
                null(),
                d.as_mut_ptr(),
            )
        };
        assert_eq!(status, 2);
        assert!(last_error().starts_with(said), "{}", last_error());
    }
    // SAFETY: the same.
    let status = unsafe {
        mmascope_dot(
            null(),
            1,
            a.as_ptr(),
            a.as_ptr(),
            c.as_ptr(),
            null(),
            null(),
            d.as_mut_ptr(),
        )
    };
    assert_eq!((status, d[0]), (2, 7));
}
