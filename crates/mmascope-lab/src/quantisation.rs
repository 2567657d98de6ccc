//! The errors of quantised arrays, against the numbers that they were made of: statistics and a histogram.

mod chart;

pub use chart::histogram_svg;

use mmascope_gemm::blocks::Quantised;
use mmascope_model::format::Class;

/// How many bins the histogram has.
pub const BINS: usize = 81;

/// What quantisation did to an array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuantisationStatistics {
    /// Elements.
    pub elements: usize,
    /// Blocks.
    pub blocks: usize,
    /// Elements that were NaN, and ∞.
    pub given_nan: usize,
    /// Elements that were ∞.
    pub given_infinite: usize,
    /// Elements that are NaN now.
    pub nan: usize,
    /// Blocks whose scale is NaN.
    pub nan_blocks: usize,
    /// Blocks whose every number was zero.
    pub zero_blocks: usize,
    /// Blocks with the smallest scale that there is, and with the largest.
    pub least_scales: usize,
    /// Blocks with the largest finite scale.
    pub largest_scales: usize,
    /// Finite numbers beyond the largest that their block has; not those of a block whose scale is zero, which vanish.
    pub clamped: usize,
    /// Numbers that were not zero and are zero now.
    pub vanished: usize,
    /// Finite numbers that are NaN or ∞ now: the scale of their block is.
    pub lost_to_nan: usize,
    /// Elements that are finite before and after: those that count in the errors.
    pub compared: usize,
    /// The largest error.
    pub max_error: f64,
    /// The mean of the errors with their signs: the bias.
    pub mean_error: f64,
    /// The root of the mean squared error.
    pub rms_error: f64,
    /// 10 log10 of the numbers' energy over the errors'; `None` without errors.
    pub signal_to_noise: Option<f64>,
    /// Errors relative to the largest number of their block, counted in equal bins from −1/4 to 1/4;
    /// the outermost also have what is beyond.
    pub histogram: Vec<u64>,
}

impl QuantisationStatistics {
    /// Compares f32 words with what was made of them. Numbers that are or became NaN or ∞ are counted and
    /// leave the errors alone.
    ///
    /// # Panics
    /// When there are more codes than words.
    #[must_use]
    pub fn of(words: &[u32], quantised: &Quantised) -> Self {
        let made = quantised.dequantise();
        let format = &quantised.format;
        let top = format.scale.max_finite(false);
        let blocks = quantised.scales.len();
        let mut largest = vec![0_f64; blocks];
        let blocks_of: Vec<usize> = (0..words.len()).map(|at| quantised.block_of(at)).collect();
        for (word, block) in words.iter().zip(&blocks_of) {
            let x = f64::from(f32::from_bits(*word)).abs();
            // A NaN is never the larger one.
            largest[*block] = largest[*block].max(x);
        }
        let scales = |wanted: u64| {
            let codes = quantised.scales.iter();
            codes.filter(|code| u64::from(**code) == wanted).count()
        };
        let is_nan = |code: &&u8| format.scale.decode(u64::from(**code)).class == Class::Nan;
        let mut out = Self {
            elements: words.len(),
            blocks,
            given_nan: 0,
            given_infinite: 0,
            nan: 0,
            nan_blocks: quantised.scales.iter().filter(is_nan).count(),
            zero_blocks: largest.iter().filter(|x| **x == 0.0).count(),
            least_scales: scales(0),
            largest_scales: scales(top),
            clamped: 0,
            vanished: 0,
            lost_to_nan: 0,
            compared: 0,
            max_error: 0.0,
            mean_error: 0.0,
            rms_error: 0.0,
            signal_to_noise: None,
            histogram: vec![0; BINS],
        };
        let (mut sum, mut squares, mut energy) = (0.0, 0.0, 0.0);
        let last = format.element.max_finite(false) as u8;
        for ((word, made), block) in words.iter().zip(&made).zip(&blocks_of) {
            let x = f64::from(f32::from_bits(*word));
            let y = f64::from(f32::from_bits(*made));
            out.given_nan += usize::from(x.is_nan());
            out.given_infinite += usize::from(x.is_infinite());
            out.nan += usize::from(y.is_nan());
            out.lost_to_nan += usize::from(x.is_finite() && !y.is_finite());
            if !x.is_finite() || !y.is_finite() {
                continue;
            }
            let scale = quantised.scales[*block];
            let most = format.dequantise(last, scale, quantised.tensor_scale);
            let most = f64::from(f32::from_bits(most));
            out.clamped += usize::from(x.abs() > most && most > 0.0);
            out.vanished += usize::from(x != 0.0 && y == 0.0);
            let error = y - x;
            out.compared += 1;
            sum += error;
            squares += error * error;
            energy += x * x;
            out.max_error = out.max_error.max(error.abs());
            if largest[*block] > 0.0 {
                let bin = (error / largest[*block] * 4.0 + 1.0) / 2.0 * BINS as f64;
                out.histogram[(bin.floor().max(0.0) as usize).min(BINS - 1)] += 1;
            }
        }
        if out.compared > 0 {
            out.mean_error = sum / out.compared as f64;
            out.rms_error = (squares / out.compared as f64).sqrt();
        }
        out.signal_to_noise = (squares > 0.0).then(|| 10.0 * (energy / squares).log10());
        out
    }
}
