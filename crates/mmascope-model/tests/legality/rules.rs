//! The table of rules itself: it reads, its errors name the line, its notation means what its head says.

use mmascope_model::Error;
use mmascope_model::precision::legal::Rules;

#[test]
fn the_shipped_rules_read() {
    let rules = Rules::read("ptx.txt", Rules::built_in_text()).expect("the shipped rules");
    assert_eq!(&rules, Rules::built_in());
    assert_eq!(rules.targets().len(), 26);
}

#[test]
fn a_wrong_line_is_named() {
    let head = "targets 75 80 100 100a\nfamily 100 = 100\n";
    let cases = [
        ("add | [rn | f32 | 3 | 75+", "'[' is never closed"),
        ("add | [rn] | f32 | 3", "a rule is"),
        ("add | [rn] | f32 | x | 75+", "'x' is no number"),
        ("add | [rn] | f32 | 3 | 76", "'76' is no group"),
        ("add | [rn] | f32 | 3 | 200f", "'200f' is no group"),
        ("targets 75q", "'75q' is no target"),
        ("never erf", "never is"),
        ("note lonely", "a note belongs"),
        ("beyond mma | sp", "beyond is"),
    ];
    for (line, message) in cases {
        match Rules::read("mine.txt", &format!("{head}{line}")) {
            Err(Error::Text {
                position,
                message: said,
            }) => {
                assert_eq!((&*position.file, position.line), ("mine.txt", 3), "{line}");
                assert!(said.contains(message), "{line}: {said}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}
