//! The entrance to the kernels: a tile's rows run through one at a level.

#![allow(unsafe_code)] // calls into instruction sets, registers from and to memory

use std::ops::Range;

use super::Level;
use super::block::bits;
use super::kernels::{Begin, Tile};
use super::lanes::{Lanes, Portable, VECTORS, rows};
use super::pack::{Marks, Shape};

/// The widest panel: four registers of sixteen lanes.
pub(super) const WIDEST: usize = 64;

/// Packed operands with the kernel that reads them.
pub(super) trait Packed: Sync {
    fn shape(&self) -> &Shape;
    fn marks(&self) -> &Marks;

    /// The lanes in which c lies outside the kernel's domain: (finite ones, ∞ and NaN).
    ///
    /// # Safety
    /// The instruction set of `V`.
    unsafe fn outside<V: Lanes>(&self, c: V) -> (V, V);

    /// Runs steps of one row and panel; gives the lanes whose results are not to be used.
    ///
    /// # Safety
    /// The instruction set of `V`; row, panel and steps within the shape.
    unsafe fn run<V: Lanes>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        c: &mut Tile<V>,
    ) -> V;

    /// Whether it takes dot products of bytes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    const DOTS: bool = false;

    /// How many neighbouring rows at a time are fastest: one, two or four.
    #[inline(always)]
    fn rows_at_a_time<V: Lanes>(&self) -> usize {
        1
    }

    /// The same of so many rows from this one on, two or four; asked only for as many as [`Packed::rows_at_a_time`] says, or
    /// for two, for one run of rows after the other with the same steps and panel.
    ///
    /// # Safety
    /// As for [`Packed::run`], for all rows.
    #[inline(always)]
    unsafe fn run_several<V: Lanes, const ROWS: usize>(
        &self,
        row: usize,
        panel: usize,
        steps: Range<usize>,
        ahead: &mut Ahead<V, ROWS>,
        c: &mut [Tile<V>; ROWS],
    ) -> V {
        let _ = (row, panel, steps, ahead, c);
        unreachable!("`rows_at_a_time` says so")
    }

    /// Whether an ∞ or a NaN in c is the result, when nothing else is special.
    fn settles(&self) -> bool;

    /// Whether a c within the domain stays there for as long as 2^28 products.
    fn keeps(&self) -> bool;
}

/// What is known of some rows from those before, with the same steps and panel.
pub(super) struct Ahead<V, const ROWS: usize> {
    /// Where rows begin, once it has been found.
    pub(super) begin: Option<Begin>,
    /// The first of the next rows, which begin with the same step, if there are any.
    pub(super) next: Option<usize>,
    /// What was found out about these rows: their first group's largest byte sums.
    pub(super) found: Option<[V; ROWS]>,
}

impl<V, const ROWS: usize> Default for Ahead<V, ROWS> {
    fn default() -> Self {
        Self {
            begin: None,
            next: None,
            found: None,
        }
    }
}

