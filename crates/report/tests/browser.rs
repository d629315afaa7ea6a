//! Opens pages in a real Chromium as readers do: from a file, on a phone and on a large screen,
//! light and dark, with a pointer and with the keyboard alone.

use fixtures::{sampled, whole};
use results::Run;
use serde_json::Value;
use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of Chromium programs; the first one found is used. `MALLACC_CHROMIUM` overrides.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A program on PATH.
fn find(name: &str) -> Option<PathBuf> {
    let path = var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The browser and node; if one is missing, the calling test is skipped.
fn tools() -> Option<(PathBuf, PathBuf)> {
    let named = var_os("MALLACC_CHROMIUM").map(PathBuf::from);
    let browser = named.or_else(|| BROWSERS.into_iter().find_map(find));
    match (browser, find("node")) {
        (Some(browser), Some(node)) => Some((browser, node)),
        (None, _) => {
            skips::without_tool("there is no chromium; `make setup-tests` installs it");
            None
        }
        (_, None) => {
            skips::without_tool(
                "there is no node to drive chromium; `make setup-tests` installs it",
            );
            None
        }
    }
}

/// Chromium's findings about a page.
fn seen(name: &str, page: &str) -> Option<Value> {
    let (browser, node) = tools()?;
    let folder = match var_os("MALLACC_SCREENSHOTS") {
        Some(folder) => PathBuf::from(folder).join(name),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
    };
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("page with a space & more.html");
    std::fs::write(&file, page).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/check.mjs");
    let output = Command::new(node).args([&script, &browser, &file, &folder]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Brightness of `rgb(r, g, b)`, 0 to 1 (ITU-R BT.709 weights, without gamma).
fn brightness(colour: &Value) -> f64 {
    let digits = |c: char| c.is_ascii_digit();
    let text = colour.as_str().unwrap();
    let parts: Vec<f64> =
        text.split(|c| !digits(c)).filter_map(|part| part.parse().ok()).take(3).collect();
    (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255.0
}

fn none(list: &Value) {
    assert_eq!(list.as_array().map(Vec::len), Some(0), "{list}");
}

fn check_views(seen: &Value, figures: usize) {
    let views = seen["views"].as_array().unwrap();
    let kinds: Vec<_> = views.iter().map(|v| (v["width"].clone(), v["scheme"].clone())).collect();
    assert_eq!(kinds.len(), 4, "a phone and a screen, light and dark: {kinds:?}");
    for view in views {
        assert_eq!(view["pageWidth"], view["windowWidth"], "the page scrolls sideways");
        none(&view["outside"]);
        none(&view["splitFigures"]);
        none(&view["unmarkedScrolling"]);
        let phone = view["width"].as_u64() < Some(600);
        assert!(!phone || view["scrolling"].as_u64() > Some(0), "a wide table on a phone: {view}");
        assert_eq!(view["figures"], figures);
        assert_eq!(view["charts"], figures, "each chart shows once, in the size that fits");
        assert_eq!((&view["unnamedCharts"], &view["scripts"]), (&0.into(), &0.into()));
        assert!(view["smallestLetters"].as_f64().unwrap() >= 11.0, "{view}");
        let (ground, ink) = (brightness(&view["ground"]), brightness(&view["ink"]));
        let light = view["scheme"] == "light";
        assert!(
            if light { ground > 0.9 && ink < 0.2 } else { ground < 0.15 && ink > 0.8 },
            "{view}"
        );
    }
    let keyboards: Vec<_> = views.iter().filter_map(|view| view.get("keyboard")).collect();
    assert_eq!(keyboards.len(), 2);
    for keyboard in keyboards {
        assert!(keyboard["controls"].as_u64().unwrap() > figures as u64);
        assert_eq!(keyboard["reached"], keyboard["controls"], "{keyboard}");
        none(&keyboard["unmarked"]);
        assert_eq!(keyboard["detailsOpenByKey"], true);
    }
}

fn check_links_and_downloads(seen: &Value, runs: &[Run]) {
    for list in ["dangling", "leadingOut", "repeatedIds"] {
        none(&seen["links"][list]);
    }
    assert_eq!(seen["links"]["unresolvedLabels"], 0);
    let downloads = seen["downloads"].as_array().unwrap();
    for download in &downloads[..2] {
        assert_eq!(download["suggested"], download["name"]);
        assert_eq!(download["downloaded"], download["contents"], "the file is what the link holds");
    }
    for run in runs {
        let name = format!("mallacc-run{}-all-figures.csv", run.id.unwrap_or(1));
        let all = downloads.iter().find(|download| download["name"] == *name).expect(&name);
        assert_eq!(all["contents"], results::csv::render(run, &run.schema));
    }
}

/// Opens a page in Chromium; there must be no errors.
fn open(name: &str, runs: &[Run]) {
    let page = mallacc_report::page(runs);
    let figures = page.matches("<figure>").count();
    let Some(seen) = seen(name, &page) else { return };
    none(&seen["complaints"]);
    let requests = seen["requests"].as_array().unwrap();
    assert!(!requests.is_empty());
    for request in requests {
        let request = request.as_str().unwrap();
        let own = request.starts_with("file:") && request.ends_with("more.html");
        assert!(own || request.starts_with("data:"), "asks for {request}");
    }
    check_views(&seen, figures);
    check_links_and_downloads(&seen, runs);
}

#[test]
fn the_page_of_one_run_works_in_a_browser() {
    open("one", &[whole()]);
}

#[test]
fn the_page_of_several_runs_works_in_a_browser() {
    let mut wide = whole();
    wide.id = Some(9);
    wide.program = "a-program-with-a-name-that-has-no-place-to-break".repeat(3);
    for index in 0..12 {
        let mut item = wide.configurations[1].clone();
        item.name = format!("mallacc-with-a-long-name-{index}");
        item.parameters.insert("entries".into(), results::ParameterValue::Integer(40 + index));
        wide.configurations.push(item.clone());
        // A second sweep, on another machine.
        item.name.push_str("@another");
        item.machine = "another".into();
        wide.configurations.push(item);
    }
    let mut third = sampled();
    third.id = Some(10);
    open("several", &[whole(), wide, third]);
}
