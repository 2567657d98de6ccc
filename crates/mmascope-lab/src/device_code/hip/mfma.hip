typedef @OPERAND@ operand;
typedef @SUMS_TYPE@ sums;
enum { EACH = @EACH@, SUMS = @SUMS@, EACH_BLOCK = SUMS / BLOCKS ? SUMS / BLOCKS : 1 };
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x;
  a += (word)blockIdx.x * A_SIZE, b += (word)blockIdx.x * B_SIZE, c += (word)blockIdx.x * C_SIZE, d += (word)blockIdx.x * C_SIZE;
  // A lane holds EACH consecutive k of one row of A and of one column of B: rows first, then blocks, then k.
  const int own = lane % M, block = lane / M % BLOCKS, k = lane / (M * BLOCKS) * EACH;
  @ELEMENT@ xs[EACH], ys[EACH];
  for (int e = 0; e < EACH; e++) {
    xs[e] = (@ELEMENT@)a[(block * M + own) * WIDE + k + e];
    ys[e] = (@ELEMENT@)b[(block * N + own) * WIDE + k + e];
  }
  operand x, y;
  memcpy(&x, xs, sizeof x);
  memcpy(&y, ys, sizeof y);
  // Of D a lane holds SUMS rows of one column.
  @RESULT@ zs[SUMS];
  for (int r = 0; r < SUMS; r++) zs[r] = (@RESULT@)c[((@BLOCK@) * M + @ROW@) * N + lane % N];
  sums z;
  memcpy(&z, zs, sizeof z);
  z = @CALL@(x, y, z, 0, 0, 0);
  memcpy(zs, &z, sizeof z);
  for (int r = 0; r < SUMS; r++) d[((@BLOCK@) * M + @ROW@) * N + lane % N] = zs[r];
}
