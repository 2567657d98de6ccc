//! Every row of the recorded table of forms × targets, when it lies beside the project.

use std::path::Path;

use mmascope_model::precision::legal::{Legality, Target};
use serde_json::Value;

#[test]
fn every_recorded_form_is_as_the_assembler_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/legality.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: ../shared/spec/legality.json is not there");
        return;
    };
    let recorded: Value = serde_json::from_str(&text).expect("JSON");
    let (mut forms, mut answers) = (0, 0);
    for (table, rows) in recorded["tables"].as_object().expect("tables") {
        for (form, targets) in rows.as_object().expect("forms") {
            let legality =
                Legality::of(form).unwrap_or_else(|error| panic!("{table}: {form}: {error}"));
            forms += 1;
            for (target, legal) in targets.as_object().expect("targets") {
                answers += 1;
                let target: Target = target.parse().expect("target");
                assert_eq!(
                    legality.on(target).expect("a known target"),
                    legal.as_bool().expect("a boolean"),
                    "{form} on {target}"
                );
            }
        }
    }
    assert_eq!(forms, 176, "forms in the table");
    assert!(answers > 2_600, "{answers} answers");
}
