//! The text of the block of instructions that sums two rows: macros, each a piece of it, the whole last.
//!
//! zmm0 to 7 hold c, the sums and the results of four registers of columns for each row, zmm8 to 15 their exponents and scales, zmm16 to 23 what has
//! to be kept beside them; zmm24 and 25 the largest byte sums, zmm26 what is seen of the sums; zmm27 to 31 are free. `{k}` points to the constants.

/// One slot of both rows: two registers of columns at a time, stage by stage.
macro_rules! slot {
    ($k:literal) => {
        concat!(
            two_columns!(
                $k, 0, "zmm0", "zmm4", "zmm8", "zmm12", 1, "zmm1", "zmm5", "zmm9", "zmm13"
            ),
            two_columns!(
                $k, 2, "zmm2", "zmm6", "zmm10", "zmm14", 3, "zmm3", "zmm7", "zmm11", "zmm15"
            ),
            "vmovdqu32 zmm27, [{b_byte} + 64 * ",
            $k,
            "]\n",
            "vpbroadcastb zmm28, byte ptr [{a_byte} + ",
            $k,
            "]\n",
            "vpbroadcastb zmm29, byte ptr [{a2_byte} + ",
            $k,
            "]\n",
            "vpaddb zmm28, zmm28, zmm27\n",
            "vpaddb zmm29, zmm29, zmm27\n",
            "vpmaxub zmm24, zmm24, zmm28\n",
            "vpmaxub zmm25, zmm25, zmm29\n",
        )
    };
}

/// Columns v and w: the sums of both rows, then their scales.
macro_rules! two_columns {
    (
        $k:literal, $v:literal, $s0:literal, $t0:literal, $f0:literal, $g0:literal,
        $w:literal, $s1:literal, $t1:literal, $f1:literal, $g1:literal
    ) => {
        concat!(
            "vmovups zmm27, [{b} + 256 * ",
            $k,
            " + 64 * ",
            $v,
            "]\n",
            "vmulps zmm28, zmm27, dword ptr [{a} + 4 * ",
            $k,
            "]{{1to16}}\n",
            "vmulps zmm29, zmm27, dword ptr [{a2} + 4 * ",
            $k,
            "]{{1to16}}\n",
            "vmovups zmm27, [{b} + 256 * ",
            $k,
            " + 64 * ",
            $w,
            "]\n",
            "vmulps zmm30, zmm27, dword ptr [{a} + 4 * ",
            $k,
            "]{{1to16}}\n",
            "vmulps zmm31, zmm27, dword ptr [{a2} + 4 * ",
            $k,
            "]{{1to16}}\n",
            "vmulps zmm28, zmm28, ",
            $f0,
            "\n",
            "vmulps zmm29, zmm29, ",
            $g0,
            "\n",
            "vmulps zmm30, zmm30, ",
            $f1,
            "\n",
            "vmulps zmm31, zmm31, ",
            $g1,
            "\n",
            "vcvttps2dq zmm28, zmm28\n",
            "vcvttps2dq zmm29, zmm29\n",
            "vcvttps2dq zmm30, zmm30\n",
            "vcvttps2dq zmm31, zmm31\n",
            "vpaddd ",
            $s0,
            ", ",
            $s0,
            ", zmm28\n",
            "vpaddd ",
            $t0,
            ", ",
            $t0,
            ", zmm29\n",
            "vpaddd ",
            $s1,
            ", ",
            $s1,
            ", zmm30\n",
            "vpaddd ",
            $t1,
            ", ",
            $t1,
            ", zmm31\n",
        )
    };
}

/// As many slots as the constants say, four a turn, then one a turn.
macro_rules! slots {
    () => {
        concat!(
            "mov {n:e}, dword ptr [{k} + 20]\n",
            "sub {n}, 4\n",
            "jb 3f\n",
            ".p2align 4\n",
            "2:\n",
            slot!(0),
            slot!(1),
            slot!(2),
            slot!(3),
            on!(4),
            "sub {n}, 4\n",
            "jae 2b\n",
            "3:\n",
            "add {n}, 4\n",
            "je 5f\n",
            "4:\n",
            slot!(0),
            on!(1),
            "sub {n}, 1\n",
            "jne 4b\n",
            "5:\n",
        )
    };
}

/// So many slots on.
macro_rules! on {
    ($slots:literal) => {
        concat!(
            "add {a}, 4 * ",
            $slots,
            "\n",
            "add {a2}, 4 * ",
            $slots,
            "\n",
            "add {b}, 256 * ",
            $slots,
            "\n",
            "add {a_byte}, ",
            $slots,
            "\n",
            "add {a2_byte}, ",
            $slots,
            "\n",
            "add {b_byte}, 64 * ",
            $slots,
            "\n",
        )
    };
}

