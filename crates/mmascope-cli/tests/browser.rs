//! The pages of `explain` and `diff` in headless Chromium: they load nothing and complain of nothing, follow
//! light and dark, fit the window, and are not empty.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A and B of a product.
const SIGNAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/signal.npy");
const DCT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/dct.npy");
/// Width of the window: a small laptop's.
const WIDTH: u32 = 1280;

/// What a page says of itself; it is put into a copy of the page.
const PROBE: &str = r#"<pre id="probe"></pre><script>
const wide = [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1);
document.getElementById('probe').textContent = JSON.stringify({
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  ground: getComputedStyle(document.body).backgroundColor,
  loaded: [...document.querySelectorAll('[src],[href],link,img,iframe,object')].map(e => e.outerHTML)
    .concat(performance.getEntriesByType('resource').map(e => e.name)),
  overflow: document.documentElement.scrollWidth - innerWidth,
  clipped: wide.length,
  broken: [...document.querySelectorAll('.card .value')]
    .filter(e => e.scrollWidth > e.clientWidth || e.clientHeight > 1.6 * parseFloat(getComputedStyle(e).fontSize)).length,
  digits: document.querySelectorAll('svg rect').length,
});
</script>"#;

/// A browser, or `None` with the reason printed.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    if found.is_none() {
        println!("skipped: no Chromium here");
    }
    found
}

/// Runs the browser on a page; `None`, printed, when it does not start here.
fn run(
    browser: &Path,
    folder: &Path,
    page: &Path,
    dark: bool,
    more: &[&str],
) -> Option<(String, String)> {
    let scheme = u8::from(!dark);
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .args(["--enable-logging=stderr", "--v=0"])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={WIDTH},1400"))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(more)
        .arg(format!("file://{}", page.display()))
        .output();
    match output {
        Ok(output) if output.status.success() => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Some((text(&output.stdout), text(&output.stderr)))
        }
        _ => {
            println!("skipped: {} does not start", browser.display());
            None
        }
    }
}

/// Colour of the first pixel, and how many of the picture's bytes tell neighbours apart.
fn look(png: &Path) -> ([u8; 3], f64) {
    let file = std::fs::read(png).expect("a screenshot");
    assert!(file.starts_with(b"\x89PNG\r\n\x1a\n"));
    let (mut data, mut at, mut width, mut channels) = (Vec::new(), 8, 0, 0);
    while at + 8 <= file.len() {
        let length = u32::from_be_bytes(file[at..at + 4].try_into().expect("4 bytes")) as usize;
        let body = &file[at + 8..at + 8 + length];
        match &file[at + 4..at + 8] {
            b"IHDR" => {
                width = u32::from_be_bytes(body[..4].try_into().expect("4 bytes"));
                assert_eq!(body[8], 8, "8 bits a channel");
                channels = match body[9] {
                    2 => 3,
                    6 => 4,
                    other => panic!("colour type {other}"),
                };
            }
            b"IDAT" => data.extend_from_slice(body),
            _ => {}
        }
        at += 12 + length;
    }
    assert_eq!(width, WIDTH);
    let mut lines = Vec::new();
    flate2::read::ZlibDecoder::new(&data[..])
        .read_to_end(&mut lines)
        .expect("a picture");
    // Of the first pixel every filter keeps the value.
    let first = [lines[1], lines[2], lines[3]];
    let line = 1 + WIDTH as usize * channels;
    // The other filtered bytes are 0 where nothing changes.
    let changes = lines[line..].iter().filter(|byte| **byte != 0).count();
    (first, changes as f64 / lines.len() as f64)
}

