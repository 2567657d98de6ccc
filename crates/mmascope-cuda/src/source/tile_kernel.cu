// An output for which something does not hold is left as it is, and is marked in `again`.
extern "C" __global__ void __launch_bounds__(128, @RESIDENT@ < MOST_RESIDENT ? @RESIDENT@ : MOST_RESIDENT) product_fast(const operand *x, const short *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const operand *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        d_type *d, unsigned char *again, word lines_a, word lines_b, word first_row, word first_column,
                                        word first_step, word steps, word rows, word columns) {
  __shared__ __align__(16) Part parts[PARTS_SHARED];
  __shared__ unsigned char shared_marks[HIGH + WIDTH];
  const int t = threadIdx.x;
  // Tiles begin with a multiple of 16 bytes: a part that does not has some rows and columns before its first ones, which are not kept.
  const word before_rows = first_row % ALIGNED, before_columns = first_column % ALIGNED;
  first_row -= before_rows, first_column -= before_columns;
  const word across = (before_columns + columns + WIDTH - 1) / WIDTH, tile_row = blockIdx.x / across * HIGH, tile_column = blockIdx.x % across * WIDTH;
  const word stride_a = stride_of(lines_a), stride_b = stride_of(lines_b), row_a = first_row + tile_row, column_b = first_column + tile_column;
  // A warp has 4 * ROWS rows and all columns: 4 x 8 threads. Neighbours have the same columns, so that their loads are one.
  const int own_row = t / 32 * 4 * ROWS + (t % 2 + t % 32 / 16 * 2) * ROWS, own_column = t / 2 % 8 * 4;
  const Operand of_x = {x + row_a, x_exponents + row_a, x_signs + row_a, stride_a};
  const Operand of_y = {y + column_b, y_exponents + column_b, y_signs + column_b, stride_b};
  const Shared shared = {of_x, of_y, parts, own_row, own_column};
  for (int line = t; line < HIGH + WIDTH; line += WORKERS) {
    bool mark = false;
#pragma unroll 8
    for (word step = first_step; step < first_step + steps; step++)
      mark |= line < HIGH ? x_marks[step * stride_a + row_a + line] : y_marks[step * stride_b + column_b + line - HIGH];
    shared_marks[line] = mark;
  }
  value own[ROWS][COLUMNS];
  unsigned bad = 0;
  EACH_OUTPUT {
    const word row = tile_row + own_row + r - before_rows, column = tile_column + own_column + place_of(c) - before_columns;
    own[r][c] = begun(row < rows && column < columns ? d[row * columns + column] : 0);
    MARK(r, c, !holds(own[r][c]));
  }
@BODY@
  // Marks of lines are there: who had no slots to wait for waits here.
  __syncthreads();
  EACH_OUTPUT {
    const word row = tile_row + own_row + r - before_rows, column = tile_column + own_column + place_of(c) - before_columns;
    if (row >= rows || column >= columns) continue;
    MARK(r, c, !holds(own[r][c]) || shared_marks[own_row + r] || shared_marks[HIGH + own_column + place_of(c)]);
    const bool left = bad >> (r * COLUMNS + c) & 1;
    again[row * columns + column] = left;
    if (!left) d[row * columns + column] = word_of(own[r][c]);
  }
}
