// Lane i does the product of block i.
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x;
  a += (word)blockIdx.x * A_SIZE + lane * WIDE, b += (word)blockIdx.x * B_SIZE + lane * WIDE;
  c += (word)blockIdx.x * C_SIZE + lane, d += (word)blockIdx.x * C_SIZE + lane;
  word x = 0, y = 0;
  for (int k = 0; k < K; k++) x |= a[k] << (@BITS_A@ * k), y |= b[k] << (@BITS_B@ * k);
  unsigned result;
  asm volatile("@TEXT@" : "=r"(result) : "r"((unsigned)x), "r"((unsigned)y), "r"((unsigned)*c));
  *d = result;
}
