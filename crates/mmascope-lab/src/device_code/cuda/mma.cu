// Lane 4 g + q holds row g (and g + 8 in the next register) of A and column g of B: EACH consecutive k from
// q EACH on, the next 4 EACH in the registers after; of D row g (and g + 8), columns 2 q and 2 q + 1.
enum { EACH = @EACH@, BITS = @BITS@, SHIFT_A = @SHIFT_A@, SHIFT_B = @SHIFT_B@, RA = @RA@, RB = @RB@, RD = @RD@, TALL = M / 8 };
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x, g = lane / 4, q = lane % 4;
  a += (word)blockIdx.x * A_SIZE, b += (word)blockIdx.x * B_SIZE, c += (word)blockIdx.x * C_SIZE, d += (word)blockIdx.x * C_SIZE;
  @TYPE@ x[RA], y[RB], z[@RC@], w[RD];
  for (int r = 0; r < RA; r++) {
    word packed = 0;
    for (int e = 0; e < EACH; e++)
      packed |= a[(g + r % TALL * 8) * WIDE + r / TALL * 4 * EACH + q * EACH + e] << (BITS * e + SHIFT_A);
    x[r] = @FROM@(packed);
  }
  for (int r = 0; r < RB; r++) {
    word packed = 0;
    for (int e = 0; e < EACH; e++) packed |= b[g * WIDE + r * 4 * EACH + q * EACH + e] << (BITS * e + SHIFT_B);
    y[r] = @FROM@(packed);
  }
  enum { C_PACKED = TALL * 2 / @RC@, D_PACKED = TALL * 2 / RD };
  for (int r = 0; r < @RC@; r++) {
    word packed = 0;
    for (int e = 0; e < C_PACKED; e++) {
      int i = r * C_PACKED + e;
      packed |= c[(g + i / 2 * 8) * N + 2 * q + i % 2] << (16 * e);
    }
    z[r] = @FROM@(packed);
  }
@SCALE@  asm volatile("@TEXT@" : @OUTS@ : @INS@);
  for (int i = 0; i < TALL * 2; i++) {
    word value = @INTO@(w[i / D_PACKED]);
    if (D_PACKED == 2) value = value >> (16 * (i % 2)) & 0xffff;
    d[(g + i / 2 * 8) * N + 2 * q + i % 2] = value;
  }
}
