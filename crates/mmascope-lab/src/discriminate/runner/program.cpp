// @WHAT@
// Model: @MODEL@
// Each line separates the model from the neighbours that it names.
// Compile: @COMPILE@
// Written from the layouts in the manufacturer's manual; no program of this kind has run on a chip yet. Before
// the lines it multiplies small whole numbers, all different, whose products are exact under every arithmetic:
// where a layout, a scale or a bit of a descriptor is not the chip's, that fails, and nothing is reported.
// What no numbers can show: k in an order of its own, if A and B share it.
// Exit status: 0 every line as the model, 1 some not, 3 nothing learnt (no device, a fault, or a wrong layout).
#ifndef __CUDACC_RTC__
#include <@RUNTIME@>
#include <cstdio>
#include <cstring>
#endif

@DEVICE@// ---- host ----
#ifndef __CUDACC_RTC__
struct Vector { word a[WIDE], b[WIDE], c, d; int any_nan; const char *separates; };
static const Vector vectors[] = {
@TABLE@};

static bool is_nan(word x) {
  word exponent = ((word)1 << @EXPONENT@) - 1, fraction = ((word)1 << @FRACTION@) - 1;
  return (x >> @FRACTION@ & exponent) == exponent && (x & fraction) != 0;
}

// The codes of -3 to 3 in A and B, of 1, 2 and 4 as scales.
static const word digit_a[7] = {@DIGITS_A@}, digit_b[7] = {@DIGITS_B@}, power[3] = {@POWERS@};

// A whole number as a float of that many exponent and fraction bits.
static word number(long value, int exponent_bits, int fraction_bits) {
  if (value == 0) return 0;
  word sign = value < 0, size = value < 0 ? -value : value;
  int top = 0;
  while (size >> top > 1) top++;
  word fraction = (top <= fraction_bits ? size << (fraction_bits - top) : size >> (top - fraction_bits));
  fraction &= ((word)1 << fraction_bits) - 1;
  word exponent = top + ((word)1 << (exponent_bits - 1)) - 1;
  return (sign << exponent_bits | exponent) << fraction_bits | fraction;
}

// A number below `limit` that looks random.
static unsigned below(unsigned limit) {
  static word state = 0x9e3779b97f4a7c15ull;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % limit;
}

static bool launch(int tiles, word *a, word *b, word *c, word *d) {
  void *arguments[] = {&a, &b, &c, &d};
  if (@PREFIX@LaunchKernel((const void *)tile, dim3(tiles * @CTAS@), dim3(@LANES@), arguments, 0, 0) != @PREFIX@Success ||
      @PREFIX@DeviceSynchronize() != @PREFIX@Success) {
    fprintf(stderr, "the kernel failed: %s\n", @PREFIX@GetErrorString(@PREFIX@GetLastError()));
    return false;
  }
  return true;
}

enum { ROUNDS = 8 };

// Whether products of small whole numbers are right, in every element of D.
static bool layout_holds(word *a, word *b, word *c, word *d) {
  static int value_a[A_SIZE], value_b[B_SIZE];
  static long expected[ROUNDS * C_SIZE];
  for (int round = 0; round < ROUNDS; round++) {
    word *to_a = a + round * A_SIZE, *to_b = b + round * B_SIZE;
    for (int side = 0; side < 2; side++)
      for (int i = 0, size = side ? B_SIZE : A_SIZE; i < size; i++) {
        int scale = i % WIDE >= K, value = below(scale ? 3 : 7);
        (side ? to_b : to_a)[i] = scale ? power[value] : (side ? digit_b : digit_a)[value];
        (side ? value_b : value_a)[i] = scale ? 1 << value : value - 3;
      }
    for (int i = 0; i < C_SIZE; i++) {
      long sum = (long)below(65) - 32;
      c[round * C_SIZE + i] = number(sum, @C_EXPONENT@, @C_FRACTION@);
      d[round * C_SIZE + i] = ~(word)0;
      const int block = i / (M * N), row = i / N % M, column = i % N;
      const int *x = value_a + (block * M + row) * WIDE, *y = value_b + (block * N + column) * WIDE;
      for (int k = 0; k < K; k++) {
        int scale = SCALES ? x[K + k * SCALES / K] * y[K + k * SCALES / K] : 1;
        sum += x[k] * y[k] * scale;
      }
      expected[round * C_SIZE + i] = sum;
    }
  }
  if (!launch(ROUNDS, a, b, c, d)) return false;
  int wrong = 0, first = 0;
  for (int i = ROUNDS * C_SIZE - 1; i >= 0; i--) {
    // The sign of a zero is the chip's.
    bool zero = expected[i] == 0 && (d[i] & ~((word)1 << (@D_EXPONENT@ + @D_FRACTION@))) == 0;
    if (!zero && d[i] != number(expected[i], @D_EXPONENT@, @D_FRACTION@)) {
      wrong++;
      first = i;
    }
  }
  if (wrong == 0) return true;
  fprintf(stderr, "the layout of this program does not hold on this chip: %d of %d products of whole numbers are wrong, ",
          wrong, ROUNDS * C_SIZE);
  fprintf(stderr, "the first at row %d, column %d: got %0@DIGITS@llx, exactly %ld is %0@DIGITS@llx. Nothing is reported.\n",
          first / N % M, first % N, d[first], expected[first], number(expected[first], @D_EXPONENT@, @D_FRACTION@));
  return false;
}

int main() {
  const int n = sizeof vectors / sizeof vectors[0], tiles = n > ROUNDS ? n : ROUNDS;
  word *a, *b, *c, *d;
  if (@PREFIX@MallocManaged((void **)&a, tiles * A_SIZE * sizeof(word)) != @PREFIX@Success ||
      @PREFIX@MallocManaged((void **)&b, tiles * B_SIZE * sizeof(word)) != @PREFIX@Success ||
      @PREFIX@MallocManaged((void **)&c, tiles * C_SIZE * sizeof(word)) != @PREFIX@Success ||
      @PREFIX@MallocManaged((void **)&d, tiles * C_SIZE * sizeof(word)) != @PREFIX@Success) {
    fprintf(stderr, "no device or no memory\n");
    return 3;
  }
  if (!layout_holds(a, b, c, d)) return 3;
  // A line fills every row, every column and every c: each element of D is the same dot product.
  for (int i = 0; i < n; i++) {
    for (int row = 0; row < BLOCKS * M; row++) memcpy(a + i * A_SIZE + row * WIDE, vectors[i].a, sizeof vectors[i].a);
    for (int row = 0; row < BLOCKS * N; row++) memcpy(b + i * B_SIZE + row * WIDE, vectors[i].b, sizeof vectors[i].b);
    for (int at = 0; at < C_SIZE; at++) c[i * C_SIZE + at] = vectors[i].c, d[i * C_SIZE + at] = ~(word)0;
  }
  if (!launch(n, a, b, c, d)) return 3;
  int failed = 0;
  for (int i = 0; i < n; i++) {
    const word *got = d + i * C_SIZE;
    int wrong = 0, first = 0;
    for (int at = C_SIZE - 1; at >= 0; at--)
      if (got[at] != vectors[i].d && !(vectors[i].any_nan && is_nan(got[at]))) {
        wrong++;
        first = at;
      }
    if (wrong == 0) continue;
    failed++;
    printf("line %d: got %0@DIGITS@llx, the model %0@DIGITS@llx, in %d of %d elements; separates %s\n", i + 1, got[first],
           vectors[i].d, wrong, (int)C_SIZE, vectors[i].separates);
  }
  printf("%d passed, %d failed\n", n - failed, failed);
  return failed != 0;
}
#endif
