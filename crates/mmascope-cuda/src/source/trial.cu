// ---- trial ----
// Cases of a tile: SIDE of them, whose a are its rows and whose b are its columns. Element (i, j) takes the c of row i's case
// where the sum of both indices is even, else of column j's.
enum { ROWS_OF_A = BLOCKS * M, ROWS_OF_B = BLOCKS * N, SIDE = BLOCKS * (M > N ? M : N) };

// One thread a case. `c` has a word for each.
extern "C" __global__ void make(word family, word seed, word first, word count, word *a, word *b, word *c) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const word tile = t / SIDE, i = t % SIDE;
  cases::Case own;
  cases::make_case((int)family, seed, first + t, own);
  if (i < ROWS_OF_A) {
    word *to = a + tile * A_SIZE + i * WIDE;
    for (int k = 0; k < K; k++) to[k] = own.a[k];
    for (int j = 0; j < SCALES; j++) to[K + j] = own.scale_a[j];
  }
  if (i < ROWS_OF_B) {
    word *to = b + tile * B_SIZE + i * WIDE;
    for (int k = 0; k < K; k++) to[k] = own.b[k];
    for (int j = 0; j < SCALES; j++) to[K + j] = own.scale_b[j];
  }
  c[t] = own.c;
}

// The row and the column of element e of a tile, counted over all blocks.
static __device__ word row_of(word e) { return e / (M * N) * M + e / N % M; }
static __device__ word column_of(word e) { return e / (M * N) * N + e % N; }

// One thread an element: spreads the cases' c over the tiles, and fills d with what no instruction leaves there.
extern "C" __global__ void spread(word first, word count, const word *of_case, word *c, word *d) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const word tile = t / C_SIZE, i = row_of(t % C_SIZE), j = column_of(t % C_SIZE);
  c[t] = of_case[tile * SIDE + (((i ^ j) & 1) == 0 ? i : j)];
  d[t] = ~(word)0;
}

// One thread an element: counts those that are not the model's, and keeps the first that come: element, got, expected.
extern "C" __global__ void compare(word count, word kept, const word *a, const word *b, const word *c, const word *d, word *found) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const word tile = t / C_SIZE, e = t % C_SIZE;
  const word *x = a + tile * A_SIZE + row_of(e) * WIDE, *y = b + tile * B_SIZE + column_of(e) * WIDE;
  const word expected = model::dot((const model::word_of_model *)x, (const model::word_of_model *)y, c[t]@SCALE_ARGUMENTS@);
  if (d[t] == expected || (is_any_nan(d[t]) && is_any_nan(expected))) return;
  const word place = atomicAdd(found, (word)1);
  if (place < kept) found[1 + 3 * place] = t, found[2 + 3 * place] = d[t], found[3 + 3 * place] = expected;
}
