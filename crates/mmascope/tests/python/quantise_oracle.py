"""Block scaling in NumPy, written from the specification of precision §6.

    quantise_oracle.py FOLDER TENSOR

Reads FOLDER/inputs (float32, blocks of 32 one after the other). TENSOR is how many numbers make a tensor
(nvfp4 has a scale for each). Writes for every recipe FOLDER/FORMAT.RECIPE.codes and .scales (one byte each)
and .tensors (float32, one for each tensor), and the numbers that codes and scales stand for, .values.

Elements are found in the list of their format's values: the place among the midpoints, and the even
neighbour of a midpoint.
"""

import pathlib
import sys

import numpy as np

F = np.float32
FLT_MAX = np.finfo(F).max


def minifloat(exponent_bits, fraction_bits, bias, codes):
    """The values of the codes 0, 1, 2, ... as float64."""
    values = []
    for code in range(codes):
        field, fraction = code >> fraction_bits, code & ((1 << fraction_bits) - 1)
        if field:
            value = (1 + fraction / 2**fraction_bits) * 2.0 ** (field - bias)
        else:
            value = fraction / 2**fraction_bits * 2.0 ** (1 - bias)
        values.append(value)
    return np.array(values)


class Element:
    def __init__(self, values, sign, emax, nan, two_complement=False):
        self.values, self.sign, self.emax, self.nan = values, sign, emax, nan
        self.middles = (values[1:] + values[:-1]) / 2
        self.two_complement = two_complement
        self.largest = values[-1]

    def encode(self, x):
        """Codes of float64 numbers: to nearest even, saturating; NaN gets its code."""
        magnitude = np.abs(x)
        magnitude = np.where(np.isnan(x), 0, magnitude)
        index = np.searchsorted(self.middles, magnitude, side="left")
        at = np.minimum(index, len(self.middles) - 1)
        tie = (index < len(self.middles)) & (self.middles[at] == magnitude)
        index = index + (tie & (index % 2 == 1))
        negative = np.signbit(x)
        if self.two_complement:
            code = np.where(negative, -index, index) & 0xFF
        else:
            code = index | np.where(negative, self.sign, 0)
        return np.where(np.isnan(x), self.nan, code).astype(np.uint8)

    def decode(self, code):
        code = code.astype(np.int64)
        if self.two_complement:
            return np.where(code >= 128, code - 256, code) / 64.0
        magnitude = code & (self.sign - 1)
        value = np.append(self.values, [np.nan] * (self.sign - len(self.values)))[magnitude]
        return np.where(code & self.sign, -value, value)


ELEMENTS = {
    "mxfp8-e4m3": Element(minifloat(4, 3, 7, 127), 128, 8, 0x7F),
    "mxfp8-e5m2": Element(minifloat(5, 2, 15, 124), 128, 15, 0x7F),
    "mxfp6-e2m3": Element(minifloat(2, 3, 1, 32), 32, 2, 0x1F),
    "mxfp6-e3m2": Element(minifloat(3, 2, 3, 32), 32, 4, 0x1F),
    "mxfp4": Element(minifloat(2, 1, 1, 8), 8, 2, 0x7),
    "mxint8": Element(np.arange(128) / 64.0, 128, 0, 0x7F, two_complement=True),
}
E2M1 = ELEMENTS["mxfp4"]
E4M3 = ELEMENTS["mxfp8-e4m3"]


def amax(blocks):
    """As fmaxf: a NaN takes no part."""
    return np.fmax(np.fmax.reduce(np.abs(blocks), axis=-1), F(0))


def ocp(element, blocks):
    bad = ~np.isfinite(blocks).all(axis=1)
    largest = amax(np.where(np.isfinite(blocks), blocks, F(0))).astype(np.float64)
    # frexp gives a fraction of [1/2, 1); the smallest normal stands for zero.
    exponent = np.where(largest == 0, -126, np.frexp(largest)[1] - 1)
    exponent = np.maximum(exponent - element.emax, -127)
    scaled = np.ldexp(blocks.astype(np.float64), -exponent[:, None])
    codes = element.encode(scaled)
    codes[bad] = element.nan
    return codes, np.where(bad, 255, exponent + 127).astype(np.uint8)


