//! Lists the usual schedules of kernels, which `identify` tries with every row.

use super::Factors;
use super::matched_inputs::outside;
use crate::dpa::Signature;
use crate::format::{F16, Format};
use crate::gemm::Schedule;

/// Instructions between two promotions.
const PROMOTIONS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The most parts of a split K.
const PARTS: usize = 16;
/// Processors of chips that have run stream-K kernels, and small numbers of workers.
const WORKERS: [usize; 12] = [2, 3, 4, 8, 16, 40, 72, 80, 108, 114, 132, 148];
/// Rows and columns of tiles.
const TILES: [(usize, usize); 6] = [
    (128, 128),
    (128, 256),
    (256, 128),
    (64, 64),
    (64, 128),
    (128, 64),
];
/// Products of K in an iteration of stream-K.
const ITERATIONS: [usize; 3] = [32, 64, 128];

/// What is known of a matrix product before it is computed.
pub(super) struct Shape {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) steps: usize,
    pub(super) with_c: bool,
    pub(super) factors: Factors,
    pub(super) scaled: Option<Scaled>,
}

/// How many rows, columns and steps share a software scale.
#[derive(Clone, Copy)]
pub(super) struct Scaled {
    /// Rows of A.
    pub(super) rows: usize,
    /// Columns of B.
    pub(super) columns: usize,
    /// Steps of K.
    pub(super) steps: usize,
}

/// The schedules to try with a unit, the simplest first. `output` is the narrower format of D, where
/// D may have been converted at the end.
pub(super) fn usual(signature: &Signature, shape: &Shape, output: Option<Format>) -> Vec<Schedule> {
    let mut found: Vec<Schedule> = Vec::new();
    for text in texts(signature, shape, output) {
        // A clause that does not fit the formats is no schedule of this unit.
        if let Ok(schedule) = text.parse::<Schedule>()
            && schedule.least_steps() <= shape.steps
            && !found.contains(&schedule)
        {
            found.push(schedule);
        }
    }
    found
}

fn texts(signature: &Signature, shape: &Shape, output: Option<Format>) -> Vec<String> {
    let wide = outside(signature);
    let mut types = vec![wide];
    if signature.d.container() == F16 {
        types.push(F16);
    }
    let mains = match &shape.scaled {
        None => mainloops(signature, shape, &types),
        Some(scaled) => scaled.mainloops(shape, &wide),
    };
    let mains = epilogues(mains, shape, &wide);
    match output {
        None => mains,
        Some(format) => mains
            .iter()
            .map(|main| join(main, &format!("out=rne {format}")))
            .collect(),
    }
}

/// The same with each place that C may have, and with α and β.
fn epilogues(mains: Vec<String>, shape: &Shape, wide: &Format) -> Vec<String> {
    let Factors { alpha, beta } = shape.factors;
    let with = |epilogue: &str| -> Vec<String> {
        let epilogue = format!("c=epilogue/{wide}{epilogue}");
        // Without C inside, one promotion of everything is the plain chain.
        let all = format!("promote={}/{wide}", shape.steps);
        let mains = mains.iter().filter(|main| **main != all);
        mains.map(|main| join(main, &epilogue)).collect()
    };
    let factors = format!(" alpha={alpha} beta={beta}");
    match (alpha == 1.0, beta == 1.0, shape.with_c) {
        (true, _, false) => mains,
        (false, _, false) => with(&format!(" alpha={alpha} beta=0")),
        (true, true, true) => [mains.clone(), with("")].concat(),
        (true, false, true) => with(&factors),
        (false, _, true) => [with(&factors), with(&format!("{factors} by=mul-add"))].concat(),
    }
}

impl Scaled {
    /// One promotion for each scale, in one part or several.
    fn mainloops(&self, shape: &Shape, wide: &Format) -> Vec<String> {
        let Self {
            rows,
            columns,
            steps,
        } = self;
        let promotions = ["fma", "mul-add"]
            .map(|by| format!("promote={steps}/{wide} scale={rows}x{columns} by={by}"));
        let mut found = promotions.to_vec();
        for parts in (2..=PARTS).filter(|parts| shape.steps.is_multiple_of(parts * steps)) {
            for kind in ["ascending", "pairwise", "descending"] {
                let split = format!("split-k={parts} reduce={kind}/{wide}");
                found.extend(promotions.iter().map(|main| format!("{main}; {split}")));
            }
        }
        found
    }
}

fn join(main: &str, more: &str) -> String {
    match main {
        "chain" => more.to_owned(),
        main => format!("{main}; {more}"),
    }
}

fn mainloops(signature: &Signature, shape: &Shape, types: &[Format]) -> Vec<String> {
    let mut found = vec!["chain".to_owned(), "order=descending".to_owned()];
    if shape.steps == 1 {
        found.truncate(1);
    }
    for stride in [2, 4, 8] {
        if stride < shape.steps {
            found.push(format!("order=stride/{stride}"));
        }
    }
    // One promotion of everything is the plain chain, but for c.
    let most = shape.steps - usize::from(!shape.with_c);
    for steps in PROMOTIONS.into_iter().filter(|steps| *steps <= most) {
        found.push(format!("promote={steps}/{}", types[0]));
    }
    for parts in 2..=PARTS.min(shape.steps) {
        for kind in ["ascending", "pairwise", "descending"] {
            for format in types {
                let split = format!("split-k={parts} reduce={kind}/{format}");
                if parts.is_power_of_two() && kind != "descending" {
                    found.push(format!("order=stride/{parts}; {split}"));
                }
                found.push(split);
            }
        }
    }
    for iteration in ITERATIONS {
        if iteration % signature.k != 0 || iteration / signature.k >= shape.steps {
            continue;
        }
        for (rows, columns) in TILES {
            // One tile of any size that holds D.
            let is_one = rows >= shape.m && columns >= shape.n;
            if is_one
                && (rows, columns) != TILES[0]
                && TILES[0].0 >= shape.m
                && TILES[0].1 >= shape.n
            {
                continue;
            }
            let tiles = shape.m.div_ceil(rows) * shape.n.div_ceil(columns);
            let each = shape.steps.div_ceil(iteration / signature.k);
            for workers in WORKERS {
                if !cuts_a_tile(tiles, each, workers) {
                    continue;
                }
                found.push(format!(
                    "stream-k={workers} tile={rows}x{columns} iteration={} reduce=ascending/{}",
                    iteration / signature.k,
                    types[0]
                ));
            }
        }
    }
    // The simple ones first: strided splits stand after plain ones.
    found.sort_by_key(|text| (text.contains("stream-k"), text.matches(';').count()));
    found
}

/// Whether some worker begins inside a tile; without that stream-K is the plain chain.
fn cuts_a_tile(tiles: usize, iterations: usize, workers: usize) -> bool {
    let (each, more) = (tiles * iterations / workers, tiles * iterations % workers);
    (1..workers).any(|worker| !(worker * each + worker.min(more)).is_multiple_of(iterations))
}
