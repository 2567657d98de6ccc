"""Dot products by the command-line program: an oracle that shares no call with ``mmascope.matmul``.

One process of ``mmascope eval`` computes every line through the reference. Operands reach it as text, so that the way from
arrays to words, the kernels and the way back are all tested.
"""

import json
import subprocess
import sys

import numpy

#: Bits of a word and of its exponent, by format; integers have no exponent.
LAYOUT = {
    "f64": (64, 11), "f32": (32, 8), "tf32": (32, 8), "f16": (16, 5), "bf16": (16, 8), "e5m2": (8, 5), "e4m3fn": (8, 4),
    "e5m2fnuz": (8, 5), "e4m3fnuz": (8, 4), "e3m2fn": (6, 3), "e2m3fn": (6, 2), "e2m1fn": (4, 2),
    "int1": (1, 0), "uint1": (1, 0), "int4": (4, 0), "uint4": (4, 0), "int8": (8, 0), "uint8": (8, 0), "int16": (16, 0),
    "uint16": (16, 0), "int32": (32, 0), "uint32": (32, 0), "int64": (64, 0), "uint64": (64, 0),
}
FAMILIES = ("bits", "specials", "close")


def width(kind):
    """Bits of a format's word."""
    return LAYOUT[kind][0]


def _random_bits(random, bits, shape):
    words = random.integers(0, 1 << 63, shape, dtype=numpy.uint64) * numpy.uint64(2)
    words += random.integers(0, 2, shape, dtype=numpy.uint64)
    return words >> numpy.uint64(64 - bits)


def words(random, kind, family, shape):
    """Random words of a format, each in the smallest unsigned integer that holds it.

    ``bits`` has every bit at random. ``specials`` has zeros, subnormal numbers, the largest numbers, infinities and NaN
    among others. ``close`` has numbers of nearly one magnitude, whose sums cancel and round.
    """
    bits, exponent_bits = LAYOUT[kind]
    made = _random_bits(random, bits, shape)
    if family != "bits":
        if exponent_bits:
            top = (1 << exponent_bits) - 1
            bias = top >> 1
            near = [exponent for exponent in range(bias - 4, bias + 5) if 0 <= exponent <= top]
            exponents = near if family == "close" else [0, 0, 1, bias, top - 1, top, top]
            fraction_bits = bits - 1 - exponent_bits
            fractions = [0, 1, (1 << fraction_bits) - 1, (1 << fraction_bits) >> 1]
            exponent = random.choice(numpy.array(exponents, numpy.uint64), shape)
            fraction = made & numpy.uint64((1 << fraction_bits) - 1)
            if family == "specials":
                fraction = numpy.where(random.integers(0, 2, shape) == 0, fraction,
                                       random.choice(numpy.array(fractions, numpy.uint64), shape))
            sign = made >> numpy.uint64(bits - 1) << numpy.uint64(bits - 1)
            made = sign | exponent << numpy.uint64(fraction_bits) | fraction
        elif family == "specials":
            ends = [0, 1, (1 << bits) - 1, (1 << bits) >> 1, ((1 << bits) >> 1) - 1 if bits > 1 else 0]
            made = random.choice(numpy.array(ends, numpy.uint64), shape)
    return made.astype(f"u{max(bits, 8) // 8}")


def scales(random, family, shape):
    """Random block scales: any byte, or some near the middle of the range."""
    low, high = (0x30, 0x80) if family == "close" else (0, 256)
    return random.integers(low, high, shape, dtype=numpy.uint16).astype(numpy.uint8)


def _hex(word, kind):
    return f"{int(word):0{-(-width(kind) // 4)}x}"


class Program:
    """``mmascope eval`` in a process of its own, asked a batch at a time."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mmascope", "eval"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def answers(self, lines):
        """The ``d`` of each line: a word, or ``None`` where any NaN may stand."""
        process = self._process
        process.stdin.write("".join(json.dumps({"id": place, **line}) + "\n" for place, line in enumerate(lines)) + "\n")
        process.stdin.flush()
        found = []
        while (answer := process.stdout.readline()).strip():
            found.append(json.loads(answer))
        assert [item["id"] for item in found] == list(range(len(lines)))
        wrong = [item["error"] for item in found if "error" in item]
        assert not wrong, wrong[0]
        return [None if item["d"] == "nan" else int(item["d"], 16) for item in found]

    def matmul(self, row, a, b, c, scale_a=None, scale_b=None):
        """Words of D for batches of A, B and C, by as many instructions one after the other as K needs."""
        a_kind, b_kind, c_kind, d_kind, scale, k = row._kinds
        outputs = list(numpy.ndindex(c.shape))
        sums = {output: int(c[output]) for output in outputs}
        for first in range(0, a.shape[-1], k):
            lines = []
            asked = [output for output in outputs if sums[output] is not None]
            for batch, i, j in asked:
                line = {
                    "arch": row.arch, "inst": row.name, "c": _hex(sums[batch, i, j], c_kind),
                    "a": "".join(_hex(word, a_kind) for word in a[batch, i, first:first + k]),
                    "b": "".join(_hex(word, b_kind) for word in b[batch, first:first + k, j]),
                }
                if scale is not None:
                    part = slice(first // scale[1], (first + k) // scale[1])
                    line["sa"] = "".join(f"{word:02x}" for word in scale_a[batch, i, part])
                    line["sb"] = "".join(f"{word:02x}" for word in scale_b[batch, part, j])
                lines.append(line)
            sums.update(zip(asked, self.answers(lines)))
        return [sums[output] for output in outputs], d_kind


def is_nan(word, kind):
    """Whether a word is a NaN."""
    bits, exponent_bits = LAYOUT[kind]
    fraction_bits = bits - 1 - exponent_bits
    top = (1 << exponent_bits) - 1
    return bool(exponent_bits and word >> fraction_bits & top == top and word & ((1 << fraction_bits) - 1))
