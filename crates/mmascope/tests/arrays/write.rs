//! The writer: the whole file or nothing.

use std::fs;
use std::sync::atomic::AtomicBool;

use mmascope::Error;
use mmascope::array::{self, Casting, check_writable, write_npy};
use mmascope::format::{BF16, E4M3FN, E8M13, F16, F32, F64, Format};

static GO: AtomicBool = AtomicBool::new(false);

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).into_string().expect("a name"))
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("d.npy");
    let file = path.to_str().expect("a name");
    for (format, descr) in [
        (F16, "<f2"),
        (F32, "<f4"),
        (F64, "<f8"),
        (E8M13, "<f4"),
        (BF16, "<V2"),
        (E4M3FN, "|V1"),
    ] {
        for shape in [&[2, 3][..], &[6], &[1, 6, 1]] {
            let step = format.container().mask() / 7;
            let words: Vec<u64> = (1..7).map(|i| format.to_register(i * step)).collect();
            check_writable(file).expect("writable");
            write_npy(file, shape, &format, &words, &GO).expect("written");
            let bytes = fs::read(&path).expect("read");
            assert!(
                String::from_utf8_lossy(&bytes[..128]).contains(descr),
                "{format}"
            );
            assert_eq!(
                (bytes.len() - 6 * format.register.bits as usize / 8) % 64,
                0
            );
            let array = array::read(file).expect("right");
            assert_eq!(array.shape(), shape);
            let container: Format = format.container();
            let back = array.words(&container, &Casting::default()).expect("fits");
            assert_eq!(back, words, "{format}");
        }
    }
    assert_eq!(names(folder.path()), ["d.npy"]);
}

#[test]
fn nothing_is_left_on_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("d.npy");
    fs::write(&path, "before").expect("written");
    let file = path.to_str().expect("a name");
    let cancelled = write_npy(file, &[2], &F32, [1, 2], &AtomicBool::new(true));
    assert_eq!(cancelled, Err(Error::Cancelled));
    assert!(write_npy(file, &[3], &F32, [1, 2], &GO).is_err());
    assert_eq!(fs::read_to_string(&path).expect("read"), "before");
    assert_eq!(names(folder.path()), ["d.npy"]);
    let missing = folder.path().join("no/d.npy");
    let error = check_writable(missing.to_str().expect("a name")).expect_err("refused");
    assert!(error.to_string().contains("there is no folder"), "{error}");
    let error = check_writable(folder.path().to_str().expect("a name")).expect_err("refused");
    assert!(error.to_string().contains("this is a folder"), "{error}");
}

#[cfg(unix)]
#[test]
fn devices_are_not_replaced_and_links_are_followed() {
    let error = check_writable("/dev/null").expect_err("refused");
    assert!(error.to_string().contains("no regular file"), "{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let (target, link) = (
        folder.path().join("target.npy"),
        folder.path().join("link.npy"),
    );
    fs::write(&target, "before").expect("written");
    std::os::unix::fs::symlink(&target, &link).expect("a link");
    write_npy(link.to_str().expect("a name"), &[1], &F32, [1], &GO).expect("written");
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(array::read(target.to_str().expect("a name")).is_ok());
}

#[cfg(unix)]
#[test]
fn a_dangling_link_is_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (link, file) = (
        folder.path().join("link.npy"),
        folder.path().join("file.npy"),
    );
    std::os::unix::fs::symlink("file.npy", &link).expect("a link");
    let name = link.to_str().expect("a name");
    write_npy(name, &[1, 1], &F32, [0x3f80_0000], &AtomicBool::new(false)).expect("written");
    assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(fs::symlink_metadata(&file).expect("a file").is_file());
}
