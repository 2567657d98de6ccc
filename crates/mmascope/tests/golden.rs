//! What a real GPU answered (`golden/hopper`, whose first lines name it) is what the reference computes.

mod golden {
    mod answers;
    mod compared;
    mod file;
    mod nan;
    mod point;
    mod points;
}
