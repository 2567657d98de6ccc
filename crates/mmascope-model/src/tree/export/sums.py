def exponent_of(x, lowest):
    """The exponent field that takes part in alignment."""
    return max(math.frexp(x)[1] - 1, lowest) if x else lowest


def rounded(x, fraction_bits, lowest, largest, mode):
    """A Fraction rounded to a format: mode 0 to nearest even, 1 toward zero, 2 down, 3 up."""
    if not x:
        return 0.0
    top = x.numerator.bit_length() - x.denominator.bit_length()
    while abs(x) >= Fraction(2) ** (top + 1):
        top += 1
    while abs(x) < Fraction(2) ** top:
        top -= 1
    place = Fraction(2) ** (max(top, lowest) - fraction_bits)
    whole, rest = divmod(x / place, 1)
    if mode == 0:
        whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    elif mode == 1:
        whole += x < 0 and rest != 0
    elif mode == 3:
        whole += rest != 0
    if abs(whole * place) > Fraction(largest):
        inward = mode == 1 or (mode == 2 and x > 0) or (mode == 3 and x < 0)
        return math.copysign(largest if inward else math.inf, x)
    return math.copysign(float(whole * place), x)


def fused(products, terms, bits, lowest_operand, lowest_value):
    """The sum of x * y, each cut off `bits` places below the largest exponent, as a Fraction.
    The first terms are products; the others have y = 1."""
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
    return sum(Fraction(x) * Fraction(y) for x, y in terms)


