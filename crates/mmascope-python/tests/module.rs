//! The extension module is built with the tests; `cargo xtask test` runs those of the package on it.

#[test]
fn the_module_is_there_and_has_its_entrance() {
    let program = std::env::current_exe().expect("this program has a path");
    let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let name = format!("{prefix}mmascope_core{suffix}");
    // This program is `target/PROFILE/deps/module-HASH`; the module is built beside it.
    let folder = program.parent().expect("a folder");
    let module = std::fs::read(folder.join(&name)).expect("the module");
    let entrance = b"PyInit__core";
    assert!(
        module.windows(entrance.len()).any(|it| it == entrance),
        "{name} has no entrance for Python"
    );
}
