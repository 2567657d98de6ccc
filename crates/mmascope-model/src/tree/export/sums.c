/* A double rounded to a format: mode 0 to nearest even, 1 toward zero, 2 down, 3 up, 4 away from zero, 5 to odd;
   to nearest with ties 6 away from zero, 7 toward zero, 8 up, 9 down, 10 to odd. */
MMASCOPE_FUNCTION double mmascope_round(double x, int fraction_bits, int lowest, double largest, int mode) {
    if (x == 0.0 || x - x != 0.0) return x;
    int exponent = ilogb(x) < lowest ? lowest : ilogb(x);
    double scaled = ldexp(x, fraction_bits - exponent);
    double whole = floor(scaled), rest = scaled - whole;
    int odd = fmod(whole, 2.0) != 0.0;
    int tie = mode == 0 ? odd : mode == 6 ? x > 0.0 : mode == 7 ? x < 0.0 : mode == 8 ? 1 : mode == 10 && !odd;
    int up = mode == 0 || mode > 5 ? rest > 0.5 || (rest == 0.5 && tie)
           : mode == 1 ? x < 0.0 && rest != 0.0
           : mode == 4 ? x > 0.0 && rest != 0.0
           : mode == 5 ? !odd && rest != 0.0
           : mode == 3 && rest != 0.0;
    double result = ldexp(whole + up, exponent - fraction_bits);
    if (fabs(result) > largest) {
        int inward = mode == 1 || mode == 5 || (mode == 2 && x > 0.0) || (mode == 3 && x < 0.0);
        result = inward ? largest : largest * 1e308 * 1e308;
    }
    return copysign(result, x);
}

/* NaN in place of infinity, for formats that have NaN alone. */
MMASCOPE_FUNCTION double mmascope_without_infinity(double x) {
    return x - x == 0.0 ? x : x - x;
}

/* The sum of those x[i] * y[i] that are infinite or NaN; 0 without any. */
MMASCOPE_FUNCTION double mmascope_special(int terms, const double *x, const double *y) {
    double sum = 0.0;
    for (int i = 0; i < terms; i++) {
        double term = x[i] * y[i];
        if (term - term != 0.0) sum += term;
    }
    return sum;
}

/* The exponent field that takes part in alignment. */
MMASCOPE_FUNCTION int mmascope_exponent(double x, int lowest) {
    return x == 0.0 || ilogb(x) < lowest ? lowest : ilogb(x);
}

/* The sum of x[i] * y[i], each cut off `bits` places below the largest exponent; exact from there.
   The first terms are products; the others have y = 1. */
MMASCOPE_FUNCTION double mmascope_fused(int products, int terms, const double *x, const double *y, int bits,
                                        int lowest_operand, int lowest_value) {
    int top = 0, any = 0;
    double sum = 0.0, special = mmascope_special(terms, x, y);
    if (special != 0.0) return special;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < terms; i++) {
            double term = x[i] * y[i];
            int exponent = i < products ? mmascope_exponent(x[i], lowest_operand) + mmascope_exponent(y[i], lowest_operand)
                                        : mmascope_exponent(x[i], lowest_value);
            if (term == 0.0) continue;
            if (pass == 1) sum += trunc(ldexp(term, bits - top));
            else if (!any || exponent > top) { top = exponent; any = 1; }
        }
    }
    return ldexp(sum, top - bits);
}

/* a + b rounded to odd: rounding that to a narrower format rounds the exact sum once. */
MMASCOPE_FUNCTION double mmascope_add_odd(double a, double b) {
    double sum = a + b, other = sum - a, error = (a - (sum - other)) + (b - other);
    unsigned long long bits;
    memcpy(&bits, &sum, 8);
    if (error == 0.0 || sum - sum != 0.0 || (bits & 1)) return sum;
    bits += (error > 0.0) == (sum > 0.0) ? 1 : -1ULL;
    memcpy(&sum, &bits, 8);
    return sum;
}

/* The exact sum of x[i] * y[i], rounded to odd. `parts` has room for the number of terms. */
MMASCOPE_FUNCTION double mmascope_exact(int terms, const double *x, const double *y, double *parts) {
    int count = 0;
    double special = mmascope_special(terms, x, y);
    if (special != 0.0) return special;
    for (int i = 0; i < terms; i++) {
        double carry = x[i] * y[i];
        int kept = 0;
        for (int j = 0; j < count; j++) {
            double part = parts[j], sum = carry + part, other = sum - carry;
            double error = (carry - (sum - other)) + (part - other);
            carry = sum;
            if (error != 0.0) parts[kept++] = error;
        }
        if (carry != 0.0) parts[kept++] = carry;
        count = kept;
    }
    double sum = 0.0;
    for (int j = 0; j < count; j++) sum = mmascope_add_odd(sum, parts[j]);
    return sum;
}

