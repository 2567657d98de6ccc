// ---- tiles of outputs, statement by statement ----
// One block of threads has HIGH x WIDTH outputs, a thread ROWS rows that follow each other and COLUMNS columns, in fours 32 columns apart.
enum { ROWS = 4, COLUMNS = @COLUMNS@, HIGH = 16 * ROWS, WIDTH = 8 * COLUMNS, WORKERS = 128, BLOCKS = BLOCK < 16 ? 16 / BLOCK : 1, DEEP = BLOCKS * BLOCK };

// So many things of 16 bytes at once.
template <class T> struct alignas(16) Vector { T of[16 / sizeof(T)]; };
template <class T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Fours { T of[4]; };

// An operand on the chip, and the part of it that a block of threads shares.
struct Operand { const operand *values; const short *exponents; const unsigned *signs; word stride; };
struct Tile {
  operand (*x)[HIGH], (*y)[WIDTH];
  short (*x_exponents)[HIGH], (*y_exponents)[WIDTH];
  unsigned (*x_signs)[HIGH], (*y_signs)[WIDTH];
  int row, column;
};
// Where a thread's column of a tile is.
static __device__ int place_of(int column) { return column / 4 * 32 + column % 4; }

template <int LINES, class T> static __device__ __forceinline__ void copy(const T *from, word stride, word first, int deep, T (*to)[LINES]) {
  enum { EACH = 16 / sizeof(T), ACROSS = LINES / EACH };
  for (int at = threadIdx.x; at < deep * ACROSS; at += WORKERS)
    *(Vector<T> *)&to[at / ACROSS][at % ACROSS * EACH] = *(const Vector<T> *)(from + (first + at / ACROSS) * stride + at % ACROSS * EACH);
}

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
static __device__ __forceinline__ void run(const Tile &tile, const Operand &x, const Operand &y, word first, word count, value (&v)[ROWS][COLUMNS], unsigned &bad) {
  for (word at = 0; at < count; at += DEEP) {
    const int deep = count - at < DEEP ? (int)(count - at) : DEEP;
    __syncthreads();
    copy(x.values, x.stride, first + at, deep, tile.x), copy(y.values, y.stride, first + at, deep, tile.y);
    if (WITH_EXPONENTS) {
      copy(x.exponents, x.stride, first + at, deep, tile.x_exponents), copy(y.exponents, y.stride, first + at, deep, tile.y_exponents);
      copy(x.signs, x.stride, (first + at) / BLOCK, deep / BLOCK, tile.x_signs), copy(y.signs, y.stride, (first + at) / BLOCK, deep / BLOCK, tile.y_signs);
    }
    __syncthreads();
    for (int from = 0; from < deep; from += Method::EACH) Method::block(tile, from, (first + at + from) % SLOTS == 0, v, bad);
  }
}
