// ---- one fused sum, whose exponents are found a block ahead ----
// The slots of a block lie in one part of the shared memory, those of a long one in several; short blocks lie in one together.
enum { ROWS = @ROWS@, PAIRS = 4, HIGH = 16 * ROWS, WIDTH = 64, WORKERS = 128, DEPTH = 16, BLOCKS = L < DEPTH ? DEPTH / L : 1,
       DEEP = L < DEPTH ? BLOCKS * L : DEPTH };
// From the largest exponent to the exponent of a sum's start. What the largest exponent is at least.
enum { START = (PLACES - F) * UNIT + UNIT / 2, FLOOR = (E0 + BIAS) * UNIT };
static_assert(FLOOR > 0, "no largest exponent is negative: two lie in a word and are added to at once");

// Exponents of A lie twice in a word.
struct Part {
  unsigned x[DEEP][HIGH], y[DEEP][WIDTH], x_exponents[DEEP][HIGH];
  short y_exponents[DEEP][WIDTH];
  unsigned x_signs[BLOCKS][HIGH], y_signs[BLOCKS][WIDTH];
};
// A thread's rows follow each other; so do four of its columns, and four more 32 columns on. Two columns are a pair.
static __device__ int column_of(int own, int p, int s) { return p / 2 * 32 + own * 4 + p % 2 * 2 + s; }

static __device__ __forceinline__ void take_exponents(const Part &part, int slot, int row, int own, unsigned (&largest)[ROWS][PAIRS]) {
  const Two ys[2] = {*(const Two *)&part.y_exponents[slot][own * 4], *(const Two *)&part.y_exponents[slot][32 + own * 4]};
  const Four xs = *(const Four *)&part.x_exponents[slot][row];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) largest[r][p] = __viaddmax_s16x2(xs.of[r], ys[p / 2].of[p % 2], largest[r][p]);
}
static __device__ __forceinline__ void take_products(const Part &part, int slot, int row, int own, value (&sum)[ROWS][PAIRS][2]) {
  const Four ys[2] = {*(const Four *)&part.y[slot][own * 4], *(const Four *)&part.y[slot][32 + own * 4]};
  const Four xs = *(const Four *)&part.x[slot][row];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++)
        sum[r][p][s] = multiply_add_down(value_of_a(xs.of[r]), value_of_b(ys[p / 2].of[p % 2 * 2 + s]), sum[r][p][s]);
}
// Exponents for the block to come, multiply-adds for this one: other pipes do those.
template <int COUNT>
static __device__ __forceinline__ void take(const Part &part, int from, int row, int own, unsigned (&ahead)[ROWS][PAIRS], value (&sum)[ROWS][PAIRS][2]) {
#pragma unroll 8
  for (int slot = 0; slot < COUNT; slot++) take_exponents(part, from + slot, row, own, ahead), take_products(part, from + slot, row, own, sum);
}
// Where a sum of products started: its exponent is that still.
static __device__ __forceinline__ value start_of(value sum) { return made((upper(sum) & ~0u << TOP) | 1u << (TOP - 1), 0); }

