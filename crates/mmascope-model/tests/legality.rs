//! The targets that take an instruction: recorded answers of the assembler, the assembler itself, retyped facts.

mod legality {
    mod assembler;
    mod facts;
    mod generated;
    mod matrices;
    mod recorded;
    mod rules;
}
