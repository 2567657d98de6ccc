// ---- sums by multiply-adds that round down ----
// A block's sum starts at 1.5 * 2^(E + PLACES - F), so that its last place is the grid 2^(E - F), and every multiply-add rounds toward
// minus infinity: the floor on the grid. The unit truncates. So values of A are too large by a little of themselves, zeros are
// tiny, c's last bit is set, and no term lies on the grid: the floor of each negative term is its truncation less one. How many
// are negative is known beforehand, from one word of signs for each block's row and column, and is where the sum starts.
//
// Between blocks a sum is a number of the format in which it is computed, cut to the places of the result. So its exponent field
// lies where the maximum takes it: exponents are fields as they stand in the upper half of a number, times 16 or 128, two to a word.
enum { L = @L@, F = @F@, E0 = @E0@, GROUPS = (K + L - 1) / L };
struct Format { int exponent_bits, m, bias, specials, shift; };
enum { IEEE, ALL_ONES_NAN, NEGATIVE_ZERO_NAN, NO_SPECIALS };
static __device__ const Format format_a = @FORMAT_A@, format_b = @FORMAT_B@, format_c = @FORMAT_C@;
#define WIDE @WIDE@
#if WIDE
typedef double value;
enum { PLACES = 52, BIAS = 1023, TOP = 20, UNIT = 16, FIELDS = 0x7ff0, NUDGE = 30, TINY = 300, NO_A = -8000, NO_B = 8000 };
static __device__ unsigned upper(value x) { return (unsigned)((word)__double_as_longlong(x) >> 32); }
static __device__ value made(unsigned high, unsigned low) { return __longlong_as_double((long long)((word)high << 32 | low)); }
static __device__ value set_last_bit(value x) { return __longlong_as_double(__double_as_longlong(x) | 1); }
static __device__ value cleared(value x, int m) { return __longlong_as_double(__double_as_longlong(x) & (long long)(~(word)0 << (52 - m))); }
static __device__ value add_down(value x, value y) { return __dadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fma_rd(x, y, z); }
static __device__ value power_of_two(int e) { return __longlong_as_double((long long)(e + 1023) << 52); }
#else
typedef float value;
enum { PLACES = 23, BIAS = 127, TOP = 23, UNIT = 128, FIELDS = 0x7f80, NUDGE = 20, TINY = 90, NO_A = -20000, NO_B = -10000 };
static __device__ unsigned upper(value x) { return __float_as_uint(x); }
static __device__ value made(unsigned high, unsigned low) { return __uint_as_float(high + low); }
static __device__ value set_last_bit(value x) { return __uint_as_float(__float_as_uint(x) | 1); }
static __device__ value cleared(value x, int m) { return __uint_as_float(__float_as_uint(x) & (0xffffffffu << (23 - m))); }
static __device__ value add_down(value x, value y) { return __fadd_rd(x, y); }
static __device__ value multiply_add_down(value x, value y, value z) { return __fmaf_rd(x, y, z); }
static __device__ value power_of_two(int e) { return __uint_as_float((unsigned)(e + 127) << 23); }
#endif

struct Number { value size; int exponent; bool special, negative, zero; };
static __device__ Number number_of(const Format &f, word register_word) {
  const word code = register_word >> f.shift, fraction = code & (((word)1 << f.m) - 1);
  const int field = (int)(code >> f.m) & ((1 << f.exponent_bits) - 1), top = (1 << f.exponent_bits) - 1;
  const bool negative = code >> (f.m + f.exponent_bits) & 1;
  const bool special = f.specials == IEEE ? field == top
                     : f.specials == ALL_ONES_NAN ? field == top && fraction == (((word)1 << f.m) - 1)
                     : f.specials == NEGATIVE_ZERO_NAN ? negative && field == 0 && fraction == 0 : false;
  const word significand = field ? fraction | (word)1 << f.m : fraction;
  const int exponent = (field ? field : 1) - f.bias;
  // Whole numbers of so few bits are exact; two steps, since a power of two alone may lie below the format.
  const int place = exponent - f.m, half = place / 2;
  const value size = (value)(long long)significand * power_of_two(half) * power_of_two(place - half);
  return Number{size, exponent, special, negative, significand == 0};
}

// What threads read beyond the last row or column stands for nothing, and is not kept.
enum { ROWS = 4, PAIRS = 4, TILE = 64, WORKERS = 128, BEYOND = TILE, BLOCKS = L < 16 && K % L == 0 ? 16 / L : 1, DEEP = BLOCKS * L };

// What a thread takes at once.
struct alignas(16) Rows { value of[ROWS]; };
struct alignas(16) RowExponents { unsigned of[ROWS]; };
struct alignas(16) PairExponents { unsigned of[PAIRS]; };
struct alignas(2 * sizeof(value)) Two { value of[2]; };

