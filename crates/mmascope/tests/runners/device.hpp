// A chip in C++, enough for the generated programs: threads in lockstep, and the instructions as the PTX manual
// describes them, on whole numbers. Inline assembly becomes a call of `instruction` (tests/runners.rs).
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cfenv>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

typedef unsigned long long Word;
#define __global__
#define __device__
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __forceinline__ inline
// One thread block at a time: its shared memory is a section of the program.
#define __shared__ static __attribute__((section("shared_memory")))
extern "C" unsigned char __start_shared_memory[] __attribute__((weak));
struct dim3 { unsigned x; dim3(unsigned x) : x(x) {} };
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx, blockDim;
static std::barrier<> *all_threads;
static void __syncthreads() { all_threads->arrive_and_wait(); }
static void __syncwarp() {}
[[maybe_unused]] static int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((Word)x); }
[[maybe_unused]] static Word __umul64hi(Word x, Word y) { return (Word)((unsigned __int128)x * y >> 64); }
[[maybe_unused]] static int __popc(unsigned x) { return __builtin_popcount(x); }
// Roundings by instruction: the mode is this thread's own for one operation.
template <class Do> static auto rounded_so(int mode, Do what) {
  const int before = fegetround();
  fesetround(mode);
  const auto result = what();
  fesetround(before);
  return result;
}
[[maybe_unused]] static __attribute__((noinline)) double __fma_rd(double x, double y, double z) {
  volatile double u = x, v = y, w = z;
  return rounded_so(FE_DOWNWARD, [&] { volatile double r = std::fma(u, v, w); return (double)r; });
}
[[maybe_unused]] static __attribute__((noinline)) float __fmaf_rd(float x, float y, float z) {
  volatile float u = x, v = y, w = z;
  return rounded_so(FE_DOWNWARD, [&] { volatile float r = std::fma(u, v, w); return (float)r; });
}
template <class T> static __attribute__((noinline)) T sum_down(T x, T y) {
  volatile T u = x, v = y;
  return rounded_so(FE_DOWNWARD, [&] { volatile T r = u + v; return (T)r; });
}
[[maybe_unused]] static double __dadd_rd(double x, double y) { return sum_down(x, y); }
[[maybe_unused]] static float __fadd_rd(float x, float y) { return sum_down(x, y); }
// Two numbers of 16 bits in a word.
template <class Do> static unsigned by_halves(Do what) {
  return (unsigned)(what(0) & 0xffff) | (unsigned)(what(16) & 0xffff) << 16;
}
[[maybe_unused]] static unsigned __vmaxs2(unsigned x, unsigned y) {
  return by_halves([=](int at) { return std::max((int16_t)(x >> at), (int16_t)(y >> at)); });
}
[[maybe_unused]] static unsigned __vimax3_s16x2(unsigned x, unsigned y, unsigned z) { return __vmaxs2(__vmaxs2(x, y), z); }
[[maybe_unused]] static unsigned __viaddmax_s16x2(unsigned x, unsigned y, unsigned z) {
  return by_halves([=](int at) { return std::max((int16_t)((x >> at) + (y >> at)), (int16_t)(z >> at)); });
}
[[maybe_unused]] static unsigned __viaddmin_u16x2(unsigned x, unsigned y, unsigned z) {
  return by_halves([=](int at) { return std::min((uint16_t)((x >> at) + (y >> at)), (uint16_t)(z >> at)); });
}
[[maybe_unused]] static unsigned __vcmpeq2(unsigned x, unsigned y) {
  return by_halves([=](int at) { return (x >> at & 0xffff) == (y >> at & 0xffff) ? 0xffff : 0; });
}
[[maybe_unused]] static unsigned __byte_perm(unsigned x, unsigned y, unsigned which) {
  Word bytes = (Word)y << 32 | x;
  unsigned made = 0;
  for (int i = 0; i < 4; i++) made |= (unsigned)(bytes >> (8 * (which >> 4 * i & 7)) & 255) << 8 * i;
  return made;
}
[[maybe_unused]] static __attribute__((noinline)) float __double2float_rz(double x) {
  volatile double u = x;
  return rounded_so(FE_TOWARDZERO, [&] { volatile float r = (float)u; return (float)r; });
}
[[maybe_unused]] static float __double2float_rn(double x) { return (float)x; }
// Threads that meet nobody run one after the other here.
[[maybe_unused]] static Word atomicAdd(Word *at, Word by) { Word before = *at; *at += by; return before; }
static size_t __cvta_generic_to_shared(const void *p) { return (const unsigned char *)p - __start_shared_memory; }
template <class To, class From> static To same_bits(From from) { To to = 0; memcpy(&to, &from, sizeof from); return to; }
static double __longlong_as_double(long long x) { return same_bits<double>(x); }
static long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static float __uint_as_float(unsigned x) { return same_bits<float>(x); }
static unsigned __float_as_uint(float x) { return same_bits<unsigned>(x); }

