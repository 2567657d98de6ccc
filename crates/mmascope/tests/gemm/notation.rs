//! The text form of schedules: what is read is what is written, and what is wrong is said where.

use mmascope::Error;
use mmascope::gemm::Schedule;

use super::Random;

#[test]
fn canonical_texts_come_back() {
    for text in [
        "chain",
        "order=descending",
        "order=stride/4",
        "order=blocks/2,0,1",
        "split-k=4 reduce=pairwise/f32",
        "split-k=4 reduce=descending/f16/rz",
        "stream-k=132 tile=128x256 iteration=4 reduce=ascending/f32",
        "promote=4/f32",
        "promote=4/f32 scale=1x128 by=fma",
        "c=epilogue/f32 alpha=0.1 beta=-2 by=mul-add",
        "c=epilogue/bf16/rz alpha=0.5 beta=0 by=fma",
        "out=rne bf16",
        "out=rz e4m3fn overflow=sat",
        "order=descending; split-k=2 reduce=ascending/f64; promote=1/f32; \
         c=epilogue/f64 alpha=0.1 beta=1 by=fma; out=odd f16 overflow=satfinite",
    ] {
        let schedule: Schedule = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schedule.to_string(), text);
        assert!(!text.contains(':'), "subjects split at colons");
    }
}

#[test]
fn other_spellings_mean_the_same() {
    for (text, canonical) in [
        ("order=ascending", "chain"),
        ("c=first;order=ascending", "chain"),
        ("out=rne bfloat16", "out=rne bf16"),
        (
            "  split-k=4   reduce=pairwise/float32 ;out=rne bf16",
            "split-k=4 reduce=pairwise/f32; out=rne bf16",
        ),
        ("out=rne bf16 overflow=ieee", "out=rne bf16"),
        (
            "promote=4/f32/rne scale=1x128",
            "promote=4/f32 scale=1x128 by=fma",
        ),
        (
            "split-k=4 reduce=pairwise/f32; promote=4/f32; c=epilogue alpha=1 beta=0; out=rne bf16",
            "split-k=4 reduce=pairwise/f32; promote=4/f32; c=epilogue/f32 alpha=1 beta=0 by=fma; out=rne bf16",
        ),
        (
            "c=epilogue/f32 alpha=1e-1",
            "c=epilogue/f32 alpha=0.1 beta=1 by=fma",
        ),
        (
            "stream-k=2 tile=1x1 reduce=ascending/f32",
            "stream-k=2 tile=1x1 iteration=1 reduce=ascending/f32",
        ),
    ] {
        let schedule: Schedule = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(schedule.to_string(), canonical, "{text}");
        assert_eq!(schedule, canonical.parse().expect("canonical"));
    }
}

#[test]
fn what_is_wrong_is_said_where_it_stands() {
    for (text, column, message) in [
        ("", 1, "expected chain, emulate, order"),
        ("chain; chain", 1, "stands alone"),
        ("out=rne bf16;", 14, "found nothing"),
        ("splitk=4", 1, "nearest: split-k"),
        (
            "split-k=0 reduce=ascending/f32",
            9,
            "'0' is no whole number",
        ),
        (
            "split-k=+4 reduce=ascending/f32",
            9,
            "'+4' is no whole number",
        ),
        ("split-k=4", 10, "expected reduce="),
        ("split-k=4 reduce=pairs/f32", 18, "nearest: pairwise"),
        ("split-k=4 reduce=pairwise", 26, "expected /FORMAT"),
        ("split-k=4 reduce=pairwise/f33", 27, "nearest: f32"),
        (
            "split-k=4 reduce=pairwise/f32/rnx",
            31,
            "unknown rounding 'rnx'",
        ),
        ("split-k=4 reduce=pairwise/f32/rz/x", 34, "too much"),
        (
            "split-k=4 reduce=pairwise/ue8m0",
            27,
            "no signed floating-point format",
        ),
        (
            "split-k=4 reduce=pairwise/int8",
            27,
            "no signed floating-point format; these are: f64 f32",
        ),
        ("promote=1/i8", 11, "unknown format 'i8'; possible: f64 f32"),
        ("order=up", 7, "unknown order 'up'"),
        ("order=stride", 13, "expected /N"),
        ("order=descending/2", 18, "too much"),
        ("order=blocks/0,2", 14, "every number from 0"),
        (
            "order=blocks/0,0",
            14,
            "'0,0': expected every number from 0",
        ),
        ("order", 6, "expected '='"),
        ("order=", 7, "expected a value"),
        (
            "order=ascending; order=descending",
            18,
            "order= after order=",
        ),
        (
            "split-k=2 reduce=ascending/f32; stream-k=2 tile=1x1 reduce=ascending/f32",
            33,
            "one of them",
        ),
        ("stream-k=2 reduce=ascending/f32", 12, "expected tile="),
        (
            "stream-k=2 tile=128 reduce=ascending/f32",
            17,
            "expected ROWSxCOLUMNS",
        ),
        (
            "stream-k=2 tile=128x0 reduce=ascending/f32",
            21,
            "'0' is no whole number",
        ),
        ("promote=4/f32 scales=1x128", 15, "found 'scales=1x128'"),
        ("promote=4/f32 scale=1x128 by=fmaa", 30, "nearest: fma"),
        ("c=last", 3, "unknown place of C 'last'"),
        ("c=epilogue/f32 alpha=x", 22, "'x' is no finite number"),
        (
            "c=epilogue/bf16 alpha=0.1",
            23,
            "'0.1' is not exact in bf16",
        ),
        ("c=epilogue/f32 alpha=1e39", 22, "'1e39' is beyond f32"),
        ("c=epilogue/f64 alpha=1e309", 22, "no finite number"),
        ("c=epilogue/f32 beta=inf", 21, "'inf' is no finite number"),
        ("out=bf16", 5, "unknown rounding 'bf16'"),
        ("out=rne", 8, "expected a format"),
        ("out=rne bf16 overflow=clamp", 23, "unknown"),
        ("Ω=2; out=rne bf16", 1, "unknown clause 'Ω'"),
        ("out=rne bf16; Ω", 15, "unknown clause 'Ω'"),
    ] {
        match text.parse::<Schedule>() {
            Err(Error::Text {
                position,
                message: found,
            }) => {
                assert_eq!(position.column, column, "{text}: {found}");
                assert!(found.contains(message), "{text}: {found}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Words of the grammar thrown together: read or refused, never a panic; what is read comes back.
#[test]
fn any_words_are_read_or_refused() {
    const PIECES: [&str; 28] = [
        "chain",
        "order=",
        "ascending",
        "descending",
        "stride/",
        "blocks/",
        "0,1",
        "split-k=",
        "3",
        "stream-k=",
        " tile=",
        "2x4",
        " reduce=",
        "pairwise",
        "/f32",
        "/f16",
        "/rz",
        "; ",
        "; ",
        "promote=",
        " scale=",
        " by=",
        "fma",
        "c=",
        "epilogue",
        " alpha=",
        "out=rne bf16",
        " ",
    ];
    let random = &mut Random(4);
    let mut read = 0;
    for _ in 0..200_000 {
        let count = 1 + random.bits() % 9;
        let text: String = (0..count)
            .map(|_| PIECES[(random.bits() % PIECES.len() as u64) as usize])
            .collect();
        if let Ok(schedule) = text.parse::<Schedule>() {
            read += 1;
            let canonical = schedule.to_string();
            assert_eq!(
                canonical.parse::<Schedule>().as_ref(),
                Ok(&schedule),
                "{text} {canonical}"
            );
        }
    }
    assert!(read > 1000, "{read}");
}
