//! The pages of the atlas in headless Chromium: they fit phones and laptops, light and dark, and search finds every name.

use super::*;

/// What a page says of its layout: how far it is too wide, and texts that stand on one another or are cut off.
const LAYOUT: &str = r"(() => {
  const wide = document.documentElement.scrollWidth - innerWidth;
  const scrolls = (it) => { for (; it; it = it.parentElement ?? it.getRootNode().host) { const style = getComputedStyle(it); if (/auto|scroll/.test(style.overflowX + style.overflowY)) return true; } return false; };
  const roots = [document, ...[...document.querySelectorAll('*')].map(it => it.shadowRoot).filter(Boolean)];
  const boxes = [];
  const cut = [];
  for (const root of roots) for (const it of root.querySelectorAll('h1,h2,h3,p,th,td,li,label,button,small,summary,dd,dt')) {
    if (it.closest('.hidden, caption, #search-results, [hidden], .skip') || it.classList.contains('hidden') || !it.checkVisibility()) continue;
    const box = it.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    if (!scrolls(it) && (box.right > innerWidth + 1 || box.left < -1)) cut.push(it.outerHTML.slice(0, 120));
    if (it.scrollWidth > it.clientWidth + 2 && getComputedStyle(it).overflowX === 'hidden') cut.push('hidden: ' + it.outerHTML.slice(0, 120));
    if (/^(H1|H2|H3|P|BUTTON|LABEL|SUMMARY)$/.test(it.tagName) && !scrolls(it)) boxes.push([it, box]);
  }
  const over = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [one, x] = boxes[i], [two, y] = boxes[j];
    if (one.contains(two) || two.contains(one)) continue;
    if (Math.min(x.right, y.right) - Math.max(x.left, y.left) > 2 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 2) over.push(one.outerHTML.slice(0, 80) + ' | ' + two.outerHTML.slice(0, 80));
  }
  return {wide, cut, over};
})()";

#[test]
fn pages_fit_phones_and_laptops_in_light_and_dark() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    let row = rows()
        .into_iter()
        .find(|row| row["k"] == 64 && row["arch"] == "blackwell")
        .expect("64 products");
    let inst = row["inst"].as_str().expect("a name");
    let drawn = format!("explorer.html#arch=blackwell&inst={inst}&against=hopper:f16,f16,f32");
    let index = std::fs::read_to_string(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("atlas-site/atlas-search.js"),
    )
    .expect("the index");
    let unit = index
        .split("\"unit-")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a unit");
    let pages = [
        "index.html".to_owned(),
        "arch-blackwell.html".to_owned(),
        format!("unit-{unit}"),
        "algorithm-t-fdpa.html".to_owned(),
        "how-we-know.html".to_owned(),
        "published.html".to_owned(),
        "emulation.html".to_owned(),
        "formats.html".to_owned(),
        "changes.html".to_owned(),
        "explorer.html".to_owned(),
        // Numbers of hundreds of digits.
        "explorer.html#arch=h100&inst=f64&a=0.1,1e300,1e-300&b=0.3,1e-300,1e300&c=1e-308"
            .to_owned(),
        drawn,
    ];
    let axe = std::env::var("MMASCOPE_AXE")
        .ok()
        .and_then(|file| std::fs::read_to_string(file).ok());
    if axe.is_none() {
        println!("skipped: axe-core is asked only where MMASCOPE_AXE names its axe.min.js");
    }
    for page in &pages {
        for (width, height, dark) in [
            (1280, 800, false),
            (390, 844, false),
            (1280, 800, true),
            (390, 844, true),
        ] {
            browser.look(width, height, dark);
            if page.starts_with("explorer") {
                explorer(
                    &mut browser,
                    &server,
                    page.strip_prefix("explorer.html").unwrap_or(""),
                );
                if page.contains("blackwell") {
                    browser.value("document.getElementById('draw').click()");
                }
            } else {
                browser.open(&server.page(page));
            }
            let layout = browser.value(LAYOUT);
            let what = format!("{page} at {width}, dark {dark}: {layout}");
            assert!(
                layout["wide"].as_i64().is_some_and(|wide| wide <= 0),
                "{what}"
            );
            assert_eq!(
                (&layout["cut"], &layout["over"]),
                (&json!([]), &json!([])),
                "{what}"
            );
            let ground = browser.text("getComputedStyle(document.body).backgroundColor");
            assert_eq!(
                ground,
                if dark {
                    "rgb(18, 21, 27)"
                } else {
                    "rgb(251, 250, 247)"
                },
                "{what}"
            );
            if let Some(axe) = &axe {
                browser.value(&format!("{axe};0"));
                let found = browser.value(
                    "axe.run().then(it => it.violations.filter(it => /serious|critical/.test(it.impact)).map(it => it.id + ': ' + it.nodes.slice(0, 3).map(node => node.html).join(' ')))",
                );
                assert_eq!(found, json!([]), "{page} at {width}, dark {dark}");
            }
        }
    }
    browser.look(1280, 800, false);
    browser.open(&server.page("index.html"));
    let interactive = browser.value("performance.getEntriesByType('navigation')[0].domInteractive");
    println!("the first page is interactive after {interactive} ms");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

