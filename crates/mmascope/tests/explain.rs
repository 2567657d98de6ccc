//! Explanations: their results, their text recomputed from itself, partings, pages, inputs.

mod explain {
    mod against;
    mod cases;
    mod golden;
    mod input;
    mod page;
    mod parse;
    mod recompute;
    mod result;
}
