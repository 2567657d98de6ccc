// Operands in shared memory, K-major without swizzle: 32 bytes a row. A core matrix is 8 rows of 16 bytes;
// those of the next k follow after 128 bytes, those of the next 8 rows after 256.
enum { PER = @PER@ };
static __device__ void place(unsigned char *to, const word *from, int row, int width) {
  for (int half = 0; half < 2; half++) {
    word low = 0, high = 0;
    for (int e = 0; e < PER; e++) {
      const word code = from[half * PER + e];
      const int at = e * width;
      if (at < 64) low |= code << at;
      if (at >= 64) high |= code << (at - 64);
      else if (at + width > 64) high |= code >> (64 - at);
    }
    word *core = (word *)(to + row / 8 * 256 + half * 128 + row % 8 * 16);
    core[0] = low;
    core[1] = high;
  }
}
// Offsets along k and along rows, in units of 16 bytes.
static __device__ word describe(const void *shared) {
  return (word)(128 >> 4) << 16 | (word)(256 >> 4) << 32 | ((unsigned)__cvta_generic_to_shared(shared) & 0x3ffff) >> 4;
}
