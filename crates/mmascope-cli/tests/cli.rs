//! The command line as its users see it: a process with arguments, streams and an exit status.

mod cli {
    mod check;
    mod commands;
    mod pipe;
    mod process;
}
