// An output for which something does not hold is left as it is, and is marked in `again`.
extern "C" __global__ void __launch_bounds__(128) product_fast(const operand *x, const short *x_exponents, const unsigned *x_signs, const unsigned char *x_marks,
                                        const operand *y, const short *y_exponents, const unsigned *y_signs, const unsigned char *y_marks,
                                        d_type *d, unsigned char *again, word lines_a, word lines_b, word first_row, word first_column,
                                        word first_step, word steps, word rows, word columns) {
  enum { EXPONENTS = WITH_EXPONENTS ? DEEP : 1, SIGNS = WITH_EXPONENTS ? BLOCKS : 1 };
  __shared__ __align__(16) operand shared_x[DEEP][HIGH];
  __shared__ __align__(16) operand shared_y[DEEP][WIDTH];
  __shared__ __align__(16) short shared_x_exponents[EXPONENTS][HIGH];
  __shared__ __align__(16) short shared_y_exponents[EXPONENTS][WIDTH];
  __shared__ __align__(16) unsigned shared_x_signs[SIGNS][HIGH];
  __shared__ __align__(16) unsigned shared_y_signs[SIGNS][WIDTH];
  __shared__ unsigned char shared_marks[HIGH + WIDTH];
  const int t = threadIdx.x;
  // Tiles begin with a multiple of 16 bytes: a part that does not has some rows and columns before its first ones, which are not kept.
  const word before_rows = first_row % ALIGNED, before_columns = first_column % ALIGNED;
  first_row -= before_rows, first_column -= before_columns;
  const word across = (before_columns + columns + WIDTH - 1) / WIDTH, tile_row = blockIdx.x / across * HIGH, tile_column = blockIdx.x % across * WIDTH;
  const word stride_a = stride_of(lines_a), stride_b = stride_of(lines_b), row_a = first_row + tile_row, column_b = first_column + tile_column;
  const Operand of_x = {x + row_a, x_exponents + row_a, x_signs + row_a, stride_a};
  const Operand of_y = {y + column_b, y_exponents + column_b, y_signs + column_b, stride_b};
  // A warp has 4 * ROWS rows and all columns: 4 x 8 threads.
  const Tile tile = {shared_x, shared_y, shared_x_exponents, shared_y_exponents, shared_x_signs, shared_y_signs, t / 32 * 4 * ROWS + t % 32 / 8 * ROWS, t % 8 * 4};
  for (int line = t; line < HIGH + WIDTH; line += WORKERS) {
    bool mark = false;
    for (word step = first_step; step < first_step + steps; step++)
      mark |= line < HIGH ? x_marks[step * stride_a + row_a + line] : y_marks[step * stride_b + column_b + line - HIGH];
    shared_marks[line] = mark;
  }
  value own[ROWS][COLUMNS];
  unsigned bad = 0;
  EACH_OUTPUT {
    const word row = tile_row + tile.row + r - before_rows, column = tile_column + tile.column + place_of(c) - before_columns;
    own[r][c] = begun(row < rows && column < columns ? d[row * columns + column] : 0);
    MARK(r, c, !holds(own[r][c]));
  }
@BODY@
  // Marks of lines are there: who had no slots to wait for waits here.
  __syncthreads();
  EACH_OUTPUT {
    const word row = tile_row + tile.row + r - before_rows, column = tile_column + tile.column + place_of(c) - before_columns;
    if (row >= rows || column >= columns) continue;
    MARK(r, c, !holds(own[r][c]) || shared_marks[tile.row + r] || shared_marks[HIGH + tile.column + place_of(c)]);
    const bool left = bad >> (r * COLUMNS + c) & 1;
    again[row * columns + column] = left;
    if (!left) d[row * columns + column] = word_of(own[r][c]);
  }
}