/// A piece of text for each register of columns of a row: its number, its sum, its scale, and a register that is free.
macro_rules! each {
    ($piece:ident, first) => {
        concat!(
            $piece!(0, "zmm0", "zmm8", "{a_scale}", "zmm16"),
            $piece!(1, "zmm1", "zmm9", "{a_scale}", "zmm17"),
            $piece!(2, "zmm2", "zmm10", "{a_scale}", "zmm18"),
            $piece!(3, "zmm3", "zmm11", "{a_scale}", "zmm19"),
        )
    };
    ($piece:ident, second) => {
        concat!(
            $piece!(0, "zmm4", "zmm12", "{a2_scale}", "zmm20"),
            $piece!(1, "zmm5", "zmm13", "{a2_scale}", "zmm21"),
            $piece!(2, "zmm6", "zmm14", "{a2_scale}", "zmm22"),
            $piece!(3, "zmm7", "zmm15", "{a2_scale}", "zmm23"),
        )
    };
    ($piece:ident, both) => {
        concat!(each!($piece, first), each!($piece, second))
    };
}

/// The fields of a row's largest byte sums, with other bits below them.
macro_rules! fields {
    ($found:literal, $e0:literal, $e1:literal, $e2:literal, $e3:literal) => {
        concat!(
            "vpaddb ",
            $found,
            ", ",
            $found,
            ", [{k} + 128]\n",
            "vpandd zmm30, ",
            $found,
            ", dword ptr [{k}]{{1to16}}\n",
            "vpandd zmm31, ",
            $found,
            ", dword ptr [{k} + 4]{{1to16}}\n",
            "vpslld ",
            $e0,
            ", zmm30, 23\n",
            "vpslld ",
            $e1,
            ", zmm31, 15\n",
            "vpslld ",
            $e2,
            ", zmm30, 7\n",
            "vpsrld ",
            $e3,
            ", zmm31, 1\n",
            "vmovdqa32 ",
            $found,
            ", [{k} + 64]\n",
        )
    };
}

/// The fields beside that of c (as magnitudes, which are in the order of their exponents).
macro_rules! beside_c {
    ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!("vrangeps ", $e, ", ", $e, ", ", $c, ", 11\n")
    };
}

/// The same where a subnormal c has the exponent of its field, and a zero none. c is kept.
macro_rules! beside_half {
    ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vptestmd k1, ",
            $c,
            ", dword ptr [{k} + 32]{{1to16}}\n",
            "vmovdqa32 ",
            $kept,
            ", ",
            $c,
            "\n",
            "vrangeps zmm30{{k1}}{{z}}, ",
            $c,
            ", dword ptr [{smallest}]{{1to16}}, 11\n",
            "vrangeps ",
            $e,
            ", ",
            $e,
            ", zmm30, 11\n",
        )
    };
}

/// Scales, and c on the grid.
macro_rules! scaled {
    ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vpandd ",
            $e,
            ", zmm29, ",
            $e,
            "\n",
            "vpsubd ",
            $e,
            ", zmm28, ",
            $e,
            "\n",
            "vmulps ",
            $c,
            ", ",
            $c,
            ", ",
            $e,
            "\n",
            "vcvttps2dq ",
            $c,
            ", ",
            $c,
            "\n",
        )
    };
}

/// Both pieces for both rows.
macro_rules! begin {
    () => {
        concat!(each!(beside_c, both), each!(scaled, both))
    };
    (half) => {
        concat!(each!(beside_half, both), each!(scaled, both))
    };
}

/// Both pieces where there are block scales.
macro_rules! beside_c_in_blocks {
    ($v:literal, $c:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vmovdqu32 zmm30, [{b_scale} + 64 * ",
            $v,
            "]\n",
            "vpaddd zmm30, zmm30, dword ptr [",
            $scale,
            "]{{1to16}}\n",
            "vpandd ",
            $e,
            ", zmm29, ",
            $e,
            "\n",
            "vpcmpeqd k1, ",
            $e,
            ", dword ptr [{k} + 24]{{1to16}}\n",
            "vpaddd ",
            $e,
            ", ",
            $e,
            ", zmm30\n",
            "vpbroadcastd ",
            $e,
            "{{k1}}, dword ptr [{k} + 28]\n",
            "vrangeps ",
            $e,
            ", ",
            $e,
            ", ",
            $c,
            ", 11\n",
            "vpandd ",
            $e,
            ", zmm29, ",
            $e,
            "\n",
            "vpsubd ",
            $e,
            ", zmm28, ",
            $e,
            "\n",
            "vmulps ",
            $c,
            ", ",
            $c,
            ", ",
            $e,
            "\n",
            "vcvttps2dq ",
            $c,
            ", ",
            $c,
            "\n",
            "vpaddd ",
            $e,
            ", ",
            $e,
            ", zmm30\n",
        )
    };
}

