//! The table of rules itself: it reads, its errors name the line, its notation means what its head says.

use mmascope_model::Error;
use mmascope_model::precision::legal::Rules;

#[test]
fn the_shipped_rules_read() {
    let rules = Rules::read("ptx.txt", Rules::built_in_text()).expect("the shipped rules");
    assert_eq!(&rules, Rules::built_in());
    assert_eq!(rules.targets().len(), 26);
}
