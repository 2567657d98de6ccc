//! The documentation page made of the deviations.

use super::table::DEVIATIONS;

/// The page `docs/source-document.md`.
#[must_use]
pub fn page() -> String {
    let mut text = String::from(
        "# What the source document says, and what is true\n\n\
         One of the documents behind this project is an unofficial page about fast-math flags, flush-to-zero, approximate\n\
         functions, narrow formats and block scaling in NVIDIA's tile compiler. Its skeleton is true, and it errs in 36\n\
         places. `mmascope` does what is true. Under `--policy seed` the resolver takes the page literally and says where.\n\n\
         This page is made from `crates/mmascope-model/src/precision/deviations/table.rs`; a test fails when it is stale.\n\n\
         Evidence: *ptxas* is NVIDIA's assembler 13.5 asked form by form; *LLVM* its NVPTX backend, version 22; *libNVVM*,\n\
         *libdevice* and *tileiras* NVIDIA's compilers and library, run or read as they are shipped; *PTX* the PTX ISA's text,\n\
         9.1 or 9.4; *SASS* the machine code that the assembler makes; *dialect* the public Tile dialect's source.\n",
    );
    let mut part = "";
    for deviation in DEVIATIONS {
        if deviation.part != part {
            part = deviation.part;
            text.push_str(&format!("\n## {part}\n"));
        }
        text.push_str(&format!(
            "\n### {}. {}\n\n{}\n\nEvidence: {}.\n",
            deviation.number, deviation.says, deviation.truth, deviation.evidence
        ));
        if !deviation.shown_by.is_empty() {
            text.push_str(&format!("\n```sh\n{}\n```\n", deviation.shown_by));
        }
    }
    text
}
