// ---- engine ----
typedef unsigned long long word;
enum { K = @K@, SCALES = @SCALES@ };
typedef @A_TYPE@ a_type;
typedef @B_TYPE@ b_type;
typedef @S_TYPE@ scale_type;
typedef @D_TYPE@ d_type;

// One thread an output: steps of an instruction's K each, d being the next step's c. Rows of A and columns of B lie
// `line_a` and `line_b` words apart, their k `k_a` and `k_b`; their scales one after the other, `blocks` each. `d` holds c before and d after, row by row.
// Where `only` is given, the others stay.
extern "C" __global__ void product(const a_type *a, const b_type *b, const scale_type *scale_a, const scale_type *scale_b, d_type *d,
                                   const unsigned char *only, word line_a, word k_a, word line_b, word k_b, word blocks, word first_row, word first_column, word first_step, word steps,
                                   word columns, word count) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count || (only && !only[t])) return;
  const word i = first_row + t / columns, j = first_column + t % columns;
  const a_type *row = a + i * line_a + first_step * K * k_a;
  const b_type *column = b + j * line_b + first_step * K * k_b;
  const scale_type *row_scale = scale_a + i * blocks + first_step * SCALES, *column_scale = scale_b + j * blocks + first_step * SCALES;
  model::word_of_model sum = d[t];
  for (word step = 0; step < steps; step++) {
    model::word_of_model x[K], y[K], sx[SCALES ? SCALES : 1], sy[SCALES ? SCALES : 1];
    for (int k = 0; k < K; k++) x[k] = row[(step * K + k) * k_a], y[k] = column[(step * K + k) * k_b];
    for (int s = 0; s < SCALES; s++) sx[s] = row_scale[step * SCALES + s], sy[s] = column_scale[step * SCALES + s];
    (void)sx, (void)sy;
    sum = model::dot(x, y, sum@SCALE_ARGUMENTS@);
  }
  d[t] = (d_type)sum;
}
