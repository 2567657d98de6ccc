typedef unsigned long long word;
// The result of a register word. Both halves of an instruction of two values must agree; all ones but the last say that they do not.
static __device__ word result_of(word x) {
  @OUT_TYPE@ y;
  asm volatile("@TEXT@" : "=@OUT@"(y) : "@IN@"((@IN_TYPE@)(@SPREAD@)));
  const word result = (word)y & @MASK@, second = (word)y >> @SECOND@ & @MASK@;
  return result == second ? result : ~(word)1;
}
// One thread an input.
extern "C" __global__ void map(word count, const word *in, word *out, word) {
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t < count) out[t] = result_of(in[t]);
}
// One thread `each` inputs that follow each other: the sum of their hashes with their results. Of 64 bits the upper words are meant.
extern "C" __global__ void hashes(word count, word each, word *out, word) {
  enum { BELOW = @BITS@ > 32 ? 32 : 0 };
  const word t = (word)blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= count) return;
  word sum = 0;
  for (word x = t * each; x < (t + 1) * each; x++) {
    word z = (x << 32 | result_of(x << BELOW) >> BELOW) + 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    sum += z ^ z >> 31;
  }
  out[t] = sum;
}
