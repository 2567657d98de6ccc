// Fragments are opaque: the instructions themselves take A by rows, B by columns, C and D by rows.
extern "C" __global__ void tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x;
  a += (word)blockIdx.x * A_SIZE, b += (word)blockIdx.x * B_SIZE, c += (word)blockIdx.x * C_SIZE, d += (word)blockIdx.x * C_SIZE;
  __shared__ __align__(128) @ELEMENT@ x[M * K], y[N * K];
  __shared__ __align__(128) @C_ELEMENT@ z[M * N];
  __shared__ __align__(128) @D_ELEMENT@ w[M * N];
  for (int i = lane; i < M * K; i += 32) x[i] = (@ELEMENT@)a[i];
  for (int i = lane; i < N * K; i += 32) y[i] = (@ELEMENT@)b[i];
  for (int i = lane; i < M * N; i += 32) z[i] = (@C_ELEMENT@)c[i];
  __syncthreads();
  asm volatile("{\n.reg @FRAGMENT@ a<8>, b<8>;\n.reg @C_FRAGMENT@ c<8>;\n.reg @D_FRAGMENT@ d<8>;\n"
    "wmma.load.a.sync.aligned.row.@SHAPE@.@A@ @LIST_A@, [%0], @K@;\n"
    "wmma.load.b.sync.aligned.col.@SHAPE@.@A@ @LIST_B@, [%1], @K@;\n"
    "wmma.load.c.sync.aligned.row.@SHAPE@.@C@ @LIST_C@, [%2], @N@;\n"
    "wmma.mma.sync.aligned.row.col.@SHAPE@@TYPES@ @LIST_D@, @LIST_A@, @LIST_B@, @LIST_C@;\n"
    "wmma.store.d.sync.aligned.row.@SHAPE@.@D@ [%3], @LIST_D@, @N@;\n}"
    :: "l"(x), "l"(y), "l"(z), "l"(w) : "memory");
  __syncthreads();
  for (int i = lane; i < M * N; i += 32) d[i] = w[i];
}
