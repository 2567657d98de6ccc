def exponent_of(x, lowest):
    """The exponent field that takes part in alignment."""
    return max(math.frexp(x)[1] - 1, lowest) if x else lowest


def rounded(x, fraction_bits, lowest, largest, mode):
    """A number rounded to a format: mode 0 to nearest even, 1 toward zero, 2 down, 3 up, 4 away from zero, 5 to odd;
    to nearest with ties 6 away from zero, 7 toward zero, 8 up, 9 down, 10 to odd."""
    if not x:
        return x if isinstance(x, float) else 0.0
    sign = 1 if x > 0 else -1
    if not isinstance(x, Fraction):
        if not math.isfinite(x):
            return x
        x = Fraction(x)
    top = x.numerator.bit_length() - x.denominator.bit_length()
    while abs(x) >= Fraction(2) ** (top + 1):
        top += 1
    while abs(x) < Fraction(2) ** top:
        top -= 1
    place = Fraction(2) ** (max(top, lowest) - fraction_bits)
    whole, rest = divmod(x / place, 1)
    odd = whole % 2 == 1
    if mode == 0 or mode > 5:
        tie = {0: odd, 6: x > 0, 7: x < 0, 8: True, 9: False, 10: not odd}[mode]
        whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and tie)
    elif mode == 1:
        whole += x < 0 and rest != 0
    elif mode == 4:
        whole += x > 0 and rest != 0
    elif mode == 5:
        whole += not odd and rest != 0
    elif mode == 3:
        whole += rest != 0
    if abs(whole * place) > Fraction(largest):
        inward = mode in (1, 5) or (mode == 2 and x > 0) or (mode == 3 and x < 0)
        return math.copysign(largest if inward else math.inf, sign)
    return math.copysign(float(whole * place), sign)


def without_infinity(x):
    """NaN in place of infinity, for formats that have NaN alone."""
    return x if math.isfinite(x) else math.nan


def special(terms):
    """The sum of those x * y that are infinite or NaN; 0.0 without any."""
    wide = [(x, y) for x, y in terms if not (math.isfinite(x) and math.isfinite(y))]
    return sum((x * y for x, y in wide), 0.0)


def fused(products, terms, bits, lowest_operand, lowest_value):
    """The sum of x * y, each cut off `bits` places below the largest exponent, as a Fraction.
    The first terms are products; the others have y = 1."""
    if special(terms):
        return special(terms)
    fields = [
        exponent_of(x, lowest_operand) + exponent_of(y, lowest_operand) if i < products else exponent_of(x, lowest_value)
        for i, (x, y) in enumerate(terms)
        if x and y
    ]
    if not fields:
        return Fraction(0)
    grid = Fraction(2) ** (max(fields) - bits)
    return grid * sum(math.trunc(Fraction(x) * Fraction(y) / grid) for x, y in terms)


def exact(terms):
    """The exact sum of x * y."""
    if special(terms):
        return special(terms)
    return sum(Fraction(x) * Fraction(y) for x, y in terms)


