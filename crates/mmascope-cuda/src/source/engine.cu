// ---- engine ----
typedef unsigned long long word;
enum { K = @K@, SCALES = @SCALES@ };
typedef @A_TYPE@ a_type;
typedef @B_TYPE@ b_type;
typedef @S_TYPE@ scale_type;
typedef @D_TYPE@ d_type;

// One thread an output: steps of an instruction's K each, d being the next step's c. Rows of A and columns of B lie one after
// the other, `length` words each, and so do their scales, `blocks` each. `d` holds c before and d after, row by row.
extern "C" __global__ void product(const a_type *a, const b_type *b, const scale_type *scale_a, const scale_type *scale_b, d_type *d,
                                   word length, word blocks, word first_row, word first_column, word first_step, word steps,
                                   word columns, word count) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const word i = first_row + t / columns, j = first_column + t % columns;
  const a_type *row = a + i * length + first_step * K;
  const b_type *column = b + j * length + first_step * K;
  const scale_type *row_scale = scale_a + i * blocks + first_step * SCALES, *column_scale = scale_b + j * blocks + first_step * SCALES;
  model::word_of_model sum = d[t];
  for (word step = 0; step < steps; step++) {
    model::word_of_model x[K], y[K], sx[SCALES ? SCALES : 1], sy[SCALES ? SCALES : 1];
    for (int k = 0; k < K; k++) x[k] = row[step * K + k], y[k] = column[step * K + k];
    for (int s = 0; s < SCALES; s++) sx[s] = row_scale[step * SCALES + s], sy[s] = column_scale[step * SCALES + s];
    (void)sx, (void)sy;
    sum = model::dot(x, y, sum@SCALE_ARGUMENTS@);
  }
  d[t] = (d_type)sum;
}
