//! Vector lines: what is read, what is refused and where, and the streams that they come in.

mod vectors {
    mod answers;
    mod bad_lines;
    mod streams;
}
