//! Units that add exact groups on rounded grids: found from a row of the same algorithm; without one they are outside
//! of the space, and the search says so with a counter-example.

use mmascope::dpa::{Signature, Unit};
use mmascope::dut::ModelDut;
use mmascope::infer::{InferenceOptions, Outcome, infer};
use mmascope::isa::Catalogue;

use crate::outside::no_model_of;

#[test]
fn a_unit_with_groups_of_four_is_found_from_the_rows() {
    let program =
        "codes=numbers ; gr-fdpa L=16 G=4 Fg=10 F=23 e0=-127 a-to=6 b-to=4 fault=27 -> rna f32";
    let signature: Signature = "a=bf16 b=bf16 c=f32 d=f32 k=16"
        .parse()
        .expect("a signature");
    let unit = Unit::new(signature, program.parse().expect("a program")).expect("a unit");
    let mut device = ModelDut::new("a black box", unit.clone());
    let catalogue = Catalogue::built_in();
    let inference =
        infer(&mut device, Some(catalogue), &InferenceOptions::default()).expect("answers");
    let Outcome::Model(model) = &inference.outcome else {
        panic!("{:?}", inference.outcome);
    };
    println!("{} ({} queries)", model.program, inference.queries);
    assert_eq!(model.program.to_string(), program);
    assert!(model.equivalent.is_empty(), "{:?}", model.equivalent);
}

#[test]
fn without_the_rows_such_units_are_outside_the_space() {
    for inst in ["tensix.elwmul.bf16.d16.phase0", "tensix.sfpmad"] {
        let row = Catalogue::built_in().find("wormhole", inst).expect("a row");
        let unit = row.unit().cloned().expect("a unit");
        no_model_of(ModelDut::new(inst, unit), None);
    }
}
