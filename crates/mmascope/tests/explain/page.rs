//! The page: well-formed, self-contained, with the result in it.

use mmascope::dpa::Modifiers;
use mmascope::explain::{
    ChainState, ChainStep, ChainSum, Comparison, OutputChain, Report, Trace, TracedValue, page,
    page_against,
};

use super::cases::{Case, Random, UNITS, unit};
use super::golden::{REQUEST, input, trace};

/// Elements that have no end tag.
const VOID: [&str; 2] = ["meta", "br"];

/// Panics unless every element is closed in order, every attribute is quoted and every `&` begins
/// an entity.
fn assert_well_formed(html: &str) {
    let body = html
        .strip_prefix("<!DOCTYPE html>\n")
        .expect("a document type");
    let (before, rest) = body.split_once("<style>").expect("a style");
    let (style, after) = rest.split_once("</style>").expect("its end");
    assert!(!style.contains('<'));
    let body = format!("{before}{after}");
    let mut open: Vec<&str> = Vec::new();
    let mut left = body.as_str();
    while let Some(start) = left.find('<') {
        let (text, tag) = left.split_at(start);
        assert!(!text.contains('>'), "{text}");
        let end = tag.find('>').expect("a tag's end");
        let inner = &tag[1..end];
        left = &tag[end + 1..];
        if let Some(name) = inner.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "…{}", &left[..left.len().min(80)]);
            continue;
        }
        assert_eq!(inner.matches('"').count() % 2, 0, "{inner}");
        let name = inner.split([' ', '/']).next().expect("a name");
        if !inner.ends_with('/') && !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty() && left.trim().is_empty(), "{open:?} {left}");
    for (at, _) in body.match_indices('&') {
        let entity = body[at..].find(';').map(|end| &body[at..at + end]);
        assert!(
            entity.is_some_and(|entity| entity.len() <= 5),
            "{}",
            &body[at..at + 8]
        );
    }
}

/// Panics when the page would load anything.
fn assert_self_contained(html: &str) {
    for word in [
        "http:", "https:", "src=", "href=", "@import", "<link", "<script", "<img", "//",
    ] {
        assert!(!html.contains(word), "{word}");
    }
    let urls: Vec<_> = html.match_indices("url(").collect();
    assert!(
        urls.iter()
            .all(|(at, _)| html[*at..].starts_with("url(#hatch)"))
    );
    assert!(html.contains("prefers-color-scheme: dark"));
}

#[test]
fn pages_of_every_algorithm_are_whole_and_stand_alone() {
    for (algorithm, units) in UNITS {
        for (signature, program) in units {
            let unit = unit(signature, program);
            let mut random = Random::seeded(program, 21);
            for number in 0..14 {
                let case = Case::of(unit.signature(), &mut random, number);
                let trace = Trace::of(&unit, &case.operands(), &case.modifiers).expect("fits");
                let html = page(algorithm, &trace);
                assert_well_formed(&html);
                assert_self_contained(&html);
                assert!(html.contains(&trace.result.word), "{program}");
                let titles = html.matches("<section class=\"step").count();
                assert!(titles >= 1, "{program}");
            }
        }
    }
}

