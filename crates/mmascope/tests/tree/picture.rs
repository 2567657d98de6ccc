//! The geometry of drawings: no edge runs through a node that it does not end at.

use mmascope::format::{F32, F64};
use mmascope::tree::{Builder, Op, Tree};

use super::simulated::{Random, chain, pairwise, strided};

type Point = (f64, f64);

/// The numbers of an attribute's text.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(|part| part.parse().expect("a number")).collect()
}

fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let (_, rest) = element.split_once(&format!(" {name}=\"")).expect("it");
    rest.split_once('"').expect("its end").0
}

/// The corners of an edge: `M x y`, then `H x`, `V y` and `L x y`.
fn corners(path: &str) -> Vec<Point> {
    let mut corners: Vec<Point> = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let end = rest[1..]
            .find(char::is_alphabetic)
            .map_or(rest.len(), |at| at + 1);
        let (command, values) = (&rest[..1], numbers(&rest[1..end]));
        let at = corners.last().copied();
        corners.push(match (command, &values[..], at) {
            ("M" | "L", &[x, y], _) => (x, y),
            ("H", &[x], Some((_, y))) => (x, y),
            ("V", &[y], Some((x, _))) => (x, y),
            other => panic!("{other:?} of {path}"),
        });
        rest = &rest[end..];
    }
    corners
}

/// How far a point is from a line between two others.
fn distance((x, y): Point, (from, to): (Point, Point)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx * dx + dy * dy;
    let along = match length > 0.0 {
        true => (((x - from.0) * dx + (y - from.1) * dy) / length).clamp(0.0, 1.0),
        false => 0.0,
    };
    (x - from.0 - along * dx).hypot(y - from.1 - along * dy)
}

/// Gives the number of nodes that are drawn open.
fn assert_no_edge_crosses_a_node(tree: &Tree) -> usize {
    let svg = tree.svg("t", &[]);
    let elements = |name: &str| -> Vec<String> {
        let mark = format!("<{name} ");
        let parts = svg.split(&mark).skip(1);
        parts
            .map(|part| format!(" {}", part.split_once('>').expect("its end").0))
            .collect()
    };
    let nodes: Vec<(Point, f64)> = elements("circle")
        .iter()
        .map(|circle| {
            let [x, y, r] = ["cx", "cy", "r"].map(|name| numbers(attribute(circle, name))[0]);
            ((x, y), r)
        })
        .collect();
    let edges: Vec<Vec<Point>> = elements("path")
        .iter()
        .map(|path| corners(attribute(path, "d")))
        .collect();
    assert!(edges.len() >= nodes.len(), "{svg}");
    for edge in &edges {
        let ends = [edge[0], edge[edge.len() - 1]];
        for &(centre, radius) in nodes.iter().filter(|(centre, _)| !ends.contains(centre)) {
            for line in edge.windows(2) {
                let apart = distance(centre, (line[0], line[1]));
                assert!(apart > radius, "{line:?} through {centre:?} of {svg}");
            }
        }
    }
    nodes.len()
}

/// Lanes that are summed pairwise, and a tail in f64 that joins them at the root.
fn lanes_and_tail(lanes: usize, tail: usize) -> Tree {
    let steps = 31;
    let body = lanes * steps;
    let mut builder = Builder::new(body + tail);
    let mut sums: Vec<usize> = (0..lanes)
        .map(|lane| {
            (1..steps).fold(lane, |sum, step| {
                builder.node(Op::Fma, F32, vec![sum, step * lanes + lane])
            })
        })
        .collect();
    while sums.len() > 1 {
        sums = sums
            .chunks(2)
            .map(|two| builder.node(Op::Add, F32, two.to_vec()))
            .collect();
    }
    let last = (body + 1..body + tail).fold(body, |sum, leaf| {
        builder.node(Op::Add, F64, vec![sum, leaf])
    });
    let root = builder.node(Op::Add, F64, vec![sums[0], last]);
    builder.build(root).expect("a tree")
}

#[test]
fn no_edge_crosses_a_node() {
    let mut builder = Builder::new(61);
    let root = pairwise(&mut builder, (0..61).collect());
    for (tree, nodes) in [
        (lanes_and_tail(32, 8), 32),
        (lanes_and_tail(8, 1), 8),
        (chain(&(0..40).collect::<Vec<_>>()), 39),
        (builder.build(root).expect("a tree"), 60),
        (strided(64, 8), 63),
        (strided(4096, 32), 31),
    ] {
        assert_eq!(assert_no_edge_crosses_a_node(&tree), nodes, "{tree}");
    }
    let mut random = Random(9);
    let trees = (0..60).map(|_| {
        let leaves = 2 + random.below(400);
        random.tree(leaves, true)
    });
    let nodes: usize = trees.map(|tree| assert_no_edge_crosses_a_node(&tree)).sum();
    assert!(nodes > 300, "{nodes}");
}

#[test]
fn two_leaves_are_no_range() {
    let mut builder = Builder::new(66);
    let lanes: Vec<usize> = (0..33)
        .map(|lane| builder.node(Op::Add, F32, vec![lane, lane + 33]))
        .collect();
    let root = lanes[1..].iter().fold(lanes[0], |sum, &lane| {
        builder.node(Op::Add, F32, vec![sum, lane])
    });
    let svg = builder.build(root).expect("a tree").svg("t", &[]);
    assert!(
        svg.contains("leaves 18, 51<") && !svg.contains("51…51"),
        "{svg}"
    );
}
