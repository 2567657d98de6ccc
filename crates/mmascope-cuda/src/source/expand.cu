// ---- operands expanded ----
// Slots are the products of a step in the order in which they are summed; every L of them are a block, with one word of signs.
enum { SLOTS = @SLOTS@, BLOCK = @BLOCK@, WITH_EXPONENTS = @WITH_EXPONENTS@, IS_WIDENED = @IS_WIDENED@, WIDENED = @WIDENED@ };
@ORDER@
// An exponent, or the same twice in a word.
typedef @EXPONENT_A@ exponent_a;
static __device__ void put(short *to, int exponent) { *to = (short)exponent; }
static __device__ void put(unsigned *to, int exponent) { *to = (exponent & 0xffffu) * 0x10001u; }
// One thread a step of a line (a row of A, or a column of B): values and exponents by slot, signs by blocks, a mark for what is not finite.
template <class T, class E>
static __device__ void expand(const T *codes, const Format &f, bool is_a, word lines, word steps, word line_stride, word k_stride, operand *values,
                              E *exponents, unsigned *signs, unsigned char *marks) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, stride = stride_of(lines);
  if (t >= lines * steps) return;
  const word line = t % lines, step = t / lines;
  bool special = false;
  unsigned negative = 0;
  for (int slot = 0; slot < SLOTS; slot++) {
    const word k = step * K + k_of(slot), at = step * SLOTS + slot;
    Number x = number_of(f, codes[line * line_stride + k * k_stride]);
    special |= x.special;
    // As a number of a wider format it may have an exponent of its own.
    if (IS_WIDENED) {
      const int own = (int)(upper(x.size) >> 16 & FIELDS) / UNIT - BIAS;
      x.exponent = own > WIDENED ? own : WIDENED;
    }
    values[at * stride + line] = operand_of(x, is_a);
    if (!WITH_EXPONENTS) continue;
    put(&exponents[at * stride + line], exponent_of(x, is_a));
    negative |= (unsigned)x.negative << slot % BLOCK;
    if (slot % BLOCK == BLOCK - 1) signs[at / BLOCK * stride + line] = negative, negative = 0;
  }
  marks[step * stride + line] = special;
}
