//! Writes the C header, and compares the committed one.

const HEADER: &str = "crates/mmascope-capi/include/mmascope.h";

/// Writes `include/mmascope.h`; with `check`, says whether the committed one is stale.
pub(crate) fn generate(check: bool) -> bool {
    let text = match made() {
        Ok(text) => text,
        Err(why) => {
            eprintln!("{HEADER}: {why}");
            return false;
        }
    };
    let path = root().join(HEADER);
    if !check {
        return std::fs::write(path, text).is_ok();
    }
    let is_fresh = std::fs::read(path).is_ok_and(|committed| committed == text);
    if !is_fresh {
        eprintln!("{HEADER} is stale: run `cargo xtask generate`");
    }
    is_fresh
}

fn made() -> Result<Vec<u8>, String> {
    let library = root().join("crates/mmascope-capi");
    let config = cbindgen::Config::from_file(library.join("cbindgen.toml"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(library.join("src/lib.rs"))
        .generate()
        .map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    Ok(text)
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
