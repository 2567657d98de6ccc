// Cases of a family, a seed and an index, as docs/generator.md defines them: whole numbers only, no tables but one.
enum { BITS_FAMILY, NORMAL, OUTLIER, STRESS, SPARSE, CLOSE, BOUNDARY, EXHAUSTIVE };
enum { OF_CASE, OF_A, OF_B, OF_C, OF_SCALE_A, OF_SCALE_B };
struct Draw { unsigned w[4]; };

// Philox4x32-10.
static __device__ Draw draw(word seed, word index, unsigned role, unsigned position) {
  unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
  Draw v = {{(unsigned)index, (unsigned)(index >> 32), role * 65536u + position, 0}};
  for (int round = 0; round < 10; round++) {
    const word p = 0xD2511F53ull * v.w[0], q = 0xCD9E8D57ull * v.w[2];
    v = Draw{{(unsigned)(q >> 32) ^ v.w[1] ^ k0, (unsigned)q, (unsigned)(p >> 32) ^ v.w[3] ^ k1, (unsigned)p}};
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  return v;
}
static __device__ int below(unsigned n, unsigned w) { return (int)((word)n * w >> 32); }
static __device__ bool bit(unsigned x, int i) { return x >> i & 1; }
static __device__ int larger(int x, int y) { return x > y ? x : y; }
static __device__ int smaller(int x, int y) { return x < y ? x : y; }

// The operands of one dot product, as register words.
struct Case { word a[PRODUCTS], b[PRODUCTS], c, scale_a[BLOCK_COUNT], scale_b[BLOCK_COUNT]; };