/// Runs steps of some rows and a panel by the kernel, lanes in and out: a safe function, which establishes what all `unsafe`
/// behind it relies on (`kernels.rs`: *instructions* and *room*).
pub(super) fn enter<P: Packed>(
    level: Level,
    packed: &P,
    place: &Place,
    steps: Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) {
    // Instructions: what follows relies on this line, and on nobody having another way to a kernel.
    assert!(level.is_there());
    // Two functions that have the instructions, into which everything is inlined (but what `Lanes::alone` runs): as one, with all kernels for one row and
    // for several, it grew beyond what the compiler inlines an instruction into.
    #[cfg(target_arch = "x86_64")]
    macro_rules! enter {
        ($features:literal, $lanes:ident) => {{
            #[target_feature(enable = $features)]
            fn together<P: Packed>(
                packed: &P,
                place: &Place,
                steps: &Range<usize>,
                lanes: &mut [u32],
                masks: &mut [Masks],
            ) -> usize {
                // SAFETY: this function is compiled for all features that the operations of this register type ask for;
                // `several_at_a_time` and what it calls are inlined into it, so that they have them too, or have them by themselves
                // (`Lanes::alone`).
                unsafe {
                    several_at_a_time::<super::lanes::$lanes, P>(packed, place, steps, lanes, masks)
                }
            }
            #[target_feature(enable = $features)]
            fn apart<P: Packed>(
                packed: &P,
                place: &Place,
                rows: Range<usize>,
                steps: &Range<usize>,
                lanes: &mut [u32],
                masks: &mut [Masks],
            ) {
                // SAFETY: the same with `one_by_one`.
                unsafe {
                    one_by_one::<super::lanes::$lanes, P>(packed, place, rows, steps, lanes, masks)
                }
            }
            // SAFETY: `is_there` has looked for exactly these features (`level.rs`), and the assertion above asked it.
            unsafe {
                let done = together(packed, place, &steps, lanes, masks);
                apart(packed, place, done..masks.len(), &steps, lanes, masks)
            }
        }};
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => enter!("avx2,fma,f16c", Avx2),
        #[cfg(target_arch = "x86_64")]
        Level::Vnni if P::DOTS => {
            enter!(
                "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma,f16c",
                Vnni
            )
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Vnni => {
            enter!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c", Avx512)
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: NEON is part of every aarch64 that Rust compiles for.
        Level::Neon => unsafe {
            attempt::<super::lanes::Neon, P>(packed, place, &steps, lanes, masks)
        },
        // SAFETY: `Portable` is plain Rust: it asks for no instructions.
        _ => unsafe { attempt::<Portable, P>(packed, place, &steps, lanes, masks) },
    }
}

/// Plain code that is to be compiled for a level: what it calls has to be inlined into it.
pub(super) trait Work {
    type Result;

    fn run(self) -> Self::Result;
}

/// Runs plain code, compiled for the registers of a level.
pub(super) fn widely<W: Work>(level: Level, work: W) -> W::Result {
    // Instructions: as in `enter`.
    assert!(level.is_there());
    #[cfg(target_arch = "x86_64")]
    macro_rules! widely {
        ($features:literal) => {{
            #[target_feature(enable = $features)]
            fn widely<W: Work>(work: W) -> W::Result {
                work.run()
            }
            // SAFETY: `is_there` has looked for exactly these features (`level.rs`), and the assertion above asked it.
            unsafe { widely(work) }
        }};
    }
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => widely!("avx2,fma,f16c"),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Vnni => {
            widely!("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
        }
        _ => work.run(),
    }
}

/// Columns of a row whose results are not the kernel's, a bit each.
#[derive(Clone, Copy, Default)]
pub(super) struct Masks {
    /// c lay outside the domain, or something left it on the way.
    pub(super) outside: u64,
    /// c was ∞ or NaN.
    pub(super) special: u64,
}

/// Where some rows' lanes lie.
pub(super) struct Place {
    /// The first row.
    pub(super) row: usize,
    pub(super) panel: usize,
    /// Lanes that count.
    pub(super) whole: u64,
    /// Only results of which all lanes can be used are wanted, with what settles itself in place.
    pub(super) wanted: bool,
    /// Rows whose c need not be looked at, a bit each.
    pub(super) inside: u64,
}

/// All rows, as many as there are masks.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn attempt<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    steps: &Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) {
    // SAFETY: the caller has the instruction set.
    unsafe {
        let done = several_at_a_time::<V, P>(packed, place, steps, lanes, masks);
        one_by_one::<V, P>(packed, place, done..masks.len(), steps, lanes, masks);
    }
}

/// The first rows, four or two at a time where that is faster; gives how many.
///
/// That packed operands lie for registers of this width is asserted too: `lanes` are rows of the packed shape's
/// columns, one a mask, so that any other width fails the first assertion.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn several_at_a_time<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    steps: &Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) -> usize {
    assert!(lanes.len() == masks.len() * VECTORS * V::WIDTH);
    let most = packed.rows_at_a_time::<V>();
    let fours = if most == 4 { masks.len() / 4 * 4 } else { 0 };
    let pairs = if most == 1 { 0 } else { masks.len() / 2 * 2 };
    // SAFETY: the caller has the instruction set; `several` checks the rest.
    unsafe {
        several::<V, P, 4>(packed, place, 0..fours, steps, lanes, masks);
        several::<V, P, 2>(packed, place, fours..pairs, steps, lanes, masks);
    }
    pairs
}

/// Rows of a range one after the other; `lanes` and `masks` are those of all rows.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn one_by_one<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    range: Range<usize>,
    steps: &Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) {
    let width = VECTORS * V::WIDTH;
    assert!(lanes.len() == masks.len() * width);
    let own = range.start * width..range.end * width;
    let each = lanes[own].chunks_exact_mut(width);
    for (r, (lanes, masks)) in range.clone().zip(each.zip(&mut masks[range])) {
        // SAFETY: the caller has the instruction set. Each function checks the length of its lanes, and `run` row, panel and
        // steps.
        unsafe {
            let mut c = begin::<V, P>(packed, place, r, lanes, masks);
            let bad = packed.run(place.row + r, place.panel, steps.clone(), &mut c);
            end(packed, place, &c, bad, lanes, masks);
        }
    }
}

