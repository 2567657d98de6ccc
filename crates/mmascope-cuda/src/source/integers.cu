// ---- sums of integers ----
// PACK codes of a line lie in one word: four bytes, 32 bits, or one number of up to 32 bits. LEAST and MOST: the ends of an accumulator that saturates.
enum { PACK = @PACK@, SLOTS = K / PACK, BLOCK = @BLOCK@, WITH_EXPONENTS = 0 };
struct Format { int bits, is_signed, shift; };
static __device__ const Format format_a = @FORMAT_A@, format_b = @FORMAT_B@;
typedef unsigned operand;
typedef short exponent_a;
typedef @VALUE@ value;
enum { BEYOND = 128, ALIGNED = 8 };
static __device__ word stride_of(word lines) { return (lines + BEYOND + ALIGNED - 1) / ALIGNED * ALIGNED; }
// Every code is a number: nothing is left to other kernels.
static __device__ bool holds(value) { return true; }
static __device__ value begun(word c) { return (value)c; }
static __device__ d_type word_of(value x) { return (d_type)x; }

template <class T>
static __device__ void expand(const T *codes, const Format &f, bool, word lines, word steps, word line_stride, word k_stride, operand *values, short *,
                              unsigned *, unsigned char *marks) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, stride = stride_of(lines);
  if (t >= lines * steps) return;
  const word line = t % lines, step = t / lines;
  for (int slot = 0; slot < SLOTS; slot++) {
    unsigned packed = 0;
    for (int i = 0; i < PACK; i++) {
      const word code = codes[line * line_stride + (step * K + slot * PACK + i) * k_stride] >> f.shift & (((word)1 << f.bits) - 1);
      const unsigned number = (unsigned)(f.is_signed && code >> (f.bits - 1) ? code | ~(word)0 << f.bits : code);
      packed |= PACK == 1 ? number : (number & (PACK == 4 ? 255u : 1u)) << i * (32 / PACK);
    }
    values[(step * SLOTS + slot) * stride + line] = packed;
  }
  marks[step * stride + line] = 0;
}
