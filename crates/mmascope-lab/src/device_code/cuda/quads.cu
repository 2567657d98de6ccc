// Four products: those of lanes 4 p to 4 p + 3 with 16 + 4 p to 16 + 4 p + 3. A lane holds a row of A and a
// column of B, its own of the four (the upper lanes: of the second four), all k.
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x, block = lane % 16 / 4, upper = lane / 16, own = lane % 4 + 4 * upper;
  a += (word)blockIdx.x * A_SIZE + block * M * WIDE, b += (word)blockIdx.x * B_SIZE + block * N * WIDE;
  c += (word)blockIdx.x * C_SIZE + block * M * N, d += (word)blockIdx.x * C_SIZE + block * M * N;
  unsigned x[2], y[2], z[@RC@], w[@RD@];
  for (int r = 0; r < 2; r++) {
    x[r] = (unsigned)(a[own * WIDE + 2 * r] | a[own * WIDE + 2 * r + 1] << 16);
    y[r] = (unsigned)(b[own * WIDE + 2 * r] | b[own * WIDE + 2 * r + 1] << 16);
  }
  // Sums of 16 bits: the lane's row. Of 32 bits: two rows, two and two columns of each.
  for (int i = 0; i < 8; i++) {
    const int row = @RC@ == 4 ? own : (lane & 1) + (i & 2) + 4 * upper;
    const int column = @RC@ == 4 ? i : (i & 4) + (lane & 2) + (i & 1);
    if (@RC@ == 8) z[i * @RC@ / 8] = (unsigned)c[row * N + column];
    else if (i % 2 == 0) z[i / 2] = (unsigned)(c[row * N + i] | c[row * N + i + 1] << 16);
  }
  asm volatile("@TEXT@" : @OUTS@ : @INS@);
  for (int i = 0; i < 8; i++) {
    const int row = @RD@ == 4 ? own : (lane & 1) + (i & 2) + 4 * upper;
    const int column = @RD@ == 4 ? i : (i & 4) + (lane & 2) + (i & 1);
    d[row * N + column] = @RD@ == 4 ? w[i / 2 * @RD@ / 4] >> (16 * (i % 2)) & 0xffff : w[i * @RD@ / 8];
  }
}
