//! What compilers choose: the rules one by one, and LLVM itself where it is there.

mod resolver {
    mod generated;
    mod llvm;
}
