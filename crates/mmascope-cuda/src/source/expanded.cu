extern "C" __global__ void expand_a(const a_type *codes, word lines, word steps, word line_stride, word k_stride, operand *values, exponent_a *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_a, true, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}
extern "C" __global__ void expand_b(const b_type *codes, word lines, word steps, word line_stride, word k_stride, operand *values, short *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_b, false, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}