#[test]
fn the_picture_has_a_row_a_term_and_hatches_what_is_lost() {
    let inst = "mma.m16n8k8.f32.f16.f16.f32";
    let trace = trace("ampere", inst, &input("ampere", inst, &REQUEST));
    let html = page("ampere", &trace);
    let body = html.split("</header>").nth(1).expect("a body");
    let picture = body.split("role=\"img\"").nth(1).expect("a picture");
    let picture = picture.split("</svg>").next().expect("its end");
    assert_eq!(picture.matches("class=\"name\"").count(), 5);
    assert_eq!(
        picture.matches("<rect class=\"l1\"").count(),
        2,
        "-1/4 and -1/8 lose a bit each"
    );
    assert_eq!(
        picture.matches("<rect class=\"k1\"").count(),
        3,
        "2^23 twice and -1/2"
    );
    assert_eq!(picture.matches("<rect class=\"unit\"").count(), 5);
    assert_eq!(picture.matches("class=\"e\"").count(), 1);
    assert!(picture.contains("−0.25 lost") && picture.contains("−0.125 lost"));
    for text in ["−0.5", "bf000000", "−0.875", "0.375", "p4..p7"] {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn text_is_escaped() {
    let inst = "mma.m16n8k8.f32.f16.f16.f32";
    let mut trace = trace("ampere", inst, &input("ampere", inst, &REQUEST));
    trace.notes = vec!["<b>&\"'".to_owned()];
    let html = page("<script>alert('x')</script>", &trace);
    assert_well_formed(&html);
    assert_self_contained(&html);
    assert!(html.contains("&lt;script&gt;") && html.contains("&lt;b&gt;&amp;&quot;&#39;"));
}

#[test]
fn two_units_stand_side_by_side() {
    let (volta, hopper) = ("mma.m8n8k4.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32");
    let left = trace("volta", volta, &input("volta", volta, &REQUEST));
    let right = trace("hopper", hopper, &input("hopper", hopper, &REQUEST));
    let difference = Comparison::of(("volta", &left), ("hopper", &right));
    let html = page_against(&difference);
    assert_well_formed(&html);
    assert_self_contained(&html);
    assert_eq!(html.matches("class=\"side\"").count(), 2);
    assert_eq!(html.matches("<rect class=\"mark\"").count(), 2);
    assert_eq!(html.matches("class=\"step parts\"").count(), 2);
    assert!(html.contains("They part"));
}

#[test]
fn sixty_four_products_fit() {
    let (signature, program) = UNITS[3].1[1];
    let unit = unit(signature, program);
    let mut random = Random::seeded("64", 22);
    let case = Case::of(unit.signature(), &mut random, 1);
    let trace = Trace::of(&unit, &case.operands(), &Modifiers::default()).expect("fits");
    let html = page("64 products", &trace);
    assert!(html.len() < 200_000, "{}", html.len());
    assert!(!html.contains("<details class=\"operands\" open>"));
    let widest = trace.to_string().lines().map(str::len).max();
    assert!(widest < Some(160), "{widest:?}");
}

/// A chain of 40 steps on two units: zeros in front, then equal, from step 20 on different.
fn walked() -> OutputChain {
    let sum = |word: usize| ChainSum {
        word: format!("{word:08x}"),
        value: TracedValue::Zero { negative: false },
    };
    let steps = (0..40).map(|step| ChainStep {
        k: (16 * step, 16 * step + 15),
        own: [sum(step), sum(step + 1)],
        other: Some([sum(step), sum(step + 1 + usize::from(step >= 20))]),
        state: match step {
            0..8 => ChainState::Idle,
            8..20 => ChainState::Equal,
            _ => ChainState::Apart,
        },
    });
    OutputChain {
        names: vec!["<left>".to_owned(), "right".to_owned()],
        steps: steps.collect(),
        opened: 20,
    }
}

#[test]
fn a_chain_shows_every_step_and_opens_one() {
    let mut report = Report::new("output 3,7");
    report.chain(&walked());
    let html = report.page();
    assert_well_formed(&html);
    assert_self_contained(&html);
    assert_eq!(
        html.matches("<span class=\"k\">").count(),
        40,
        "every step has a card"
    );
    assert_eq!(html.matches("<li class=\"apart opened\">").count(), 1);
    assert!(html.contains("The step of k = 320 to 335 is opened below"));
    for text in [
        "k = 0 to 127: 8 steps of zeros only, which change nothing",
        "k = 128 to 271: 9 steps, equal",
        "k = 384 to 623: 15 steps, different",
        "<b>A</b> c <code>00000014</code> → D <code>00000015</code> = 0",
    ] {
        let text = text.replace("<b>A</b>", "<i>A</i>");
        assert!(html.contains(&text), "{text} of {html}");
    }
    // Where the second unit ends every other step alone, only those were compared.
    let mut halves = walked();
    for step in halves.steps.iter_mut().skip(1).step_by(2) {
        (step.other, step.state) = (None, ChainState::Adds);
    }
    let mut report = Report::new("output 3,7");
    report.chain(&halves);
    let html = report.page();
    for text in [
        "10 steps, equal after 5 of them",
        "15 steps, different after 8 of them",
    ] {
        assert!(html.contains(text), "{text} of {html}");
    }
    let text = walked().to_string();
    let expected = "40 steps of 16 products\n  k = 0 to 127: 8 steps of zeros only, which change nothing\n  …\n";
    assert!(text.starts_with(expected), "{text}");
    assert!(
        text.contains("\n> k = 320 to 335: 00000015 and 00000016\n"),
        "{text}"
    );
}

#[test]
fn inexact_values_have_one_sign() {
    let inst = "mma.m16n8k8.f32.f16.f16.f32";
    let request = mmascope::explain::TraceRequest {
        a: "1.0009765625",
        b: "1.0009765625",
        c: Some("0x1.234568p1"),
        ..REQUEST
    };
    let html = page(
        "ampere",
        &trace("ampere", inst, &input("ampere", inst, &request)),
    );
    assert!(html.contains("</code> <b class=\"outcome\">≈"), "{html}");
    assert!(!html.contains("= <b class=\"outcome\">≈"));
}
