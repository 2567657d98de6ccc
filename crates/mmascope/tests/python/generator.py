#!/usr/bin/env python3
"""The case generator a second time, from docs/generator.md; standard library only.

    generator.py table            prints the table of the normal deviate, one hexadecimal number a line
    generator.py cases < REQUEST  prints cases: a b c sa sb in hexadecimal, as vector lines write them

A request is one line of words: family seed first count a b c d k scale block L F F2 e0 m, where scale and
block are `- 0` without block scales. An empty line is printed as `-`.
"""

import sys
from fractions import Fraction
from math import isqrt

WORD = 1 << 32


# ---------------------------------------------------------------- random words


def philox(counter, key):
    v0, v1, v2, v3 = counter
    k0, k1 = key
    for _ in range(10):
        p, q = 0xD2511F53 * v0, 0xCD9E8D57 * v2
        v0, v1, v2, v3 = (q // WORD) ^ v1 ^ k0, q % WORD, (p // WORD) ^ v3 ^ k1, p % WORD
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return v0, v1, v2, v3


def below(n, w):
    return n * w // WORD


def bit(x, i):
    return x >> i & 1


CASE, A, B, C, SCALE_A, SCALE_B = range(6)


# ---------------------------------------------------------------- the table


def table():
    """Quantiles of |N(0, 1)| by the alternating series of its distribution, in 192-bit fixed point."""
    unit = 1 << 192

    def arctan_of_one_over(n):
        power, total, sign, odd = unit // n, 0, 1, 1
        while power:
            total += sign * (power // odd)
            power, sign, odd = power // (n * n), -sign, odd + 2
        return total

    pi = 16 * arctan_of_one_over(5) - 4 * arctan_of_one_over(239)
    density = isqrt(2 * unit**3 // pi)

    def probability_within(t):
        x = t << (192 - 28)
        square = x * x // unit
        term, total, n = x, 0, 0
        while term:
            total += (term if n % 2 == 0 else -term) // (2 * n + 1)
            n += 1
            term = term * square // unit // (2 * n)
        return total * density // unit

    quantiles = [0]
    for octave in range(32):
        for part in range(1, 17):
            wanted = unit - (unit * (32 - part) >> (5 + octave))
            low = quantiles[-1]
            high = low + (1 << 26)
            while probability_within(high) <= wanted:
                high += 1 << 26
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if probability_within(middle) <= wanted else (low, middle)
            quantiles.append(low)
    return quantiles


_quantiles = []


def deviate(u, v):
    if not _quantiles:
        _quantiles.extend(table())
    octave = min(32 - u.bit_length(), 31)
    part = (u << (octave + 1)) % WORD >> 28
    low, high = _quantiles[16 * octave + part : 16 * octave + part + 2]
    return (low << 32) + (high - low) * v


# ---------------------------------------------------------------- formats


class Format:
    """sign bit, exponent bits, fraction bits, bias; special codes; hexadecimal digits; shift."""

    def __init__(self, sign, exponent_bits, fraction_bits, bias, special, digits, shift=0):
        self.sign, self.eb, self.M, self.bias, self.special = sign, exponent_bits, fraction_bits, bias, special
        self.digits, self.shift = digits, shift
        self.bits = sign + exponent_bits + fraction_bits
        self.signbit = 1 << (self.bits - 1) if sign else 0
        self.subnormals = special != "power"
        ones = (1 << (exponent_bits + fraction_bits)) - 1
        self.largest = {
            "ieee": ones - (1 << fraction_bits),
            "fn": ones - 1,
            "power": ones - 1,
            "fnuz": ones,
            "none": ones,
        }[special]
        self.emin = 1 - bias if self.subnormals else -bias
        self.emax = (self.largest >> fraction_bits) - bias
        self.ones = (1 << fraction_bits) - 1

    def number(self, negative, e, f):
        e = min(e, self.emax)
        significand = (1 << self.M) + f
        if e >= self.emin:
            magnitude = ((e - self.emin + (1 if self.subnormals else 0)) << self.M) + f
        elif self.subnormals:
            magnitude = max(1, significand >> (self.emin - e))
        else:
            magnitude = 0
        magnitude = min(magnitude, self.largest)
        return magnitude + (self.signbit if negative else 0)

    def value(self, code):
        """The exact value of a finite code."""
        magnitude = code % self.signbit if self.sign else code
        field, fraction = divmod(magnitude, 1 << self.M)
        if self.subnormals and field == 0:
            value = Fraction(fraction) * Fraction(2) ** (self.emin - self.M)
        else:
            value = Fraction(fraction + (1 << self.M)) * Fraction(2) ** (field - self.bias - self.M)
        return -value if self.sign and code >= self.signbit else value

    def round(self, negative, magnitude):
        """To the nearest code, ties to even, limited; the magnitude is a Fraction."""
        if magnitude:
            e = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
            if Fraction(2) ** e > magnitude:
                e -= 1
            e = max(e, self.emin)
            steps = round(magnitude / Fraction(2) ** (e - self.M))  # to even
            code = ((e - self.emin) << self.M) + steps
            if not self.subnormals:
                code -= 1 << self.M
            magnitude = min(max(code, 0), self.largest)
        if magnitude == 0:
            return self.zero(negative)
        return magnitude + (self.signbit if negative else 0)

    def zero(self, negative):
        return self.signbit if negative and self.special != "fnuz" else 0

    def infinity(self, negative):
        magnitude = self.largest + 1 if self.special == "ieee" else self.largest
        return magnitude + (self.signbit if negative else 0)

    def nan(self, r):
        if self.special == "ieee":
            return self.infinity(False) + max(1, r % (1 << self.M))
        if self.special in ("fn", "power"):
            return self.largest + 1
        return self.signbit if self.special == "fnuz" else self.largest

    def random(self, w, v):
        return (w + WORD * v) % (1 << self.M)

    def moved(self, code, by):
        sign = code & self.signbit
        return min(max(code - sign + by, 1), self.largest) + sign


FORMATS = {
    "f64": Format(1, 11, 52, 1023, "ieee", 16),
    "f32": Format(1, 8, 23, 127, "ieee", 8),
    "tf32": Format(1, 8, 10, 127, "ieee", 8, 13),
    "f16": Format(1, 5, 10, 15, "ieee", 4),
    "bf16": Format(1, 8, 7, 127, "ieee", 4),
    "e5m2": Format(1, 5, 2, 15, "ieee", 2),
    "e4m3fn": Format(1, 4, 3, 7, "fn", 2),
    "e5m2fnuz": Format(1, 5, 2, 16, "fnuz", 2),
    "e4m3fnuz": Format(1, 4, 3, 8, "fnuz", 2),
    "e3m2fn": Format(1, 3, 2, 3, "none", 2),
    "e2m3fn": Format(1, 2, 3, 1, "none", 2),
    "e2m1fn": Format(1, 2, 1, 1, "none", 1),
    "ue8m0": Format(0, 8, 0, 127, "power", 2),
    "ue4m3": Format(0, 4, 3, 7, "fn", 2),
}


# ---------------------------------------------------------------- one case


class Case:
    def __init__(self, request, index):
        self.__dict__.update(request)
        self.index = index
        self.words = {A: [0] * self.K, B: [0] * self.K, C: [0], SCALE_A: [], SCALE_B: []}
        self.blocks = -(-self.K // self.block) if self.scale else 0
        self.formats = {A: self.a, B: self.b, C: self.c, SCALE_A: self.scale, SCALE_B: self.scale}
        self.x, self.y = self.draw(CASE, 0), self.draw(CASE, 1)
        self.c_draw = self.draw(C, 0)
        self.shifted = False

    def draw(self, role, position):
        counter = (self.index % WORD, self.index // WORD, role * 65536 + position, 0)
        return philox(counter, (self.seed % WORD, self.seed // WORD))

    def positions(self):
        for role, count in ((A, self.K), (B, self.K), (C, 1), (SCALE_A, self.blocks), (SCALE_B, self.blocks)):
            for position in range(count):
                yield role, position

    def fill(self, operand, scale):
        self.words[SCALE_A], self.words[SCALE_B] = [0] * self.blocks, [0] * self.blocks
        for role, position in self.positions():
            w = self.draw(role, position)
            make = scale if role in (SCALE_A, SCALE_B) else operand
            self.words[role][position] = make(self.formats[role], role, w)

    def line(self):
        getattr(self, self.family)()
        parts = []
        for role in (A, B, C, SCALE_A, SCALE_B):
            form = self.formats[role]
            shift = 0 if self.shifted or form is None else form.shift
            text = "".join(f"{word << shift:0{form.digits}x}" for word in self.words[role])
            parts.append(text or "-")
        return " ".join(parts)

    # -- shared choices

    def split(self, e, w, a=None, b=None):
        a, b = a or self.a, b or self.b
        if e >= a.emin + b.emin:
            la, lb = a.emin, b.emin
        else:
            la, lb = a.emin - a.M, b.emin - b.M
        first, last = max(la, e - b.emax), min(a.emax, e - lb)
        if first > last:
            return (a.emax, b.emax) if e > a.emax + b.emax else (la, lb)
        ea = first + below(last - first + 1, w)
        return ea, e - ea

    def range(self, low, high):
        first, last = max(low, self.c.emin - self.c.M), min(high, self.c.emax)
        return (low, high) if first > last else (first, last)

    def centre(self):
        first, last = self.range(self.a.emin + self.b.emin, self.a.emax + self.b.emax)
        p = first + below(last - first + 1, self.x[0])
        return p, self.split(p, self.x[1])

    def stride(self, w):
        return 1 << below(max(1, (self.K - 1).bit_length()), w)

    # -- plain families

    def bits(self):
        def uniform(form, role, w):
            width = form.digits * 4 if form.shift or not form.sign else form.bits
            return (w[0] + WORD * w[1]) % (1 << width)

        self.fill(uniform, uniform)
        self.shifted = True

    @staticmethod
    def gauss(form, w, larger=0):
        return form.round(bit(w[2], 0), Fraction(deviate(w[0], w[1]), 1 << 60) * 2**larger)

    @staticmethod
    def moderate(form, role, w):
        return form.number(0, below(9, w[0]) - 4, form.random(w[1], 0))

    def normal(self):
        self.fill(lambda form, role, w: self.gauss(form, w), self.moderate)

    def outlier(self):
        def operand(form, role, w):
            return self.gauss(form, w, 4 + below(9, w[3]) if (w[2] >> 8) % 32 == 0 else 0)

        self.fill(operand, self.moderate)

    def sparse(self):
        def operand(form, role, w):
            is_zero = below(4 if role == A else 2, w[3]) != 0
            return form.zero(bit(w[2], 0)) if is_zero else self.gauss(form, w)

        self.fill(operand, self.moderate)

    # -- clustered families

    def stress(self):
        p, (ea, eb) = self.centre()
        middle = {A: ea, B: eb, C: p - 24 + below(33, self.x[2])}

        def operand(form, role, w):
            negative, kind = bit(w[2], 0), below(16, w[0])
            random = form.random(w[3], w[1])
            if kind == 0:
                return form.zero(negative)
            if kind == 1:
                code = max(1, random) if form.subnormals else 0
                return code + (form.signbit if negative else 0)
            fraction = [form.ones, 0, random, random][(w[2] >> 1) % 4]
            return form.number(negative, middle[role] - 2 + below(5, w[1]), fraction)

        def scale(form, role, w):
            return form.number(0, below(5, w[0]) - 2, form.random(w[1], 0))

        self.fill(operand, scale)
        if self.x[3] % 8 == 0:
            roles = [A, B, C] + ([SCALE_A, SCALE_B] if self.scale else [])
            for where, r in (self.y[0:2], self.y[2:4]):
                which, rest = divmod(len(roles) * where, WORD)
                role = roles[which]
                position = below(len(self.words[role]), rest)
                form = self.formats[role]
                choices = [form.infinity(0), form.infinity(1), form.nan(r), form.largest, form.zero(0)]
                self.words[role][position] = choices[below(5, r)]

    def close(self):
        p, (ea, eb) = self.centre()
        stride = self.stride(self.x[2])
        moves = [0] * 8 if (self.x[3] >> 2) % 4 == 0 else [0, 0, 0, 0, -1, 1, -2, 2]
        for role, form, e in ((A, self.a, ea), (B, self.b, eb)):
            row = self.words[role]
            for k in range(self.K):
                w = self.draw(role, k)
                if k & stride:
                    moved = form.moved(row[k - stride], moves[below(8, w[0])])
                    row[k] = moved ^ form.signbit if role == B else moved
                else:
                    row[k] = form.number(bit(w[2], 0), e - 1 + below(3, w[0]), form.random(w[3], w[1]))
        w = self.c_draw
        negative, random = bit(w[2], 0), self.c.random(w[3], w[1])
        kind = self.x[3] % 4
        if kind == 0:
            c = 0
        elif kind == 1:
            c = self.c.number(negative, p - below(28, w[0]), random)
        elif kind == 2:
            product = self.a.value(self.words[A][0]) * self.b.value(self.words[B][0])
            c = self.c.round(product > 0, abs(product))
        else:
            c = self.c.number(negative, p - 1 + below(3, w[0]), random)
        self.words[C] = [c]
        j = below(5, self.y[0]) - 2
        for role, e in ((SCALE_A, j), (SCALE_B, -j)):
            self.words[role] = [self.scale.number(0, e, 0) for _ in range(self.blocks)]

    # -- exhaustive

    def exhaustive(self):
        c, rest = self.c, self.index
        rest, self.words[A][0] = divmod(rest, 1 << self.a.bits)
        rest, self.words[B][0] = divmod(rest, 1 << self.b.bits)
        negative = c.signbit
        self.words[C] = [
            [
                0,
                c.zero(1),
                c.number(0, 0, 0),
                c.number(1, 0, 0),
                1,
                1 + negative,
                c.number(0, c.emin, 0),
                c.ones + negative,
                c.number(0, 0, c.ones),
                c.number(1, 0, 1),
                c.number(0, 8, 0),
                c.number(1, 13, 0),
                c.largest,
                c.largest + negative,
                c.infinity(0),
                c.nan(1),
            ][rest % 16]
        ]
        for role in (SCALE_A, SCALE_B):
            self.words[role] = [self.scale.number(0, 0, 0) for _ in range(self.blocks)]

    # -- boundary

    def boundary(self):
        x, y, c, K, F, m = self.x, self.y, self.c, self.K, self.F, self.m
        cw = self.c_draw
        q = below(K, x[0])
        block = [k for k in range(K) if k // self.L == q // self.L]
        active = range(K) if bit(x[1], 0) else block
        sign, v = bit(x[1], 1), (x[1] >> 2) % 8
        more = (2 * self.scale.emin, 2 * self.scale.emax) if self.scale else (0, 0)
        first, last = self.range(
            self.a.emin + self.b.emin + more[0], self.a.emax + self.b.emax + more[1]
        )

        def centre(room=0):
            start = min(first + room, last)
            return start + below(last - start + 1, x[2])

        p = centre()
        tiny = self.d.emin - m
        c_sign, c_random = bit(cw[2], 0), c.random(cw[3], cw[1])
        draw = {k: self.draw(A, k) for k in range(K)}
        terms, c_code, followers, same_scale = {}, 0, {}, None

        def mostly_power(k):
            return "random" if draw[k][1] % 4 == 0 else "power"

        recipe = self.index % 8
        if recipe == 0:
            if x[3] % 4 == 0:
                p = last
            terms = {k: (sign ^ (bit(v, 0) if k == q else 0), p, "ones") for k in active}
            c_code = c.number(sign ^ bit(v, 1), p + bit(v, 2), c.ones)
        elif recipe == 1:
            distance = (F, m, self.F2)[below(3, y[0])]
            p = centre(distance)
            top = p - distance + 3
            rungs = list(active)
            if bit(v, 0):
                c_code = c.number(sign, p, 0)
            else:
                rungs.remove(q)
                terms[q] = (sign, p, "power")
                if bit(v, 1):
                    c_code = c.number(c_sign, top - below(8, cw[0]), 0)
            for j, k in enumerate(rungs):
                terms[k] = (bit(draw[k][2], 0), top - (j + below(8, y[1])) % 8, mostly_power(k))
        elif recipe == 2 and not bit(v, 0):
            for k in active:
                terms[k] = (bit(draw[k][2], 0), self.e0 - below(F + 4, draw[k][0]), "random")
            if v == 6:
                c_code = c.number(c_sign, self.e0 - below(F + 4, cw[0]), c_random)
        elif recipe == 2:
            others = list(block)
            if v == 7:
                c_code = c.number(sign, tiny, 0)
            else:
                others.remove(q)
                terms[q] = (sign, tiny - bit(v, 1), "power")
            if others:
                terms[others[0]] = (sign ^ bit(y[1], 0), self.e0 - F - 2 + below(4, y[0]), "power")
        elif recipe == 3:
            p = centre(m + 2)
            others = list(block)
            if bit(v, 0):
                f = 1 << (c.M - m) if bit(v, 1) and c.M >= m > 0 else 0
                c_code = c.number(sign, p, f)
            else:
                others.remove(q)
                terms[q] = (sign, p, "power")
                if bit(v, 1):
                    c_code = c.number(sign, p - m, 0)
            half = sign ^ bit(y[0], 0)
            if bit(v, 2):
                for k in others[:2]:
                    terms[k] = (half, p - m - 2, "power")
            elif others:
                terms[others[0]] = (half, p - m - 1, "power")
            if bit(y[1], 0) and len(others) > 2:
                terms[others[2]] = (bit(y[1], 1), p - m - 2 - below(10, y[2]), "power")
        elif recipe == 4:
            stride = self.stride(y[0])
            same_scale = p
            for k in active:
                if not k & stride and k + stride in active:
                    terms[k] = (bit(draw[k][2], 0), p - below(4, draw[k][0]), "random")
                    followers[k + stride] = k
            c_code = [
                0,
                c.zero(1),
                c.number(sign, p - F - 2 + below(5, y[1]), 0),
                c.number(sign, p - below(F + 1, y[1]), c_random),
            ][v % 4]
        elif recipe == 5:
            p = centre(F + 4)
            for k in active:
                negative = [sign, 1 - sign, bit(draw[k][2], 0), bit(draw[k][2], 0)][y[1] % 4]
                terms[k] = (negative, p - F - 2 - below(3, draw[k][0]), mostly_power(k))
            terms[q] = (sign, p, "power")
            others = [k for k in block if k != q]
            if bit(v, 0) and others:
                terms[others[0]] = (1 - sign, p, "power")
            else:
                c_code = c.number(1 - sign, p, 0)
        elif recipe == 6:
            if v % 4 == 3:
                terms[q] = (sign, tiny - 1 - below(3, y[0]), "power")
            c_code = c.zero(1 if v % 4 == 2 else c_sign)
        else:
            for k in active:
                w = draw[k]
                e = c.emax - below(3, w[0]) if bit(v, 2) else c.emax - m - 2 + below(4, w[0])
                style = "random" if bit(v, 1) else "power"
                terms[k] = (bit(w[2], 0) if bit(v, 0) else sign, e, style)
            c_code = c.largest - below(4, y[0]) + (c.signbit if sign else 0)

        self.words[C] = [c_code]
        lowered = self.choose_scales(terms, same_scale)
        for k, (negative, e, style) in terms.items():
            wa, wb = draw[k], self.draw(B, k)
            ea, eb = self.split(e - (lowered[k // self.block] if self.scale else 0), wa[1])
            if style == "power":
                fa = fb = 0
            elif style == "ones":
                fa, fb = max(0, self.a.ones - bit(wa[0], 0)), max(0, self.b.ones - bit(wb[0], 0))
            else:
                fa, fb = self.a.random(wa[3], wa[1]), self.b.random(wb[3], wb[1])
            n = bit(wb[2], 1)
            self.words[A][k] = self.a.number(negative ^ n, ea, fa)
            self.words[B][k] = self.b.number(n, eb, fb)
        for k, leader in followers.items():
            self.words[A][k] = self.words[A][leader]
            self.words[B][k] = self.words[B][leader] ^ self.b.signbit
        if recipe == 6:
            self.signed_zeros(v % 4, q)

    def choose_scales(self, terms, same_scale):
        lowered = []
        for j in range(self.blocks):
            w = self.draw(SCALE_A, j if same_scale is None else 0)
            own = [e for k, (_, e, _) in terms.items() if k // self.block == j]
            total = 0
            if own or same_scale is not None:
                top = max(own) if same_scale is None else same_scale
                total = top - (self.a.emax + self.b.emax - below(4, w[0]))
            pair = self.split(total, w[1], self.scale, self.scale)
            reached = 0
            for role, e in zip((SCALE_A, SCALE_B), pair):
                code = self.scale.number(0, e, 0)
                self.words[role].append(code)
                field = code >> self.scale.M
                reached += max(field - self.scale.bias, self.scale.emin)
            lowered.append(reached)
        return lowered

    def signed_zeros(self, kind, q):
        a, b = self.a, self.b
        for k in range(self.K):
            if kind == 3 and k == q:
                continue
            wa, wb = self.draw(A, k), self.draw(B, k)
            pair = [
                (a.zero(bit(wa[2], 0)), b.zero(bit(wb[2], 0))),
                (a.zero(bit(wa[2], 0)), b.number(bit(wb[2], 0), 0, b.random(wb[3], wb[1]))),
                (a.number(bit(wa[2], 0), 0, a.random(wa[3], wa[1])), b.zero(bit(wb[2], 0))),
            ][below(3, wa[0])]
            if kind == 2:
                pair = (a.zero(1), b.zero(0))
            self.words[A][k], self.words[B][k] = pair


def cases(line):
    family, seed, first, count, a, b, c, d, k, scale, block, *hints = line.split()
    hints = dict(zip(("L", "F", "F2", "e0", "m"), map(int, hints)))
    request = dict(
        family=family,
        seed=int(seed),
        a=FORMATS[a],
        b=FORMATS[b],
        c=FORMATS[c],
        d=FORMATS[d],
        K=int(k),
        scale=None if scale == "-" else FORMATS[scale],
        block=int(block),
        **hints,
    )
    for index in range(int(first), int(first) + int(count)):
        yield Case(request, index).line()


def main():
    if sys.argv[1:] == ["table"]:
        print("\n".join(f"{value:08x}" for value in table()))
    elif sys.argv[1:] == ["cases"]:
        for line in sys.stdin:
            for case in cases(line):
                print(case)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
