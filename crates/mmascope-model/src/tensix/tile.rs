//! Tiles: 32 × 32 data, which Dst holds as four faces of 16 × 16 (§5).

/// Rows and columns of a tile.
pub const TILE: usize = 32;
/// Rows and columns of a face.
const FACE: usize = 16;
/// Rows of Dst that a tile takes.
pub(super) const ROWS: usize = 64;

/// 32 × 32 data, row-major: source data, or data of Dst in working form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    data: Vec<u32>,
}

impl Tile {
    /// A tile from a function of row and column.
    pub fn of(mut datum: impl FnMut(usize, usize) -> u32) -> Self {
        let places = (0..TILE * TILE).map(|at| (at / TILE, at % TILE));
        Self {
            data: places.map(|(row, column)| datum(row, column)).collect(),
        }
    }

    /// A tile of one datum.
    #[must_use]
    pub fn filled(datum: u32) -> Self {
        Self::of(|_, _| datum)
    }

    /// The datum in a row and a column.
    ///
    /// # Panics
    /// When one of them is not below 32.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> u32 {
        assert!(row < TILE && column < TILE, "a tile is 32 × 32");
        self.data[row * TILE + column]
    }

    /// Sixteen neighbours of a row, from a column on.
    pub(super) fn of_row(&self, row: usize, from: usize) -> [u32; FACE] {
        std::array::from_fn(|k| self.at(row, from + k))
    }

    /// Sixteen neighbours of a column, from a row on.
    pub(super) fn of_column(&self, column: usize, from: usize) -> [u32; FACE] {
        std::array::from_fn(|k| self.at(from + k, column))
    }
}

/// Row and column of Dst for a datum of a tile.
pub(super) fn place(index: usize, row: usize, column: usize) -> (usize, usize) {
    let face = row / FACE * 2 + column / FACE;
    (index * ROWS + face * FACE + row % FACE, column % FACE)
}
