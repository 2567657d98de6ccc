//! The schedules that kernels usually have: what `identify` tries with every row.

use crate::dpa::Signature;
use crate::format::{F16, F32, F64, Format};
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

/// What is known of the product.
pub(super) struct Shape {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) steps: usize,
    pub(super) with_c: bool,
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
    let own = signature.d.container();
    let wide = if own == F64 { F64 } else { F32 };
    let mut types = vec![wide];
    if own == F16 {
        types.push(F16);
    }
    let mut mains = mainloops(signature, shape, &types);
    if shape.with_c {
        let epilogues = mains
            .iter()
            .map(|main| join(main, &format!("c=epilogue/{wide}")));
        let epilogues: Vec<String> = epilogues.collect();
        mains.extend(epilogues);
    }
    match output {
        None => mains,
        Some(format) => mains
            .iter()
            .map(|main| join(main, &format!("out=rne {format}")))
            .collect(),
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