// One thread a step of a line (a row of A, or a column of B): values and exponents by k, signs by blocks, a mark for what is not finite.
template <class T>
static __device__ void expand(const T *codes, const Format &f, bool is_a, word lines, word steps, word line_stride, word k_stride, value *values,
                              short *exponents, unsigned *signs, unsigned char *marks) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x, stride = lines + BEYOND;
  if (t >= lines * steps) return;
  const word line = t % lines, step = t / lines;
  bool special = false;
  for (int group = 0; group < GROUPS; group++) {
    unsigned negative = 0;
    for (int i = 0; i < L && group * L + i < K; i++) {
      const word k = step * K + group * L + i;
      const Number x = number_of(f, codes[line * line_stride + k * k_stride]);
      const value size = x.zero ? power_of_two(-TINY) : is_a ? x.size * (1 + power_of_two(-NUDGE)) : x.size;
      values[k * stride + line] = x.negative ? -size : size;
      exponents[k * stride + line] = (short)(is_a ? x.zero ? NO_A : x.exponent * UNIT : x.zero ? NO_B : (x.exponent + BIAS) * UNIT);
      negative |= (unsigned)x.negative << i;
      special |= x.special;
    }
    signs[(step * GROUPS + group) * stride + line] = negative;
  }
  marks[step * stride + line] = special;
}
extern "C" __global__ void expand_a(const a_type *codes, word lines, word steps, word line_stride, word k_stride, value *values, short *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_a, true, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}
extern "C" __global__ void expand_b(const b_type *codes, word lines, word steps, word line_stride, word k_stride, value *values, short *exponents,
                                    unsigned *signs, unsigned char *marks) {
  expand(codes, format_b, false, lines, steps, line_stride, k_stride, values, exponents, signs, marks);
}

// An exact sum as the unit's result, still a number of this format; and that as a word.
@FINISH@