/// Rows of a range, so many at a time; `lanes` and `masks` are those of all rows.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn several<V: Lanes, P: Packed, const ROWS: usize>(
    packed: &P,
    place: &Place,
    range: Range<usize>,
    steps: &Range<usize>,
    lanes: &mut [u32],
    masks: &mut [Masks],
) {
    let width = VECTORS * V::WIDTH;
    let own = range.start * width..range.end * width;
    let lanes = lanes[own].chunks_exact_mut(ROWS * width);
    let masks = masks[range.clone()].chunks_exact_mut(ROWS);
    let mut ahead = Ahead::default();
    for (r, (lanes, masks)) in range.clone().step_by(ROWS).zip(lanes.zip(masks)) {
        ahead.next = (r + ROWS < range.end).then_some(place.row + r + ROWS);
        // SAFETY: the caller has the instruction set. Each function checks the length of the lanes that it is given, and
        // `run_several` rows, panel and steps; `ahead.next` and its neighbours are rows of this call, so that they are there.
        unsafe {
            let mut c = [[V::splat(0); VECTORS]; ROWS];
            rows!(ROWS, |i| {
                let lanes = &lanes[i * width..(i + 1) * width];
                c[i] = begin::<V, P>(packed, place, r + i, lanes, &mut masks[i]);
            });
            let (row, steps) = (place.row + r, steps.clone());
            let bad = packed.run_several(row, place.panel, steps, &mut ahead, &mut c);
            rows!(ROWS, |i| {
                let lanes = &mut lanes[i * width..(i + 1) * width];
                end(packed, place, &c[i], bad, lanes, &mut masks[i]);
            });
        }
    }
}

/// The lanes of the r-th row, those that the kernel cannot carry as +0, with their masks.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn begin<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    r: usize,
    lanes: &[u32],
    masks: &mut Masks,
) -> Tile<V> {
    // SAFETY: the caller has the instruction set; `read` checks the length.
    unsafe {
        let mut c: Tile<V> = read(lanes);
        let known = place.inside >> r & 1 != 0;
        for (v, c) in c.iter_mut().enumerate().filter(|_| !known) {
            let (finite, special) = packed.outside(*c);
            masks.outside |= u64::from(finite.top_bits()) << (v * V::WIDTH);
            masks.special |= u64::from(special.top_bits()) << (v * V::WIDTH);
            // Such a lane runs along as +0.
            *c = special.or(finite).not_and(*c);
        }
        c
    }
}

/// A row's results are written, if they are wanted.
///
/// # Safety
/// The instruction set of `V`.
#[inline(always)]
unsafe fn end<V: Lanes, P: Packed>(
    packed: &P,
    place: &Place,
    c: &Tile<V>,
    bad: V,
    lanes: &mut [u32],
    masks: &mut Masks,
) {
    // SAFETY: the caller has the instruction set; `write` checks the length.
    unsafe {
        let bad = u64::from(bad.top_bits());
        for v in 0..VECTORS {
            // One mask for the four registers: a lane that is bad in any of them.
            masks.outside |= bad << (v * V::WIDTH);
        }
        if !place.wanted {
            write(c, lanes);
            return;
        }
        let special = masks.special & place.whole;
        if special != 0 && !packed.settles() {
            masks.outside |= special;
        }
        if masks.outside & place.whole != 0 {
            return;
        }
        if special == 0 {
            write(c, lanes);
            return;
        }
        let mut before = [0_u32; WIDEST];
        before[..lanes.len()].copy_from_slice(lanes);
        write(c, lanes);
        for v in bits(special) {
            lanes[v] = before[v];
        }
    }
}

/// # Safety
/// The instruction set of `V`; `lanes` has four registers.
#[inline(always)]
unsafe fn read<V: Lanes>(lanes: &[u32]) -> Tile<V> {
    assert!(lanes.len() == VECTORS * V::WIDTH);
    // SAFETY: the assertion: four registers are readable from here on. Loads ask for no alignment.
    unsafe {
        let from = lanes.as_ptr();
        [
            V::load(from),
            V::load(from.add(V::WIDTH)),
            V::load(from.add(2 * V::WIDTH)),
            V::load(from.add(3 * V::WIDTH)),
        ]
    }
}

/// # Safety
/// The instruction set of `V`; `lanes` has four registers.
#[inline(always)]
unsafe fn write<V: Lanes>(tile: &Tile<V>, lanes: &mut [u32]) {
    assert!(lanes.len() == VECTORS * V::WIDTH);
    for (v, register) in tile.iter().enumerate() {
        // SAFETY: the assertion: register `v` of four lies within the lanes. Stores ask for no alignment.
        unsafe { register.store(lanes.as_mut_ptr().add(v * V::WIDTH)) };
    }
}