fn mmascope(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mmascope"))
        .args(arguments)
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code().is_some_and(|code| code < 2),
        "{arguments:?}: {errors}"
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn pages_are_self_contained_and_fit_in_light_and_dark() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let case = |arch: &str, inst: &str| {
        let line = mmascope(&[
            "gen", "--arch", arch, "--inst", inst, "--family", "normal", "--seed", "5", "-n", "1",
        ]);
        line.trim().to_owned()
    };
    let f16 = "mma.m16n8k16.f32.f16.f16.f32";
    let sixteen = case("hopper", f16);
    let wide = case(
        "blackwell",
        "tcgen05.mma.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0",
    );
    let volta = "volta:mma.m8n8k4.f32.f16.f16.f32";
    let both = format!("hopper,{volta}");
    let wgmma = "hopper:wgmma.m64n8k16.f32.f16.f16";
    let types = ["--types", "f16,f16,f32"];
    let pages: [(&str, usize, Vec<&str>); 6] = [
        ("16.html", 400, vec!["explain", "--vector", &sixteen]),
        ("64.html", 60, vec!["explain", "--vector", &wide]),
        (
            "two.html",
            800,
            vec!["explain", "--vector", &sixteen, "--against", volta],
        ),
        (
            "product.html",
            800,
            [
                &[
                    "explain",
                    SIGNAL,
                    DCT,
                    "--at",
                    "0,1",
                    "--arch",
                    "ampere",
                    "--against",
                    wgmma,
                ],
                &types[..],
            ]
            .concat(),
        ),
        (
            "products.html",
            800,
            [&["diff", SIGNAL, DCT, "--arch", "a100,h100"], &types[..]].concat(),
        ),
        (
            "diff.html",
            800,
            vec![
                "diff", "--arch", &both, "--inst", f16, "--family", "normal", "-n", "300",
            ],
        ),
    ];
    for (name, digits, mut arguments) in pages {
        let (page, copy) = (place(name), place(&format!("copy-{name}")));
        let file = page.to_str().expect("a name").to_owned();
        arguments.extend(["--html", &file]);
        mmascope(&arguments);
        let html = std::fs::read_to_string(&page).expect("a page");
        assert!(html.contains("</body>"), "{name}");
        std::fs::write(&copy, html.replace("</body>", &format!("{PROBE}</body>"))).expect("a copy");
        let mut grounds = Vec::new();
        for dark in [false, true] {
            let picture = place("page.png");
            let screenshot = format!("--screenshot={}", picture.display());
            let shot = run(&browser, folder.path(), &page, dark, &[&screenshot]);
            let Some((_, said)) = shot else { return };
            let complaints: Vec<&str> = said
                .lines()
                .filter(|line| line.contains("CONSOLE"))
                .collect();
            assert!(complaints.is_empty(), "{name}: {complaints:?}");
            let (ground, changes) = look(&picture);
            assert!(changes > 0.004, "{name}: {changes} of the picture is drawn");
            grounds.push(ground);
            let Some((dom, _)) = run(&browser, folder.path(), &copy, dark, &["--dump-dom"]) else {
                return;
            };
            let probe = dom
                .split("<pre id=\"probe\">")
                .nth(1)
                .and_then(|rest| rest.split("</pre>").next());
            let probe: serde_json::Value =
                serde_json::from_str(probe.expect("a probe")).expect("JSON");
            assert_eq!(probe["dark"], dark, "{name}");
            assert_eq!(probe["loaded"], serde_json::json!([]), "{name}");
            assert!(
                probe["overflow"].as_i64().expect("a number") <= 0,
                "{name}: {probe}"
            );
            assert_eq!(probe["broken"], 0, "{name}: a number is cut or broken");
            assert_eq!(
                probe["clipped"], 0,
                "{name} dark={dark}: something is cut off at the right"
            );
            assert!(
                probe["digits"].as_u64().expect("a number") > digits as u64,
                "{name}: {probe}"
            );
            let [r, g, b] = ground;
            assert_eq!(
                probe["ground"],
                format!("rgb({r}, {g}, {b})"),
                "{name}: the picture is of this page"
            );
        }
        let brightness = |[r, g, b]: [u8; 3]| u32::from(r) + u32::from(g) + u32::from(b);
        assert!(
            brightness(grounds[0]) > 690 && brightness(grounds[1]) < 120,
            "{name}: {grounds:?}"
        );
    }
}
