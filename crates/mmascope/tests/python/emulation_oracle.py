"""Emulated precision in NumPy, scheme by scheme, written from the descriptions that docs/emulation.md names.

    emulation_oracle.py FOLDER M N K

Reads FOLDER/a32, b32 (float32, M x K and K x N), a64, b64 (float64), a8, b8 (bytes of e4m3), c32 and c64. Writes for each
scheme FOLDER/SCHEME.d. Nothing here reads a schedule: every function is one scheme, split by NumPy's own conversions
or by integers, summed in exact integers, in IEEE float32 and float64, or in a truncated sum of float64 integers.
"""

import pathlib
import sys
from fractions import Fraction

import numpy as np

F32, F64 = np.float32, np.float64


# Splits of float32.


def bf16_cut(x):
    """Toward zero, by the bits."""
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(F32)


def bf16(x):
    """To nearest even, by the bits."""
    bits = x.view(np.uint32)
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & 0xFFFF0000).astype(np.uint32).view(F32)


def tf32_away(x):
    """To nearest, ties away from zero."""
    bits = x.view(np.uint32) + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(F32)


def half(x):
    return x.astype(np.float16).astype(F32)


def parts(x, count, narrow, gain=1):
    """``narrow`` makes every part, or is a list with what makes each."""
    found = []
    for number in range(count):
        part = (narrow[number] if isinstance(narrow, list) else narrow)(x)
        found.append(part)
        x = (x - part) * F32(gain)
    return found


# Units.


def fused(product, c):
    """float32 of product + c, rounded once: product is exact in float64."""
    c = c.astype(F64)
    total = product + c
    # Knuth's error of the sum; an inexact sum is made odd, so that the second rounding sees what was lost.
    virtual = total - product
    error = (product - (total - virtual)) + (c - virtual)
    bits = total.view(np.int64)
    even = (bits & 1) == 0
    toward = np.where((error > 0) == (total > 0), 1, -1)
    moved = np.where((error != 0) & even, bits + toward, bits)
    # A sum that was even lies between its odd neighbours: the one on the error's side.
    return moved.view(F64).astype(F32)


def fma_chain(a, b, c):
    for k in range(a.shape[1]):
        c = fused(a[:, k : k + 1].astype(F64) * b[k : k + 1, :].astype(F64), c)
    return c


def exponents(x):
    """floor(log2 |x|), very low for zeros."""
    _, exponent = np.frexp(x)
    return np.where(x == 0, -(1 << 20), exponent.astype(np.int64) - 1)


def truncated_sum(a, b, c, length, fraction, floor, kept=23):
    """Blocks of `length` products and c, aligned to the largest exponent, cut at `fraction` bits, summed, cut at `kept`."""
    for first in range(0, a.shape[1], length):
        x = a[:, first : first + length].astype(F64)
        y = b[first : first + length, :].astype(F64)
        products = x[:, :, None] * y[None, :, :]
        # An exponent of a product is the sum of its factors' exponents.
        of_products = exponents(x)[:, :, None] + exponents(y)[None, :, :]
        wide = c.astype(F64)
        top = np.maximum(of_products.max(axis=1), exponents(wide))
        top = np.maximum(top, floor)
        unit = fraction - top
        total = np.trunc(np.ldexp(products, unit[:, None, :])).sum(axis=1)
        total = total + np.trunc(np.ldexp(wide, unit))
        # Cut to `kept` fraction bits of its own exponent, not below the smallest normal number.
        value = np.ldexp(total, -unit)
        last = np.maximum(exponents(value), -126) - kept
        value = np.ldexp(np.trunc(np.ldexp(value, -last)), last)
        # A sum that vanishes is +0.
        c = (value + 0.0).astype(F32)
    return c


def ampere_tf32(a, b, c):
    return truncated_sum(a, b, c, 4, 24, -132)


def ampere_half(a, b, c):
    return truncated_sum(a, b, c, 8, 24, -132)


def hopper_bf16(a, b, c):
    return truncated_sum(a, b, c, 16, 25, -133)


def hopper_e4m3(a, b, c):
    return truncated_sum(a, b, c, 32, 13, -133, kept=13)


def zeros(a, b):
    return np.zeros((a.shape[0], b.shape[1]), F32)