// One block of threads TILE x TILE outputs; a thread ROWS rows that follow each other, and PAIRS pairs of columns. An output for which
// something does not hold is left as it is, and is marked in `again`: operands that are not finite, sums beyond the format or
// below its normal numbers.
extern "C" __global__ void __launch_bounds__(128, 3) product_down(const value *x, const short *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const value *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        d_type *d, unsigned char *again, word lines_a, word lines_b, word first_row, word first_column,
                                        word first_step, word steps, word rows, word columns) {
  __shared__ __align__(16) value shared_x[DEEP][TILE];
  __shared__ __align__(16) value shared_y[DEEP][TILE];
  __shared__ __align__(16) unsigned shared_x_exponents[DEEP][TILE];
  __shared__ __align__(16) unsigned shared_y_exponents[DEEP][TILE / 2];
  __shared__ unsigned shared_x_signs[BLOCKS][TILE];
  __shared__ unsigned shared_y_signs[BLOCKS][TILE];
  __shared__ unsigned char shared_marks[2 * TILE];
  const int t = threadIdx.x;
  const word across = (columns + TILE - 1) / TILE, tile_row = blockIdx.x / across * TILE, tile_column = blockIdx.x % across * TILE;
  const word stride_a = lines_a + BEYOND, stride_b = lines_b + BEYOND;
  x += first_row + tile_row, x_exponents += first_row + tile_row, x_signs += first_row + tile_row, x_marks += first_row + tile_row;
  y += first_column + tile_column, y_exponents += first_column + tile_column, y_signs += first_column + tile_column, y_marks += first_column + tile_column;
  // A warp has 16 rows and all columns: 4 x 8 threads.
  const int own_row = t / 32 * 16 + t % 32 / 8 * ROWS, own_pair = t % 8;
  bool mark = false;
  for (word step = first_step; step < first_step + steps; step++) mark |= t < TILE ? x_marks[step * stride_a + t] : y_marks[step * stride_b + t - TILE];
  shared_marks[t] = mark;

  value sum[ROWS][PAIRS][2];
  // The largest and the smallest field of a pair of columns, for all rows together.
  unsigned most[PAIRS], least[PAIRS];
#pragma unroll
  for (int p = 0; p < PAIRS; p++) most[p] = 0, least[p] = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const word row = tile_row + own_row + r, column = tile_column + p * 16 + own_pair * 2 + s;
        const word c = row < rows && column < columns ? d[row * columns + column] : 0;
        const Number own = number_of(format_c, c);
        // What is not finite has a field beyond every limit.
        const value size = own.special ? made((unsigned)FIELDS << 16, 0) : own.size;
        sum[r][p][s] = own.negative ? -size : size;
      }
  const word end = (first_step + steps) * GROUPS;
  for (word index = first_step * GROUPS; index < end; index += BLOCKS) {
    const int blocks = end - index < BLOCKS ? (int)(end - index) : BLOCKS;
    const word first = index / GROUPS * K + index % GROUPS * L;
    const int left = K - (int)(index % GROUPS) * L;
    const int length = BLOCKS > 1 ? L : left < L ? left : L, deep = BLOCKS > 1 ? blocks * L : length;
    __syncthreads();
    for (int at = t; at < deep * TILE; at += WORKERS) {
      const int k = at / TILE, line = at % TILE;
      shared_x[k][line] = x[(first + k) * stride_a + line];
      shared_y[k][line] = y[(first + k) * stride_b + line];
      shared_x_exponents[k][line] = (x_exponents[(first + k) * stride_a + line] & 0xffff) * 0x10001u;
    }
    for (int at = t; at < deep * (TILE / 2); at += WORKERS) {
      const int k = at / (TILE / 2), pair = at % (TILE / 2);
      const short *own = y_exponents + (first + k) * stride_b + 2 * pair;
      // The pairs of a thread lie one after the other.
      shared_y_exponents[k][pair % 8 * PAIRS + pair / 8] = (own[0] & 0xffff) | (unsigned)own[1] << 16;
    }
    for (int at = t; at < blocks * TILE; at += WORKERS) {
      shared_x_signs[at / TILE][at % TILE] = x_signs[(index + at / TILE) * stride_a + at % TILE];
      shared_y_signs[at / TILE][at % TILE] = y_signs[(index + at / TILE) * stride_b + at % TILE];
    }
    __syncthreads();
#pragma unroll 1
    for (int block = 0; block < blocks; block++) {
      const int begin = block * L;
      unsigned largest[ROWS][PAIRS];
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
          const unsigned fields = __byte_perm(upper(sum[r][p][0]), upper(sum[r][p][1]), 0x7632) & FIELDS * 0x10001u;
          most[p] = __vmaxs2(most[p], fields);
          // A zero's field wraps to the largest there is.
          least[p] = __viaddmin_u16x2(fields, (-UNIT & 0xffff) * 0x10001u, least[p]);
          largest[r][p] = __vmaxs2(fields, ((E0 + BIAS) * UNIT & 0xffff) * 0x10001u);
        }
#pragma unroll 2
      for (int k = begin; k < begin + length; k++) {
        const RowExponents xs = *(const RowExponents *)&shared_x_exponents[k][own_row];
        const PairExponents ys = *(const PairExponents *)&shared_y_exponents[k][own_pair * PAIRS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++) largest[r][p] = __viaddmax_s16x2(xs.of[r], ys.of[p], largest[r][p]);
      }
      // Where the exponent of a sum's start stands, but for what is the same for all.
      const unsigned start = ((unsigned)(PLACES - F) << TOP) + (1u << (TOP - 1));
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
          for (int s = 0; s < 2; s++) {
            const value c = sum[r][p][s];
            const unsigned negative = __popc(shared_x_signs[block][own_row + r] ^ shared_y_signs[block][p * 16 + own_pair * 2 + s]) + (upper(c) >> 31);
            sum[r][p][s] = add_down(set_last_bit(c), made((s ? largest[r][p] & 0xffff0000u : largest[r][p] << 16) + start, negative));
          }
#pragma unroll 2
      for (int k = begin; k < begin + length; k++) {
        const Rows xs = *(const Rows *)&shared_x[k][own_row];
        Two ys[PAIRS];
#pragma unroll
        for (int p = 0; p < PAIRS; p++) ys[p] = *(const Two *)&shared_y[k][p * 16 + own_pair * 2];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++)
#pragma unroll
            for (int s = 0; s < 2; s++) sum[r][p][s] = multiply_add_down(xs.of[r], ys[p].of[s], sum[r][p][s]);
      }
#pragma unroll
      for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
#pragma unroll
          for (int s = 0; s < 2; s++) {
            const value begun = made((s ? largest[r][p] & 0xffff0000u : largest[r][p] << 16) + start, 0);
            sum[r][p][s] = finished(sum[r][p][s] - begun);
          }
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const word row = tile_row + own_row + r, column = tile_column + p * 16 + own_pair * 2 + s;
        if (row >= rows || column >= columns) continue;
        const unsigned field = upper(sum[r][p][s]) >> 16 & FIELDS, before = most[p] >> (16 * s) & 0xffff, lowest = least[p] >> (16 * s) & 0xffff;
        const unsigned high = (LARGEST + BIAS) * UNIT, low = (SMALLEST + BIAS - 1) * UNIT;
        const bool holds = field <= high && before <= high && lowest >= low && ((field - UNIT) & 0xffff) >= low;
        again[row * columns + column] = !holds || shared_marks[own_row + r] || shared_marks[TILE + p * 16 + own_pair * 2 + s];
        if (!again[row * columns + column]) d[row * columns + column] = word_of(sum[r][p][s]);
      }
}
