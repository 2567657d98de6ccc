enum { CTAS = @CTAS@, ROWS = M / CTAS, COLUMNS = N / CTAS, SCALES_A = 64, SCALES_B = 96, TAKEN = 128 };
static __device__ unsigned address(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }
static __device__ void meet() {
@MEET@
}
// Lane 32 i + l of the four warps holds row 32 i + l of D, a column of tensor memory for each column of D.
extern "C" __global__ void @CLUSTER@tile(const word *a, const word *b, const word *c, word *d) {
  const int lane = threadIdx.x, rank = blockIdx.x % CTAS, at_row = rank * ROWS, at_column = rank * COLUMNS;
  const word which = blockIdx.x / CTAS;
  a += which * A_SIZE, b += which * B_SIZE, c += which * C_SIZE, d += which * C_SIZE;
  __shared__ __align__(128) unsigned char x[ROWS * 32], y[COLUMNS * 32];
  __shared__ word arrived;
  __shared__ unsigned memory;
  if (lane < 32) {
    asm volatile("tcgen05.alloc.cta_group::@CTAS@.sync.aligned.shared::cta.b32 [%0], %1;" :: "r"(address(&memory)), "r"((unsigned)TAKEN) : "memory");
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::@CTAS@.sync.aligned;");
  }
  if (lane == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" :: "r"(address(&arrived)) : "memory");
  place(x, a + (at_row + lane) * WIDE, lane, @BITS_A@);
  if (lane < COLUMNS) place(y, b + (at_column + lane) * WIDE, lane, @BITS_B@);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned first = memory, own = first + ((unsigned)(lane / 32 * 32) << 16);
  for (int j = 0; j < N; j += 8) {
    unsigned z[8];
    for (int e = 0; e < 8; e++) z[e] = (unsigned)c[(at_row + lane) * N + j + e];
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1,%2,%3,%4,%5,%6,%7,%8};" ::
      "r"(own + j), "r"(z[0]), "r"(z[1]), "r"(z[2]), "r"(z[3]), "r"(z[4]), "r"(z[5]), "r"(z[6]), "r"(z[7]) : "memory");
  }
@SCALE@  asm volatile("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;" ::: "memory");
  meet();
  if (lane == 0 && rank == 0) {
    const word to_a = describe(x) | (word)1 << 46, to_b = describe(y) | (word)1 << 46;
    // @BITS@
    const unsigned encoded = @DESCRIPTOR@;
    asm volatile("tcgen05.fence::after_thread_sync;\n{\n.reg .pred p;\nsetp.eq.u32 p, 1, 1;\n@TEXT@\n}"
      :: "r"(first), "l"(to_a), "l"(to_b), "r"(encoded), "r"(first + SCALES_A), "r"(first + SCALES_B) : "memory");
    asm volatile("tcgen05.commit.cta_group::@CTAS@.mbarrier::arrive::one.shared::cluster@COMMIT@" :: "r"(address(&arrived)), "h"((unsigned short)3) : "memory");
  }
  // A second or so: what does not arrive ends the kernel instead of hanging.
  unsigned done = 0;
  for (int turn = 0; turn < 1 << 20 && !done; turn++)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(address(&arrived)) : "memory");
  if (!done) asm volatile("trap;");
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  for (int j = 0; j < N; j += 8) {
    unsigned z[8];
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];\ntcgen05.wait::ld.sync.aligned;"
      : "=r"(z[0]), "=r"(z[1]), "=r"(z[2]), "=r"(z[3]), "=r"(z[4]), "=r"(z[5]), "=r"(z[6]), "=r"(z[7]) : "r"(own + j) : "memory");
    for (int e = 0; e < 8; e++) d[(at_row + lane) * N + j + e] = z[e]@MASK@;
  }
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  meet();
  if (lane < 32) asm volatile("tcgen05.dealloc.cta_group::@CTAS@.sync.aligned.b32 %0, %1;" :: "r"(first), "r"((unsigned)TAKEN));
}
