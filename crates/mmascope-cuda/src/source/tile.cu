// ---- tiles of outputs, statement by statement ----
// One block of threads has HIGH x WIDTH outputs, a thread ROWS rows that follow each other and COLUMNS columns, in fours 32 columns apart.
enum { ROWS = 4, COLUMNS = @COLUMNS@, HIGH = 16 * ROWS, WIDTH = 8 * COLUMNS, WORKERS = 128, BLOCKS = BLOCK < 16 ? 16 / BLOCK : 1, DEEP = BLOCKS * BLOCK };

// So many things of 16 bytes at once.
template <class T> struct alignas(16) Vector { T of[16 / sizeof(T)]; };
template <class T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Fours { T of[4]; };

// An operand on the chip, and the parts of both that a block of threads shares: one is computed while the other is filled, where there is room for two.
struct Operand { const operand *values; const short *exponents; const unsigned *signs; word stride; };
enum { EXPONENTS = WITH_EXPONENTS ? DEEP : 1, SIGNS = WITH_EXPONENTS ? BLOCKS : 1 };
struct Part {
  operand x[DEEP][HIGH], y[DEEP][WIDTH];
  short x_exponents[EXPONENTS][HIGH], y_exponents[EXPONENTS][WIDTH];
  unsigned x_signs[SIGNS][HIGH], y_signs[SIGNS][WIDTH];
};
enum { PARTS_SHARED = 2 * sizeof(Part) <= 47 * 1024 ? 2 : 1 };
// Both operands, their parts in shared memory, and a thread's first row and column of a tile.
struct Shared { Operand x, y; Part *parts; int row, column; };
struct Tile {
  const operand (*x)[HIGH], (*y)[WIDTH];
  const short (*x_exponents)[HIGH], (*y_exponents)[WIDTH];
  const unsigned (*x_signs)[HIGH], (*y_signs)[WIDTH];
  int row, column;
};
// Where a thread's column of a tile is.
static __device__ int place_of(int column) { return column / 4 * 32 + column % 4; }

// What a thread needs of one slot: of rows as they follow each other, of columns in fours.
template <class T> static __device__ __forceinline__ void take(const Tile &tile, const T (*x)[HIGH], const T (*y)[WIDTH], int slot, T (&xs)[ROWS], T (&ys)[COLUMNS]) {
  const Fours<T> rows = *(const Fours<T> *)&x[slot][tile.row];
#pragma unroll
  for (int r = 0; r < ROWS; r++) xs[r] = rows.of[r];
#pragma unroll
  for (int c = 0; c < COLUMNS; c += 4) {
    const Fours<T> four = *(const Fours<T> *)&y[slot][tile.column + place_of(c)];
#pragma unroll
    for (int i = 0; i < 4; i++) ys[c + i] = four.of[i];
  }
}

// For every output of a thread: a row, a column, the bit that it has in a mask of what does not hold.
#define EACH_OUTPUT \
  _Pragma("unroll") for (int r = 0; r < ROWS; r++) _Pragma("unroll") for (int c = 0; c < COLUMNS; c++)
#define MARK(r, c, condition) (bad |= (unsigned)(condition) << ((r) * COLUMNS + (c)))

static __device__ __forceinline__ void set(value (&v)[ROWS][COLUMNS], const value (&from)[ROWS][COLUMNS]) { EACH_OUTPUT v[r][c] = from[r][c]; }
static __device__ __forceinline__ void set(value (&v)[ROWS][COLUMNS], value from) { EACH_OUTPUT v[r][c] = from; }

// A method over so many slots, whose blocks it takes one by one.
template <class Method>
static __device__ __forceinline__ void run(const Shared &shared, word first, word count, value (&v)[ROWS][COLUMNS], unsigned &bad) {
  const Operand &x = shared.x, &y = shared.y;
  Part *const parts = shared.parts;
  const auto copy = [&](Part &to, word at) {
    const int deep = count - at < DEEP ? (int)(count - at) : DEEP;
    copy_later<WORKERS, DEEP>(x.values, x.stride, first + at, deep, to.x), copy_later<WORKERS, DEEP>(y.values, y.stride, first + at, deep, to.y);
    if (WITH_EXPONENTS) {
      copy_later<WORKERS, EXPONENTS>(x.exponents, x.stride, first + at, deep, to.x_exponents), copy_later<WORKERS, EXPONENTS>(y.exponents, y.stride, first + at, deep, to.y_exponents);
      const word block = (first + at) / BLOCK;
      copy_later<WORKERS, SIGNS>(x.signs, x.stride, block, deep / BLOCK, to.x_signs), copy_later<WORKERS, SIGNS>(y.signs, y.stride, block, deep / BLOCK, to.y_signs);
    }
  };
  // Who came before may still read.
  __syncthreads();
  if (count > 0) copy(parts[0], 0);
  int which = 0;
  for (word at = 0; at < count; at += DEEP) {
    const int deep = count - at < DEEP ? (int)(count - at) : DEEP;
    if (PARTS_SHARED == 1 && at > 0) {
      __syncthreads();
      copy(parts[0], at);
    }
    wait_for_copies();
    __syncthreads();
    const Part &part = parts[which];
    if (PARTS_SHARED == 2) {
      which ^= 1;
      if (at + DEEP < count) copy(parts[which], at + DEEP);
    }
    const Tile tile = {part.x, part.y, part.x_exponents, part.y_exponents, part.x_signs, part.y_signs, shared.row, shared.column};
    if (deep == DEEP) {
#pragma unroll (Method::EACH >= 8 ? 1 : 8 / Method::EACH)
      for (int from = 0; from < DEEP; from += Method::EACH) Method::block(tile, from, (first + at + from) % SLOTS == 0, v, bad);
    } else {
#pragma unroll 1
      for (int from = 0; from < deep; from += Method::EACH) Method::block(tile, from, (first + at + from) % SLOTS == 0, v, bad);
    }
  }
}