# Schemes.


def passes(count, pairs):
    """Each product over all of K in the unit, one after the other, from C on."""

    def scheme(given):
        a = parts(given["a32"], count, bf16)
        b = parts(given["b32"], count, bf16)
        c = given["c32"]
        for p, q in pairs:
            c = fma_chain(a[p], b[q], c)
        return c

    return scheme


def in_the_unit(count, order, narrow=bf16):
    """Products of parts in this order for each instruction, in one accumulator of Hopper's unit."""

    def scheme(given):
        a = parts(given["a32"], count, narrow)
        b = parts(given["b32"], count, narrow)
        c = given["c32"]
        for first in range(0, a[0].shape[1], 16):
            ks = slice(first, first + 16)
            for p, q in order:
                c = hopper_bf16(a[p][:, ks], b[q][ks], c)
        return c

    return scheme


# The order of Triton's pass; shorter schemes leave the first products out.
NINE = [(2, 2), (1, 2), (2, 1), (1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)]


def scaled_levels(count):
    """Levels with sums of their own, scaled by 2^8 a level, added in float32 from the smallest on; then C."""

    def scheme(given):
        a = parts(given["a32"], 3, bf16, gain=256)
        b = parts(given["b32"], 3, bf16, gain=256)
        total = None
        for level in range(count - 1, -1, -1):
            pairs = [(p, level - p) for p in range(2, -1, -1) if 0 <= level - p <= 2]
            c = zeros(a[0], b[0])
            for first in range(0, a[0].shape[1], 16):
                ks = slice(first, first + 16)
                for p, q in pairs:
                    c = hopper_bf16(a[p][:, ks], b[q][ks], c)
            c = c * F32(2.0 ** (-8 * level))
            total = c if total is None else total + c
        return total + given["c32"]

    return scheme


def three_tf32(given):
    """Small x big, big x small, big x big for each instruction, in one accumulator."""
    big_a, small_a = parts(given["a32"], 2, tf32_away)
    big_b, small_b = parts(given["b32"], 2, tf32_away)
    c = given["c32"]
    for first in range(0, big_a.shape[1], 8):
        ks = slice(first, first + 8)
        for a, b in ((small_a, big_b), (big_a, small_b), (big_a, big_b)):
            c = ampere_tf32(a[:, ks], b[ks], c)
    return c


def fp16_corrected(given):
    """Ootomo and Yokota: corrections times 2^11 in the unit, main products added outside it in float32."""
    a, small_a = parts(given["a32"], 2, half, gain=2048)
    b, small_b = parts(given["b32"], 2, half, gain=2048)
    corrections, total = zeros(a, b), zeros(a, b)
    for first in range(0, a.shape[1], 8):
        ks = slice(first, first + 8)
        corrections = ampere_half(small_a[:, ks], b[ks], corrections)
        corrections = ampere_half(a[:, ks], small_b[ks], corrections)
        total = total + ampere_half(a[:, ks], b[ks], zeros(a, b))
    return corrections / F32(2048) + total


def aligned(x, axis, extra):
    """x as integers below 2^53 relative to the largest of its line, the exponent of the line, and the bits below."""
    top = exponents(np.abs(x).max(axis=axis, keepdims=True)) + 1 + extra
    return top


def slices_truncated(x, axis, count, bits):
    top = aligned(x, axis, 0)
    rest = np.ldexp(x, -top)
    found = []
    for _ in range(count):
        rest = np.ldexp(rest, bits)
        part = np.trunc(rest)
        rest = rest - part
        found.append(part.astype(np.int64))
    return found, top


def slices_nearest(x, axis, count, bits):
    top = aligned(x, axis, 1)
    rest = np.ldexp(x, -top)
    found = []
    for _ in range(count):
        rest = np.ldexp(rest, bits)
        part = np.rint(rest)
        rest = rest - part
        found.append(part.astype(np.int64))
    return found, top


def ozaki_levels(given):
    """Scheme I, 8 slices of 7 bits: products of one level are one integer sum; levels are added in float64."""
    a, of_a = slices_truncated(given["a64"], 1, 8, 7)
    b, of_b = slices_truncated(given["b64"], 0, 8, 7)
    total = None
    for level in range(7, -1, -1):
        whole = sum(a[p] @ b[level - p] for p in range(level, -1, -1))
        term = np.ldexp(whole.astype(F64), of_a + of_b - 7 * (level + 2))
        total = term if total is None else total + term
    return total + given["c64"]