#[test]
fn the_search_finds_instructions_by_any_accepted_name() {
    let _turn = turn();
    let folder = tempfile::tempdir().expect("a folder");
    let Some((mut browser, server)) = stage(folder.path()) else {
        return;
    };
    browser.open(&server.page("index.html"));
    for (query, expected) in [
        (
            "H100 mma.m16n8k16.f32.f16.f16.f32",
            "hopper-mma.m16n8k16.f32.f16.f16.f32",
        ),
        (
            "sm_90 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            "hopper-mma.m16n8k16.f32.f16.f16.f32",
        ),
        (
            "h100:wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16",
            "hopper-wgmma.m64n8k16.f32.f16.f16",
        ),
        (
            "MI300X v_mfma_f32_32x32x8f16",
            "cdna3-v-mfma-f32-32x32x8-f16",
        ),
        (
            "gfx908 v_mfma_f32_32x32x8_f16",
            "cdna1-v-mfma-f32-32x32x8-f16",
        ),
        ("L40 e4m3", "ada-"),
    ] {
        browser.write("#search", query);
        browser.until("document.getElementById('search-count').textContent !== ''");
        let links = browser.value("[...document.querySelectorAll('#search-results a')].map(it => it.getAttribute('href'))");
        let links: Vec<String> = serde_json::from_value(links).expect("links");
        assert!(
            links.iter().any(|link| link.contains(expected)),
            "{query}: {links:?}"
        );
        browser.value("document.getElementById('search-count').textContent = ''");
    }
    // Rows of every architecture by every name of it, whether they have a model or not.
    let list: Value = serde_json::from_str(&mmascope(&["list", "--json"], "")).expect("JSON");
    let mut asked = Vec::new();
    for (number, it) in list["architectures"]
        .as_array()
        .expect("a list")
        .iter()
        .enumerate()
    {
        let rows = it["instructions"].as_array().expect("a list");
        let mut names = vec![it["name"].clone()];
        names.extend(it["aliases"].as_array().expect("a list").iter().cloned());
        for (at, name) in names.iter().enumerate() {
            let row = &rows[(37 * at + 11 * number) % rows.len()];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            asked.push((
                format!("{} {}", text(name), text(&row["inst"])),
                format!("{}:{}", text(&it["name"]), text(&row["inst"])),
            ));
        }
    }
    let missed = browser.value(&format!(
        "(async () => {{ const missed = []; const slug = (text) => text.toLowerCase().replace(/[^a-z0-9.]+/g, '-').replace(/^-+|-+$/g, ''); \
         const input = document.getElementById('search'); for (const [query, unit] of {}) {{ input.value = query; input.dispatchEvent(new Event('input')); \
         await new Promise(done => setTimeout(done)); const links = [...document.querySelectorAll('#search-results a')].map(it => it.getAttribute('href')); \
         if (!links.some(link => link.endsWith('#' + slug(unit)))) missed.push(query); }} return missed; }})()",
        json!(asked)
    ));
    assert!(asked.len() > 80, "{} names", asked.len());
    assert_eq!(missed, json!([]));
    // By keyboard: down to a result, and there.
    browser.write("#search", "published tables");
    browser.until("!document.getElementById('search-results').hidden");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.until("location.pathname.endsWith('published.html')");
    // Opened from a folder, the explorer computes as well.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("atlas-site/explorer.html");
    browser.open(&format!("file://{}", folder.display()));
    browser.until("document.documentElement.dataset.ready === 'true'");
    assert_eq!(shown(&mut browser).len(), 1);
}
