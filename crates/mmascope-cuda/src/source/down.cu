// ---- sums by multiply-adds that round down ----
// A block's sum starts at 1.5 * 2^(E + 52 - F), so that its last place is the grid 2^(E - F), and every multiply-add rounds toward
// minus infinity: the floor on the grid. The unit truncates. So values of A are too large by 2^-30 of themselves, zeros are
// +-2^-300, and no product lies on the grid: the floor of each negative product is its truncation less one. How many are
// negative, one word of signs for each block's row and column says.
enum { L = @L@, F = @F@, E0 = @E0@, GROUPS = (K + L - 1) / L, NOTHING = -10000 };
struct Format { int exponent_bits, m, bias, specials, shift; };
enum { IEEE, ALL_ONES_NAN, NEGATIVE_ZERO_NAN, NO_SPECIALS };
static __device__ const Format format_a = @FORMAT_A@, format_b = @FORMAT_B@, format_c = @FORMAT_C@;

static __device__ double power_of_two(int e) { return __longlong_as_double((long long)(e + 1023) << 52); }

struct Number { double value; int exponent; bool special, negative; };
static __device__ Number number_of(const Format &f, word register_word) {
  const word code = register_word >> f.shift, fraction = code & (((word)1 << f.m) - 1);
  const int field = (int)(code >> f.m) & ((1 << f.exponent_bits) - 1), top = (1 << f.exponent_bits) - 1;
  const bool negative = code >> (f.m + f.exponent_bits) & 1;
  const bool special = f.specials == IEEE ? field == top
                     : f.specials == ALL_ONES_NAN ? field == top && fraction == (((word)1 << f.m) - 1)
                     : f.specials == NEGATIVE_ZERO_NAN ? negative && field == 0 && fraction == 0 : false;
  const word significand = field ? fraction | (word)1 << f.m : fraction;
  const int exponent = (field ? field : 1) - f.bias;
  // Whole numbers of so few bits are exact.
  const double magnitude = (double)(long long)significand * power_of_two(exponent - f.m);
  return Number{negative ? -magnitude : magnitude, significand ? exponent : NOTHING, special, negative};
}

// A thread has ROWS rows, which follow each other, and COLUMNS columns, WARP apart: all its addresses are two and constants. What it
// reads beyond the last row or column stands for nothing, and is not kept.
enum { ROWS = 4, COLUMNS = 4, WARP = 32, BEYOND = COLUMNS * WARP };

// One thread a step of a line (a row of A, or a column of B): values and exponents by k, signs by blocks, a mark for what is not finite.
template <class T>
static __device__ void expand(const T *codes, const Format &f, bool is_a, word lines, word length, double *values, short *exponents, unsigned *signs,
                              unsigned char *marks) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, steps = length / K, stride = lines + BEYOND;
  if (t >= lines * steps) return;
  const word line = t % lines, step = t / lines;
  bool special = false;
  for (int group = 0; group < GROUPS; group++) {
    unsigned negative = 0;
    for (int i = 0; i < L && group * L + i < K; i++) {
      const word k = step * K + group * L + i;
      const Number x = number_of(f, codes[line * length + k]);
      const double zero = x.negative ? -power_of_two(-300) : power_of_two(-300);
      values[k * stride + line] = x.exponent == NOTHING ? zero : is_a ? x.value * (1 + power_of_two(-30)) : x.value;
      exponents[k * stride + line] = (short)x.exponent;
      negative |= (unsigned)x.negative << i;
      special |= x.special;
    }
    signs[(step * GROUPS + group) * stride + line] = negative;
  }
  marks[step * stride + line] = special;
}
extern "C" __global__ void expand_a(const a_type *codes, word lines, word length, double *values, short *exponents, unsigned *signs, unsigned char *marks) {
  expand(codes, format_a, true, lines, length, values, exponents, signs, marks);
}
extern "C" __global__ void expand_b(const b_type *codes, word lines, word length, double *values, short *exponents, unsigned *signs, unsigned char *marks) {
  expand(codes, format_b, false, lines, length, values, exponents, signs, marks);
}

// A sum in units of 2^grid as the unit's result.
static __device__ word result_of(double sum, int grid) {
  if (sum == 0) return 0;
  const double value = sum * power_of_two(grid), size = value < 0 ? -value : value;
@FINISH@
}