def ozaki_pairs(given):
    """Scheme I, 6 slices to nearest: each product is converted and added on its own."""
    a, of_a = slices_nearest(given["a64"], 1, 6, 7)
    b, of_b = slices_nearest(given["b64"], 0, 6, 7)
    total = None
    for level in range(5, -1, -1):
        for p in range(level, -1, -1):
            whole = a[p] @ b[level - p]
            term = np.ldexp(whole.astype(F64), of_a + of_b - 7 * (level + 2))
            total = term if total is None else total + term
    return total


MODULI = (256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199)


def ozaki_residues(given):
    """Scheme II: integers of 50 bits, residues, the remainder theorem, one rounding."""
    a, b, bits = given["a64"], given["b64"], 50
    of_a, of_b = aligned(a, 1, 0), aligned(b, 0, 0)
    whole_a = np.trunc(np.ldexp(a, bits - of_a)).astype(np.int64)
    whole_b = np.trunc(np.ldexp(b, bits - of_b)).astype(np.int64)
    product = 1
    for modulus in MODULI:
        product *= modulus
    number = np.zeros((a.shape[0], b.shape[1]), object)
    for modulus in MODULI:
        residue = ((whole_a % modulus) @ (whole_b % modulus)) % modulus
        rest = product // modulus
        weight = rest * pow(rest, -1, modulus)
        number = (number + residue.astype(object) * weight) % product
    out = np.empty(number.shape, F64)
    for place, value in np.ndenumerate(number):
        if 2 * value >= product:
            value -= product
        scale = int(of_a[place[0], 0] + of_b[0, place[1]]) - 2 * bits
        out[place] = float(Fraction(value) * Fraction(2) ** scale)
    return out


def e4m3(codes):
    codes = codes.astype(np.int64)
    field, fraction = codes >> 3 & 15, codes & 7
    magnitude = np.where(field > 0, np.ldexp(8.0 + fraction, field - 10), np.ldexp(0.0 + fraction, -9))
    return np.where(codes >> 7, -magnitude, magnitude)


def fp8_promoted(given):
    """Sums of two instructions of the narrow unit, added in float32."""
    a, b = e4m3(given["a8"]), e4m3(given["b8"])
    total = zeros(a, b)
    for first in range(0, a.shape[1], 64):
        ks = slice(first, first + 64)
        total = total + hopper_e4m3(a[:, ks], b[ks], zeros(a, b))
    return total


SCHEMES = {
    "pass1": passes(1, [(0, 0)]),
    "pass3": passes(2, [(1, 0), (0, 1), (0, 0)]),
    "pass6": passes(3, [(1, 1), (2, 0), (0, 2), (1, 0), (0, 1), (0, 0)]),
    "bf16x3": in_the_unit(2, NINE[6:]),
    "bf16x3-cut": in_the_unit(2, NINE[6:], [bf16_cut, bf16]),
    "bf16x6": in_the_unit(3, NINE[3:]),
    "bf16x9": in_the_unit(3, NINE),
    "bf16-levels3": scaled_levels(3),
    "bf16-levels5": scaled_levels(5),
    "3xtf32": three_tf32,
    "fp16": fp16_corrected,
    "ozaki-levels": ozaki_levels,
    "ozaki-pairs": ozaki_pairs,
    "ozaki-residues": ozaki_residues,
    "fp8": fp8_promoted,
}


def main():
    folder = pathlib.Path(sys.argv[1])
    m, n, k = (int(length) for length in sys.argv[2:5])
    shapes = {"a": (m, k), "b": (k, n), "c": (m, n)}
    types = {"32": F32, "64": F64, "8": np.uint8}
    given = {}
    for side, shape in shapes.items():
        for width, kind in types.items():
            if (side, width) != ("c", "8"):
                given[side + width] = np.fromfile(folder / (side + width), kind).reshape(shape)
    for name, scheme in SCHEMES.items():
        scheme(given).tofile(folder / f"{name}.d")


main()