// How this chip is wrong: nothing, or what the environment says.
static bool wrong(const char *what) { const char *w = getenv("WRONG"); return w && strcmp(w, what) == 0; }

static Word bits_of(Word x) { return x; }
static Word bits_of(unsigned x) { return x; }
static Word bits_of(unsigned short x) { return x; }
static Word bits_of(double x) { return same_bits<Word>(x); }
static Word bits_of(float x) { return same_bits<unsigned>(x); }
template <class T> static Word bits_of(T *x) { return (Word)x; }

// Formats of whole numbers have no exponent and no fraction.
struct Type { const char *name; int bits, exponent, fraction, bias; bool whole() const { return exponent + fraction == 0; } };
static const Type types[] = {{"f64", 64, 11, 52, 1023}, {"f32", 32, 8, 23, 127}, {"tf32", 32, 8, 23, 127}, {"f16", 16, 5, 10, 15},
  {"bf16", 16, 8, 7, 127}, {"e4m3", 8, 4, 3, 7}, {"e5m2", 8, 5, 2, 15}, {"e2m3", 6, 2, 3, 1}, {"e3m2", 6, 3, 2, 3}, {"e2m1", 4, 2, 1, 1},
  {"ue8m0", 8, 8, 0, 127}, {"ue4m3", 8, 4, 3, 7}, {"s32", 32, 0, 0, 0}, {"u32", 32, 0, 0, 0}, {"s16", 16, 0, 0, 0}, {"u16", 16, 0, 0, 0},
  {"s8", 8, 0, 0, 0}, {"u8", 8, 0, 0, 0}, {"s4", 4, 0, 0, 0}, {"u4", 4, 0, 0, 0}, {"b1", 1, 0, 0, 0}};
static const Type &type(const std::string &name) {
  for (const Type &t : types) if (name == t.name) return t;
  fprintf(stderr, "no type %s\n", name.c_str());
  exit(9);
}
static double decode(Word code, const Type &t) {
  if (t.whole()) return (double)(t.name[0] == 's' && code >> (t.bits - 1) & 1 ? (long long)code - (1ll << t.bits) : (long long)code);
  Word fraction = code & ((1ull << t.fraction) - 1), exponent = code >> t.fraction & ((1ull << t.exponent) - 1);
  double size = exponent || !t.fraction ? std::ldexp(1 + std::ldexp((double)fraction, -t.fraction), (int)exponent - t.bias)
                                        : std::ldexp((double)fraction, 1 - t.bias - t.fraction);
  return t.name[0] != 'u' && code >> (t.exponent + t.fraction) & 1 ? -size : size;
}
static Word encode(double x, const Type &t) {
  if (t.whole()) return (unsigned)(long long)x;
  if (t.bits == 64) return same_bits<Word>(x);
  if (t.bits == 32) return same_bits<unsigned>((float)x);
  return same_bits<unsigned short>((_Float16)x);
}
static std::vector<std::string> parts(const std::string &text) {
  std::vector<std::string> all(1);
  for (char c : text) if (c == '.') all.emplace_back(); else if (c == ' ') break; else all.back() += c;
  return all;
}
static void shape(const std::string &s, int &m, int &n, int &k) { sscanf(s.c_str(), "m%dn%dk%d", &m, &n, &k); }

// What this chip computes instead of products of whole numbers: a model, linked to the program.
typedef Word Dot(const Word *a, const Word *b, Word c, const Word *scale_a, const Word *scale_b);
[[maybe_unused]] static Dot *model_of_chip = nullptr;
struct Types { const Type &a, &b, &c, &d; const Type *scale; bool differ; };
// One element: k codes of each side, `count` scales of each.
static Word element_of(const Types &t, int k, const Word *x, const Word *y, Word c, int count, const Word *sx, const Word *sy) {
  if (model_of_chip) return model_of_chip(x, y, c, sx, sy);
  double sum = decode(c, t.c);
  for (int i = 0; i < k; i++) {
    double product = t.differ ? decode(x[i] ^ y[i], t.a) : decode(x[i], t.a) * decode(y[i], t.b);
    sum += product * (t.scale ? decode(sx[i * count / k], *t.scale) * decode(sy[i * count / k], *t.scale) : 1);
  }
  return encode(sum, t.d);
}