// One block of threads HIGH x WIDTH outputs; a thread ROWS rows that follow each other, and PAIRS pairs of columns. An output for which
// something does not hold is left as it is, and is marked in `again`: operands that are not finite, sums beyond the format or
// below its normal numbers.
extern "C" __global__ void __launch_bounds__(128, WIDE ? 3 : MOST_RESIDENT) product_fast(const unsigned *x, const unsigned *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const unsigned *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        d_type *d, unsigned char *again, word lines_a, word lines_b, word first_row, word first_column,
                                        word first_step, word steps, word rows, word columns) {
  // One is computed while the other is filled.
  __shared__ __align__(16) Part parts[2];
  __shared__ unsigned char shared_marks[HIGH + WIDTH];
  const int t = threadIdx.x;
  // Tiles begin with a multiple of 16 bytes: a part that does not has some rows and columns before its first ones, which are not kept.
  const word before_rows = first_row % ALIGNED, before_columns = first_column % ALIGNED;
  first_row -= before_rows, first_column -= before_columns;
  const word across = (before_columns + columns + WIDTH - 1) / WIDTH, tile_row = blockIdx.x / across * HIGH, tile_column = blockIdx.x % across * WIDTH;
  const word stride_a = stride_of(lines_a), stride_b = stride_of(lines_b);
  x += first_row + tile_row, x_exponents += first_row + tile_row, x_signs += first_row + tile_row, x_marks += first_row + tile_row;
  y += first_column + tile_column, y_exponents += first_column + tile_column, y_signs += first_column + tile_column, y_marks += first_column + tile_column;
  // A warp has 4 * ROWS rows and all columns: 4 x 8 threads. Neighbours have the same columns, so that their loads are one.
  const int own_row = t / 32 * 4 * ROWS + (t % 2 + t % 32 / 16 * 2) * ROWS, own = t / 2 % 8;
  for (int line = t; line < HIGH + WIDTH; line += WORKERS) {
    bool mark = false;
#pragma unroll 8
    for (word step = first_step; step < first_step + steps; step++) mark |= line < HIGH ? x_marks[step * stride_a + line] : y_marks[step * stride_b + line - HIGH];
    shared_marks[line] = mark;
  }

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
        const word row = tile_row + own_row + r - before_rows, column = tile_column + column_of(own, p, s) - before_columns;
        const word c = row < rows && column < columns ? d[row * columns + column] : 0;
        const Number number = number_of(format_c, c);
        // What is not finite has a field beyond every limit. So has what has none of its own: numbers below those of f32.
        const bool beyond = number.special || (!WIDE && !number.zero && number.exponent <= 1 - BIAS && (upper(number.size) >> 16 & FIELDS) == 0);
        const value size = beyond ? made((unsigned)FIELDS << 16, 0) : number.size;
        sum[r][p][s] = number.negative ? -size : size;
      }
  const word begin = first_step * K, end = (first_step + steps) * K;
  unsigned ahead[ROWS][PAIRS];
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) ahead[r][p] = FLOOR * 0x10001u;
  // The first block's exponents.
  for (int from = 0; from < L; from += DEEP) {
    const int count = L - from < DEEP ? L - from : DEEP;
    __syncthreads();
    copy_later<WORKERS, DEEP>(x_exponents, stride_a, begin + from, count, parts[1].x_exponents);
    copy_later<WORKERS, DEEP>(y_exponents, stride_b, begin + from, count, parts[1].y_exponents);
    wait_for_copies();
    __syncthreads();
    for (int slot = 0; slot < count; slot++) take_exponents(parts[1], slot, own_row, own, ahead);
  }
  // How many slots from one on lie in a part, where so many of their block are done: several blocks, or at most one.
  const auto count_of = [&](word first, int done) {
    const word left = L < DEPTH ? end - first : L - done;
    return left < DEEP ? (int)left : DEEP;
  };
  // Exponents are those of the next block.
  const auto copy = [&](Part &to, word first, int count) {
    copy_later<WORKERS, DEEP>(x, stride_a, first, count, to.x), copy_later<WORKERS, DEEP>(y, stride_b, first, count, to.y);
    const word left = first + L < end ? end - first - L : 0;
    const int next = left < count ? (int)left : count;
    copy_later<WORKERS, DEEP>(x_exponents, stride_a, first + L, next, to.x_exponents);
    copy_later<WORKERS, DEEP>(y_exponents, stride_b, first + L, next, to.y_exponents);
    const int blocks = L < DEPTH ? count / L : 1;
    copy_later<WORKERS, BLOCKS>(x_signs, stride_a, first / L, blocks, to.x_signs), copy_later<WORKERS, BLOCKS>(y_signs, stride_b, first / L, blocks, to.y_signs);
  };
  copy(parts[0], begin, count_of(begin, 0));
  int which = 0, done = 0;
  for (word first = begin; first < end;) {
    const int count = count_of(first, done), done_then = L <= DEPTH || done + count == L ? 0 : done + count;
    wait_for_copies();
    __syncthreads();
    const Part &part = parts[which];
    which ^= 1;
    if (first + count < end) copy(parts[which], first + count, count_of(first + count, done_then));
#pragma unroll 1
    for (int from = 0; from < count; from += L < DEPTH ? L : DEPTH) {
      if (done == 0) {
        const int block = L < DEPTH ? from / L : 0;
        const Four x_negative = *(const Four *)&part.x_signs[block][own_row];
        const Four y_negative[2] = {*(const Four *)&part.y_signs[block][own * 4], *(const Four *)&part.y_signs[block][32 + own * 4]};
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++) {
            unsigned fields = __byte_perm(upper(sum[r][p][0]), upper(sum[r][p][1]), 0x7632) & FIELDS * 0x10001u;
            most[p] = __vmaxs2(most[p], fields);
            if (SUBNORMALS)
              // Numbers below the normal ones count as the smallest of those, zero as nothing.
              fields = __vmaxs2(fields, (SMALLEST + BIAS) * UNIT * 0x10001u) & ~__vcmpeq2(fields, 0);
            else
              // A zero's field wraps to the largest there is.
              least[p] = __viaddmin_u16x2(fields, (-UNIT & 0xffff) * 0x10001u, least[p]);
            // Where the exponents of the starts stand.
            const unsigned starts = __vmaxs2(fields, ahead[r][p]) + START * 0x10001u;
            ahead[r][p] = FLOOR * 0x10001u;
#pragma unroll
            for (int s = 0; s < 2; s++) {
              const value c = sum[r][p][s];
              const unsigned negative = __popc(x_negative.of[r] ^ y_negative[p / 2].of[p % 2 * 2 + s]) + (upper(c) >> 31);
              sum[r][p][s] = add_down(set_last_bit(c), made(s ? starts & 0xffff0000u : starts << 16, negative));
            }
          }
      }
      if (L < DEPTH)
        take<L>(part, from, own_row, own, ahead, sum);
      else if (count == DEPTH)
        take<DEPTH>(part, 0, own_row, own, ahead, sum);
      else
        for (int slot = 0; slot < count; slot++) take<1>(part, slot, own_row, own, ahead, sum);
      if (done_then == 0) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
          for (int p = 0; p < PAIRS; p++)
#pragma unroll
            for (int s = 0; s < 2; s++) sum[r][p][s] = finished(sum[r][p][s] - start_of(sum[r][p][s]));
      }
    }
    first += count, done = done_then;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
#pragma unroll
      for (int s = 0; s < 2; s++) {
        const word row = tile_row + own_row + r - before_rows, column = tile_column + column_of(own, p, s) - before_columns;
        if (row >= rows || column >= columns) continue;
        const unsigned field = upper(sum[r][p][s]) >> 16 & FIELDS, before = most[p] >> (16 * s) & 0xffff, lowest = least[p] >> (16 * s) & 0xffff;
        const unsigned high = (LARGEST + BIAS) * UNIT, low = (SMALLEST + BIAS - 1) * UNIT;
        const bool holds = field <= high && before <= high && (SUBNORMALS || (lowest >= low && ((field - UNIT) & 0xffff) >= low));
        again[row * columns + column] = !holds || shared_marks[own_row + r] || shared_marks[HIGH + column_of(own, p, s)];
        if (!again[row * columns + column]) d[row * columns + column] = word_of(sum[r][p][s]);
      }
}