// One warp ROWS x (COLUMNS * WARP) outputs.
extern "C" __global__ void product_down(const double *x, const short *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const double *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        const a_type *a, const b_type *b, d_type *d, word lines_a, word lines_b, word length,
                                        word first_row, word first_column, word first_step, word steps, word rows, word columns) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, warp = t / WARP, across = (columns + BEYOND - 1) / BEYOND;
  const word own_row = warp / across * ROWS, own_column = warp % across * BEYOND + t % WARP;
  if (own_row >= rows) return;
  const word stride_a = lines_a + BEYOND, stride_b = lines_b + BEYOND, row = first_row + own_row, column = first_column + own_column;
  x += row, x_exponents += row, x_signs += row, x_marks += row;
  y += column, y_exponents += column, y_signs += column, y_marks += column;
  word sum[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int s = 0; s < COLUMNS; s++)
      sum[r][s] = own_row + r < rows && own_column + s * WARP < columns ? d[(own_row + r) * columns + own_column + s * WARP] : 0;
  for (word step = first_step; step < first_step + steps; step++) {
    // What is not finite in a step's operands or in c is left to the model itself.
    bool special[ROWS][COLUMNS];
    word before[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++)
      for (int s = 0; s < COLUMNS; s++) {
        special[r][s] = x_marks[step * stride_a + r] || y_marks[step * stride_b + s * WARP];
        before[r][s] = sum[r][s];
      }
    for (int group = 0; group < GROUPS; group++) {
      const word first = step * K + group * L;
      const int count = K - group * L < L ? K - group * L : L;
      int largest[ROWS][COLUMNS];
      double total[ROWS][COLUMNS];
      for (int r = 0; r < ROWS; r++)
        for (int s = 0; s < COLUMNS; s++) {
          const Number own = number_of(format_c, sum[r][s]);
          // A sum may have left the format in the block before.
          special[r][s] |= own.special;
          largest[r][s] = own.exponent > E0 ? own.exponent : E0;
        }
      for (int i = 0; i < count; i++) {
        const short *xs = x_exponents + (first + i) * stride_a, *ys = y_exponents + (first + i) * stride_b;
        for (int r = 0; r < ROWS; r++)
          for (int s = 0; s < COLUMNS; s++) {
            const int e = xs[r] + ys[s * WARP];
            largest[r][s] = e > largest[r][s] ? e : largest[r][s];
          }
      }
      for (int r = 0; r < ROWS; r++)
        for (int s = 0; s < COLUMNS; s++) total[r][s] = 1.5 * power_of_two(largest[r][s] + 52 - F);
      for (int i = 0; i < count; i++) {
        const double *xs = x + (first + i) * stride_a, *ys = y + (first + i) * stride_b;
        for (int r = 0; r < ROWS; r++)
          for (int s = 0; s < COLUMNS; s++) total[r][s] = __fma_rd(xs[r], ys[s * WARP], total[r][s]);
      }
      for (int r = 0; r < ROWS; r++)
        for (int s = 0; s < COLUMNS; s++) {
          const int grid = largest[r][s] - F;
          const word at = step * GROUPS + group;
          const int negative = __popc(x_signs[at * stride_a + r] ^ y_signs[at * stride_b + s * WARP]);
          const double up = power_of_two(-grid);
          // Exact: whole numbers below 2^53.
          const double c = (double)(long long)(number_of(format_c, sum[r][s]).value * up);
          const double whole = (total[r][s] - 1.5 * power_of_two(largest[r][s] + 52 - F)) * up + negative + c;
          sum[r][s] = result_of(whole, grid);
        }
    }
    for (int r = 0; r < ROWS; r++)
      for (int s = 0; s < COLUMNS; s++) {
        if (!special[r][s] || own_row + r >= rows || own_column + s * WARP >= columns) continue;
        model::word_of_model u[K], v[K];
        const a_type *own_a = a + (row + r) * length + step * K;
        const b_type *own_b = b + (column + s * WARP) * length + step * K;
        for (int k = 0; k < K; k++) u[k] = own_a[k], v[k] = own_b[k];
        sum[r][s] = model::dot(u, v, before[r][s]);
      }
  }
  for (int r = 0; r < ROWS; r++)
    for (int s = 0; s < COLUMNS; s++)
      if (own_row + r < rows && own_column + s * WARP < columns) d[(own_row + r) * columns + own_column + s * WARP] = (d_type)sum[r][s];
}