typedef std::vector<void *> Outs;
typedef std::vector<Word> Ins;
static Ins given[256];
static unsigned tensor_memory[128][512];
static bool has_arrived;
static std::mutex arriving;
static std::condition_variable arrival;
static Word field(Word from, int at, int count) { return from >> at & ((1ull << count) - 1); }

// An element that a shared memory descriptor points to: row, k; so many elements in 16 bytes.
static Word element(Word descriptor, int row, int k, int bits, int per) {
  Word start = field(descriptor, 0, 14) * 16, leading = field(descriptor, 16, 14) * 16, stride = field(descriptor, 32, 14) * 16;
  if (wrong("descriptor")) std::swap(leading, stride);
  const unsigned char *core = __start_shared_memory + start + row / 8 * stride + k / per * leading + row % 8 * 16;
  Word code = 0;
  for (int bit = 0; bit < bits; bit++) {
    int at = k % per * bits + bit;
    code |= (Word)(core[at / 8] >> (at % 8) & 1) << bit;
  }
  return code;
}

// mma.sync: who holds which element.
static void mma(const std::string &text, Outs outs, Ins ins) {
  auto p = parts(text);
  int m, n, k, lane = threadIdx.x, scaled = text.find("block_scale") != std::string::npos;
  size_t at = 3;
  shape(p[at], m, n, k);
  const Type *scale = scaled ? &type(p.back()) : nullptr;
  bool bits = p.back() == "popc";
  size_t last = p.size() - 1 - scaled - 2 * bits;
  const Types t{type(p[last - 2]), type(p[last - 1]), type(p[last]), type(p[last - 3]), scale, bits && p[p.size() - 2] == "xor"};
  const Type &tc = t.c, &tb = t.b, &ta = t.a, &td = t.d;
  bool bytes = text.find("f8f6f4") != std::string::npos, four = ta.name == std::string("f16") && k == 4;
  int width = bytes ? 8 : ta.bits, each = width > 32 ? 1 : 32 / width, ra = four ? 2 : m * k / 32 / each, rb = four ? 2 : n * k / 32 / each;
  auto code = [&](Word reg, int e, const Type &t) { return reg >> (width == 64 ? 0 : e * width) >> (bytes && t.bits == 4 ? 2 : 0) & (t.bits == 64 ? ~0ull : (1ull << t.bits) - 1); };
  given[lane] = ins;
  __syncthreads();
  std::vector<Word> x(m * k), y(n * k), z(m * n), sa(16 * 4), sb(8 * 4);
  int count = !scaled ? 1 : text.find("::1X") != std::string::npos ? 1 : text.find("::2X") != std::string::npos ? 2 : 4;
  for (int l = 0; l < 32; l++) {
    const Ins &in = given[l];
    int group = l / 4, four_th = l % 4;
    if (four) {
      // Quads l / 4 % 4 and that of the upper half.
      if (l / 4 % 4 != lane / 4 % 4) continue;
      int own = l % 4 + (l >= 16 ? 4 : 0);
      for (int e = 0; e < 4; e++) x[own * 4 + e] = code(in[e / 2], e % 2, ta), y[own * 4 + e] = code(in[2 + e / 2], e % 2, tb);
      for (int i = 0; i < 8; i++) {
        int row = tc.bits == 16 ? own : (l & 1) + (i & 2) + (l >= 16 ? 4 : 0), column = tc.bits == 16 ? i : (i & 4) + (l & 2) + (i & 1);
        z[row * 8 + column] = tc.bits == 16 ? in[4 + i / 2] >> (16 * (i % 2)) & 0xffff : in[4 + i];
      }
      continue;
    }
    int high = m / 8;
    for (int i = 0; i < ra * each; i++) x[(group + i / each % high * 8) * k + four_th * each + i % each + i / each / high * 4 * each] = code(in[i / each], i % each, ta);
    for (int i = 0; i < rb * each; i++) y[group * k + four_th * each + i % each + i / each * 4 * each] = code(in[ra + i / each], i % each, tb);
    for (int i = 0; i < m * n / 32; i++) {
      Word reg = tc.bits == 16 ? in[ra + rb + i / 2] >> (16 * (i % 2)) & 0xffff : in[ra + rb + i];
      z[(group + (i >= 2 ? 8 : 0)) * n + four_th * 2 + (i & 1)] = reg;
    }
    // Selectors 0: lanes 0 and 1 of four give the scales of rows g and g + 8, lane 0 those of column g.
    for (int s = 0; s < count && scaled; s++) {
      if (four_th < 2) sa[(group + 8 * four_th) * 4 + s] = in[in.size() - 2] >> (8 * s) & 255;
      if (four_th == 0) sb[group * 4 + s] = in[in.size() - 1] >> (8 * s) & 255;
    }
  }
  __syncthreads();
  int group = lane / 4, four_th = lane % 4;
  for (int i = 0; i < (four ? 8 : m * n / 32); i++) {
    int row = group + (i >= 2 ? 8 : 0), column = four_th * 2 + (i & 1);
    if (four) {
      int upper = lane >= 16 ? 4 : 0;
      row = td.bits == 16 ? lane % 4 + upper : (lane & 1) + (i & 2) + upper, column = td.bits == 16 ? i : (i & 4) + (lane & 2) + (i & 1);
    }
    if (wrong("transposed")) row ^= 1;
    Word d = element_of(t, k, &x[row * k], &y[column * k], z[row * n + column], count, &sa[row * 4], &sb[column * 4]);
    if (td.bits == 16) ((unsigned short *)outs[i / 2])[i % 2] = (unsigned short)d;
    else memcpy(outs[i], &d, td.bits / 8);
  }
}

