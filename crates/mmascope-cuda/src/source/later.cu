// ---- copies to shared memory that go on while a thread computes ----
// Compute capability 8.0 has them. Of 8.6, 8.9 and 12 a multiprocessor has shared memory for three blocks of threads, not for four.
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
enum { MOST_RESIDENT = 3 };
#else
enum { MOST_RESIDENT = 4 };
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void copy_16(void *to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
static __device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
// What came before copies at once; so does a chip in C++.
struct alignas(16) Sixteen { word of[2]; };
static __device__ __forceinline__ void copy_16(void *to, const void *from) { *(Sixteen *)to = *(const Sixteen *)from; }
static __device__ __forceinline__ void wait_for_copies() {}
#endif
// So many slots from one on, by all threads of a block.
template <int THREADS, int MOST, int LINES, class T>
static __device__ __forceinline__ void copy_later(const T *from, word stride, word first, int count, T (*to)[LINES]) {
  enum { EACH = 16 / sizeof(T), ACROSS = LINES / EACH, AT_ONCE = THREADS / ACROSS };
  static_assert(THREADS % ACROSS == 0, "threads in whole rows");
  const int own = threadIdx.x / ACROSS, line = threadIdx.x % ACROSS * EACH;
#pragma unroll
  for (int slot = 0; slot < MOST; slot += AT_ONCE)
    if (slot + own < count) copy_16(&to[slot + own][line], from + (first + slot + own) * stride + line);
}