def e8m0_round_up(x):
    """f32 to the power of two at or above it, saturating."""
    bits = x.view(np.uint32)
    field = (bits >> 23).astype(np.int64)
    up = ((bits & 0x7FFFFF) != 0) & (x > F(2.0) ** F(-127))
    return np.where(np.isinf(x), 254, np.minimum(field + up, 254)).astype(np.uint8)


def round_up(element, blocks):
    reciprocal = F(1) / F(element.largest)
    scales = e8m0_round_up(amax(blocks) * reciprocal)
    inverse = np.ldexp(F(1), 127 - scales.astype(np.int32)).astype(F)
    return element.encode((blocks * inverse[:, None]).astype(np.float64)), scales


def encode_scale(tensor_amax, fp8_max):
    if tensor_amax == 0:
        return F(1)
    scale = np.fmin(F(fp8_max * 6) / tensor_amax, FLT_MAX)
    return F(1) if scale == 0 else scale


def block_inverse(scales, s_enc):
    s_dec = F(1) / s_enc
    return np.fmin(F(1) / (E4M3.decode(scales).astype(F) * s_dec), FLT_MAX)


def multiplied(blocks, inverse):
    return E2M1.encode((blocks * inverse[:, None]).astype(np.float64))


def nvfp4(blocks):
    s_enc = encode_scale(amax(blocks.reshape(1, -1))[0], 448)
    scale = np.fmin(amax(blocks) * (s_enc * (F(1) / F(6))), FLT_MAX)
    scales = E4M3.encode(scale.astype(np.float64))
    return multiplied(blocks, block_inverse(scales, s_enc)), scales, F(1) / s_enc


def four_over_six(blocks):
    tensor_amax = amax(blocks.reshape(1, -1))[0]
    s_enc = encode_scale(tensor_amax, 256)
    base = amax(blocks) / F(6) * s_enc
    results = []
    for factor in (F(1), F(1.5)):
        scales = E4M3.encode(np.fmin(base * factor, F(448)).astype(np.float64))
        codes = multiplied(blocks, block_inverse(scales, s_enc))
        numbers = E2M1.decode(codes).astype(F) * E4M3.decode(scales).astype(F)[:, None]
        difference = numbers * tensor_amax / F(1536) - blocks
        error = np.zeros(len(blocks), F)
        for column in range(blocks.shape[1]):
            error = error + difference[:, column] * difference[:, column]
        results.append((codes, scales, error))
    (codes, scales, six), (codes4, scales4, four) = results
    take = four < six
    return np.where(take[:, None], codes4, codes), np.where(take, scales4, scales), F(1) / s_enc


def main() -> None:
    folder, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    inputs = np.fromfile(folder / "inputs", dtype=F)

    def write(name, codes, scales, tensors, values):
        codes.astype(np.uint8).tofile(folder / f"{name}.codes")
        scales.astype(np.uint8).tofile(folder / f"{name}.scales")
        np.array(tensors, F).tofile(folder / f"{name}.tensors")
        values.astype(F).tofile(folder / f"{name}.values")

    tensors = inputs.reshape(-1, size)
    for name, element in ELEMENTS.items():
        for recipe, function in (("ocp", ocp), ("round-up", round_up)):
            codes, scales = function(element, inputs.reshape(-1, 32))
            scale = np.where(scales == 255, np.nan, np.ldexp(1.0, scales.astype(np.int32) - 127))
            values = element.decode(codes) * scale[:, None]
            write(f"{name}.{recipe}", codes, scales, np.ones(len(tensors)), values)
    for recipe, function in (("nvfp4", nvfp4), ("four-over-six", four_over_six)):
        parts = [function(tensor.reshape(-1, 16)) for tensor in tensors]
        codes, scales = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
        factors = [part[2] for part in parts]
        each = np.repeat(np.array(factors, F), size)
        values = (E2M1.decode(codes) * E4M3.decode(scales)[:, None]).astype(F).reshape(-1) * each
        write(f"nvfp4.{recipe}", codes, scales, factors, values)
    print(np.__version__)


with np.errstate(all="ignore"):
    main()
