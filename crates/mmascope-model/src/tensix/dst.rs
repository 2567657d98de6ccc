//! Dst: 1024 rows of sixteen 16-bit data, or 512 rows of 32-bit data; rows may be invalid (§2).

/// Rows of 16-bit data.
const ROWS: usize = 1024;
/// Data in a row.
const COLUMNS: usize = 16;

/// The destination registers. Data are kept in natural bit order: the shuffle of exponent and fraction in
/// the hardware's storage is not observable in values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dst {
    data: Vec<u16>,
    valid: Vec<bool>,
}

impl Default for Dst {
    fn default() -> Self {
        Self::new()
    }
}

impl Dst {
    /// Rows of 32-bit data.
    pub const ROWS_32: usize = ROWS / 2;
    /// Rows of 16-bit data.
    pub const ROWS_16: usize = ROWS;

    /// Dst after ZEROACC: every row is invalid.
    #[must_use]
    pub fn new() -> Self {
        Self {
            data: vec![0; ROWS * COLUMNS],
            valid: vec![false; ROWS],
        }
    }

    /// ZEROACC of some rows of 16-bit data: they become invalid and read as 0.
    ///
    /// # Panics
    /// When a row is not below 1024.
    pub fn clear(&mut self, rows: std::ops::Range<usize>) {
        self.valid[rows].fill(false);
    }

    /// A 16-bit datum; 0 in an invalid row.
    ///
    /// # Panics
    /// When the row is not below 1024 or the column not below 16.
    #[must_use]
    pub fn read_16(&self, row: usize, column: usize) -> u16 {
        let datum = self.data[index(row, column)];
        if self.valid[row] { datum } else { 0 }
    }

    /// Writes a 16-bit datum. The rest of an invalid row becomes 0.
    ///
    /// # Panics
    /// As [`Dst::read_16`].
    pub fn write_16(&mut self, row: usize, column: usize, datum: u16) {
        if !self.valid[row] {
            self.data[index(row, 0)..=index(row, COLUMNS - 1)].fill(0);
            self.valid[row] = true;
        }
        self.data[index(row, column)] = datum;
    }

    /// A 32-bit datum: its upper half stands in one row of 16-bit data, the lower half eight rows below.
    ///
    /// # Panics
    /// When the row is not below 512 or the column not below 16.
    #[must_use]
    pub fn read_32(&self, row: usize, column: usize) -> u32 {
        let [high, low] = halves(row);
        u32::from(self.read_16(high, column)) << 16 | u32::from(self.read_16(low, column))
    }

    /// Writes a 32-bit datum.
    ///
    /// # Panics
    /// As [`Dst::read_32`].
    pub fn write_32(&mut self, row: usize, column: usize, datum: u32) {
        let [high, low] = halves(row);
        self.write_16(high, column, (datum >> 16) as u16);
        self.write_16(low, column, datum as u16);
    }

    /// Whether a row of 16-bit data is valid.
    ///
    /// # Panics
    /// When the row is not below 1024.
    #[must_use]
    pub fn is_valid(&self, row: usize) -> bool {
        self.valid[row]
    }
}

fn index(row: usize, column: usize) -> usize {
    assert!(column < COLUMNS, "column {column}: Dst has {COLUMNS}");
    row * COLUMNS + column
}

/// The rows of 16-bit data of the halves of a row of 32-bit data.
fn halves(row: usize) -> [usize; 2] {
    assert!(
        row < Dst::ROWS_32,
        "row {row}: Dst has {} of 32 bits",
        Dst::ROWS_32
    );
    let high = (row & 0x1f8) << 1 | row & 0x207;
    [high, high + 8]
}