// dp4a and dp2a: a dot product of one thread.
static void lane_dot(const std::string &text, Outs outs, Ins ins) {
  auto p = parts(text);
  bool two = p[0] == "dp2a";
  const std::string a = p[1 + two], b = p[2 + two];
  bool is_unsigned = a == "u32" && b == "u32";
  const Types t{type(a.substr(0, 1) + (two ? "16" : "8")), type(b.substr(0, 1) + "8"), type(is_unsigned ? "u32" : "s32"), type("s32"), nullptr, false};
  Word x[4], y[4];
  int k = two ? 2 : 4;
  for (int i = 0; i < k; i++) x[i] = ins[0] >> (i * t.a.bits) & ((1ull << t.a.bits) - 1), y[i] = ins[1] >> (8 * i) & 255;
  Word d = element_of(t, k, x, y, ins[2], 1, nullptr, nullptr);
  memcpy(outs[0], &d, 4);
}

// A code somewhere in memory, counted in bits.
static Word bits_at(const void *memory, size_t bit, int bits) {
  Word code = 0;
  for (int i = 0; i < bits; i++) code |= (Word)(((const unsigned char *)memory)[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
  return code;
}

// wmma: loads, product and store in one text; the strides stand in it.
static void wmma(const std::string &text, Ins ins) {
  __syncthreads();
  if (threadIdx.x == 0) {
    auto line = [&](const char *what) { return text.substr(text.find(what)); };
    auto stride = [&](const std::string &s) { size_t end = s.find(";"); return atoi(s.c_str() + s.rfind(' ', end) + 1); };
    std::vector<Word> all[3];
    const Type *of[3];
    int m, n, k;
    const char *names[] = {"wmma.load.a", "wmma.load.b", "wmma.load.c"};
    for (int o = 0; o < 3; o++) {
      std::string s = line(names[o]);
      auto p = parts(s);
      shape(p[6], m, n, k);
      const Type &t = *(of[o] = &type(p[7]));
      // Rows of A, columns of B, rows of C.
      int outer = o == 1 ? n : m, inner = o == 2 ? n : k;
      bool along = (p[5] == "col") == (o == 1);
      if (wrong("transposed") && o == 0) along = !along;
      for (int r = 0; r < outer; r++) for (int c = 0; c < inner; c++)
        all[o].push_back(bits_at((void *)ins[o], (size_t)(along ? r * stride(s) + c : c * stride(s) + r) * t.bits, t.bits));
    }
    std::string s = line("wmma.store.d");
    const Type &td = type(parts(s)[7]);
    const Types t{*of[0], *of[1], *of[2], td, nullptr, line("wmma.mma").find("xor.popc") == 9};
    for (int r = 0; r < m; r++) for (int c = 0; c < n; c++) {
      Word d = element_of(t, k, &all[0][r * k], &all[1][c * k], all[2][r * n + c], 1, nullptr, nullptr);
      memcpy((unsigned char *)ins[3] + (r * stride(s) + c) * (td.bits / 8), &d, td.bits / 8);
    }
  }
  __syncthreads();
}

static void wgmma(const std::string &text, Outs outs, Ins ins) {
  auto p = parts(text.substr(text.find("wgmma.mma_async")));
  int m, n, k, lane = threadIdx.x;
  shape(p[4], m, n, k);
  size_t at = p[5] == "satfinite" ? 6 : 5;
  const Type &td = type(p[at]), &ta = type(p[at + 1]), &tb = type(p[at + 2]);
  const Types t{ta, tb, td, td, nullptr, false};
  // Five inputs: A's registers, and B's descriptor.
  const bool registers = ins.size() == 5;
  std::vector<Word> x(m * k);
  if (registers) {
    given[lane] = ins;
    __syncthreads();
    const int each = 32 / ta.bits;
    for (int l = 0; l < 128; l++) for (int i = 0; i < 4 * each; i++) {
      int r = i / each, row = l / 32 * 16 + l % 32 / 4 + r % 2 * 8;
      x[row * k + r / 2 * 4 * each + l % 4 * each + i % each] = given[l][r] >> (i % each * ta.bits) & (ta.bits == 32 ? ~0u : (1u << ta.bits) - 1);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; i++) {
    int row = lane / 32 * 16 + lane % 32 / 4 + (i >= 2 ? 8 : 0), column = lane % 4 * 2 + (i & 1);
    unsigned short *half = (unsigned short *)outs[td.bits == 16 ? i / 2 : i] + (td.bits == 16 ? i % 2 : 0);
    Word c = 0;
    memcpy(&c, half, td.bits / 8);
    std::vector<Word> own(k), y(k);
    for (int j = 0; j < k; j++) {
      own[j] = registers ? x[row * k + j] : element(ins[0], row, j, ta.bits, 128 / ta.bits);
      y[j] = element(ins[registers ? 4 : 1], column, j, tb.bits, 128 / tb.bits);
    }
    Word d = element_of(t, k, own.data(), y.data(), c, 1, nullptr, nullptr);
    memcpy(half, &d, td.bits / 8);
  }
}

static void tcgen05_mma(const std::string &text, Ins ins) {
  unsigned desc = (unsigned)ins[3];
  int m = field(desc, 24, 5) * 16, n = field(desc, 17, 6) * 8, scaled = text.find("block_scale") != std::string::npos;
  std::string kind = text.substr(text.find("kind::") + 6);
  kind = kind.substr(0, kind.find_first_of(". "));
  bool four = kind == "mxf4" || kind == "mxf4nvf4";
  auto named = [&](int number) -> const Type & {
    if (four) return type("e2m1");
    if (kind == "i8") return type(number ? "s8" : "u8");
    if (kind == "f16") return type(number ? "bf16" : "f16");
    if (kind == "tf32") return type("tf32");
    const char *names[] = {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"};
    return type(names[number]);
  };
  int sums = field(desc, 4, 2);
  const Type &ta = named(field(desc, 7, 3)), &tb = named(field(desc, 10, 3)), &td = type(scaled || sums == 1 ? "f32" : sums == 2 ? "s32" : "f16");
  const Type &scale = type(field(desc, 23, 1) ? "ue8m0" : "ue4m3");
  const Types t{ta, tb, td, td, scaled ? &scale : nullptr, false};
  int k = four ? 64 : kind == "f16" ? 16 : kind == "tf32" ? 8 : 32, per = k / 2;
  int count = text.find("::1X") != std::string::npos ? 1 : text.find("::2X") != std::string::npos ? 2 : 4;
  if (m != 128 || field(ins[1], 46, 3) != 1 || field(ins[2], 46, 3) != 1) fprintf(stderr, "bad descriptor\n"), exit(9);
  auto factor = [&](Word from, int row, int block) -> Word { return tensor_memory[row % 32][(from & 0xffff) + row / 32] >> (8 * block) & 255; };
  std::vector<Word> x(k), y(n * k), sx(4), sy(4);
  for (int c = 0; c < n; c++) for (int i = 0; i < k; i++) y[c * k + i] = element(ins[2], c, i, tb.bits, per);
  for (int r = 0; r < m; r++) {
    for (int i = 0; i < k; i++) x[i] = element(ins[1], r, i, ta.bits, per);
    for (int c = 0; c < n; c++) {
      unsigned &cell = tensor_memory[r][(ins[0] & 0xffff) + c];
      for (int s = 0; s < count && scaled; s++) sx[s] = factor(ins[4], r, s), sy[s] = factor(ins[5], c, s);
      cell = (unsigned)element_of(t, k, x.data(), &y[c * k], td.bits == 16 ? cell & 0xffff : cell, count, sx.data(), sy.data());
    }
  }
}

static void instruction(const std::string &text, Outs outs, Ins ins) {
  auto has = [&](const char *what) { return text.find(what) != std::string::npos; };
  const int warp = threadIdx.x / 32 * 32, lane = threadIdx.x;
  if (has("tcgen05.alloc")) { unsigned at = 256; memcpy(__start_shared_memory + ins[0], &at, 4); }
  else if (has("tcgen05.st.sync") || has("tcgen05.ld.sync")) {
    Word at = ins[0];
    if ((int)(at >> 16) != warp) fprintf(stderr, "lanes of another warp\n"), exit(9);
    for (size_t i = 0; i < ins.size() - 1; i++) tensor_memory[lane][(at & 0xffff) + i] = (unsigned)ins[i + 1];
    for (size_t i = 0; i < outs.size(); i++) memcpy(outs[i], &tensor_memory[lane][(at & 0xffff) + i], 4);
  }
  else if (has("tcgen05.mma")) tcgen05_mma(text, ins);
  else if (has("mbarrier.init")) has_arrived = false;
  else if (has("tcgen05.commit")) {
    std::lock_guard<std::mutex> lock(arriving);
    has_arrived = true;
    arrival.notify_all();
  }
  else if (has("mbarrier.try_wait")) {
    // Asleep, not spinning: this machine has other work.
    std::unique_lock<std::mutex> lock(arriving);
    unsigned done = arrival.wait_for(lock, std::chrono::seconds(60), [] { return has_arrived; });
    if (!done) fprintf(stderr, "nothing was committed\n"), exit(9);
    memcpy(outs[0], &done, 4);
  }
  else if (has("wgmma.mma_async")) wgmma(text, outs, ins);
  else if (has("wmma.load")) wmma(text, ins);
  else if (has("mma.sync")) mma(text, outs, ins);
  else if (has("cvt.rn.f16.f64")) { unsigned short half = same_bits<unsigned short>((_Float16)same_bits<double>(ins[0])); memcpy(outs[0], &half, 2); }
  else if (has("cvt.f64.f16")) { double whole = same_bits<_Float16>((unsigned short)ins[0]); memcpy(outs[0], &whole, 8); }
  else if (has("dp4a") || has("dp2a")) lane_dot(text, outs, ins);
  else if (has("trap")) fprintf(stderr, "trap\n"), exit(9);
  else if (!has("fence") && !has("tcgen05.wait") && !has("tcgen05.dealloc") && !has("tcgen05.relinquish"))
    fprintf(stderr, "no instruction %s\n", text.c_str()), exit(9);
}

enum cudaError_t { cudaSuccess };
static cudaError_t cudaMallocManaged(void **to, size_t bytes) { *to = malloc(bytes); return cudaSuccess; }
static cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static cudaError_t cudaGetLastError() { return cudaSuccess; }
static const char *cudaGetErrorString(cudaError_t) { return "none"; }
static cudaError_t cudaLaunchKernel(const void *kernel, dim3 blocks, dim3 threads, void **arguments, size_t, void *) {
  auto tile = (void (*)(const Word *, const Word *, const Word *, Word *))kernel;
  Word **p[4];
  for (int i = 0; i < 4; i++) p[i] = (Word **)arguments[i];
  for (unsigned block = 0; block < blocks.x; block++) {
    std::barrier<> barrier(threads.x);
    all_threads = &barrier;
    std::vector<std::thread> running;
    for (unsigned lane = 0; lane < threads.x; lane++)
      running.emplace_back([&, lane] {
        threadIdx.x = lane, blockIdx.x = block, blockDim.x = threads.x;
        tile(*p[0], *p[1], *p[2], *p[3]);
      });
    for (auto &one : running) one.join();
  }
  return cudaSuccess;
}