/// The first half's sums.
macro_rules! halves {
    () => {
        "vmovdqa32 zmm16, zmm0
        vmovdqa32 zmm17, zmm1
        vmovdqa32 zmm18, zmm2
        vmovdqa32 zmm19, zmm3
        vmovdqa32 zmm20, zmm4
        vmovdqa32 zmm21, zmm5
        vmovdqa32 zmm22, zmm6
        vmovdqa32 zmm23, zmm7
        "
    };
}

/// The sum has left i32 where its sign is neither half's: (x ≠ z and y ≠ z) is table 0x42.
macro_rules! left {
    ($sum:literal, $half:literal) => {
        concat!(
            "vpsubd zmm28, ",
            $sum,
            ", ",
            $half,
            "\n",
            "vpternlogd zmm28, ",
            $half,
            ", ",
            $sum,
            ", 0x42\n",
            "vpord zmm26, zmm26, zmm28\n",
        )
    };
}

/// Looks at the sums.
macro_rules! watch {
    (never) => {
        ""
    };
    (told) => {
        each!(magnitude, both)
    };
    (halves) => {
        concat!(
            left!("zmm0", "zmm16"),
            left!("zmm1", "zmm17"),
            left!("zmm2", "zmm18"),
            left!("zmm3", "zmm19"),
            left!("zmm4", "zmm20"),
            left!("zmm5", "zmm21"),
            left!("zmm6", "zmm22"),
            left!("zmm7", "zmm23"),
        )
    };
}

macro_rules! magnitude {
    ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vpabsd zmm28, ",
            $sum,
            "\n",
            "vpmaxub zmm26, zmm26, zmm28\n"
        )
    };
}

/// Results.
macro_rules! result {
    ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vcvtdq2ps ",
            $sum,
            ", ",
            $sum,
            ", {{rz-sae}}\n",
            "vpsubd ",
            $e,
            ", zmm27, ",
            $e,
            "\n",
            "vmulps ",
            $sum,
            ", ",
            $sum,
            ", ",
            $e,
            "\n",
        )
    };
}

/// f16 results. The sums go to f32 by way of odd numbers, so that the second rounding sees what the first lost. An infinite c stays.
macro_rules! half_result {
    ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vcvtdq2ps zmm30, ",
            $sum,
            ", {{rz-sae}}\n",
            "vcvttps2dq zmm31, zmm30\n",
            "vpcmpneqd k1, zmm31, ",
            $sum,
            "\n",
            "vpord zmm30{{k1}}, zmm30, dword ptr [{k} + 36]{{1to16}}\n",
            "vpsubd ",
            $e,
            ", zmm27, ",
            $e,
            "\n",
            "vmulps zmm30, zmm30, ",
            $e,
            "\n",
            "vcvtps2ph ymm30, zmm30, 0\n",
            "vcvtph2ps zmm30, ymm30\n",
            "vfpclassps k1, ",
            $kept,
            ", 24\n",
            "vaddps ",
            $sum,
            ", zmm30, dword ptr [{k} + 48]{{1to16}}\n",
            "vmovaps ",
            $sum,
            "{{k1}}, ",
            $kept,
            "\n",
        )
    };
}

macro_rules! result_in_blocks {
    ($v:literal, $sum:literal, $e:literal, $scale:literal, $kept:literal) => {
        concat!(
            "vmovdqu32 zmm30, [{b_scale} + 64 * ",
            $v,
            "]\n",
            "vpaddd zmm30, zmm30, dword ptr [",
            $scale,
            "]{{1to16}}\n",
            "vpsubd ",
            $e,
            ", ",
            $e,
            ", zmm30\n",
            result!($v, $sum, $e, $scale, $kept),
        )
    };
}

/// The slots of a group, and what is looked at in the sums.
macro_rules! sums {
    (halves) => {
        concat!(slots!(), halves!(), slots!(), watch!(halves))
    };
    ($watch:ident) => {
        concat!(slots!(), watch!($watch))
    };
}

/// All groups.
macro_rules! groups {
    ($begin:expr, $watch:ident, $result:ident, $on:literal) => {
        concat!(
            "6:\n",
            "vpbroadcastd zmm29, dword ptr [{k} + 8]\n",
            "vpbroadcastd zmm28, dword ptr [{k} + 12]\n",
            fields!("zmm24", "zmm8", "zmm9", "zmm10", "zmm11"),
            fields!("zmm25", "zmm12", "zmm13", "zmm14", "zmm15"),
            $begin,
            sums!($watch),
            "vpbroadcastd zmm27, dword ptr [{k} + 16]\n",
            each!($result, both),
            $on,
            "sub {groups}, 1\n",
            "jne 6b\n",
        )
    };
}
