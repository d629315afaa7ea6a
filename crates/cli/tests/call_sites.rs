//! Where a program calls the allocator, live under QEMU.

use crate::common::{Bench, configurations, live, number};
use serde_json::Value;

/// Blocks that each function allocates, and their size. The functions are as many as can be listed
/// and one more, so that something is left for the others.
const FUNCTIONS: u64 = 11;
const BLOCKS: u64 = 40;
const SIZE: u64 = 48;
/// Functions that are listed at least: a few other places, before `main`, may pay more.
const LEAST: usize = 6;

/// Functions `site_0` … which allocate, each more often than the one before, and free nothing.
fn source() -> String {
    let mut text = "#include <stdlib.h>\nvoid *volatile held;\n".to_owned();
    let mut calls = String::new();
    for at in 0..FUNCTIONS {
        text += &format!(
            "__attribute__((noinline, noclone)) void site_{at}(void) {{\n\
             for (int i = 0; i < {}; i++) held = malloc({SIZE}); }}\n",
            (at + 1) * BLOCKS
        );
        calls += &format!("site_{at}(); ");
    }
    text + &format!("int main(void) {{ {calls} return 0; }}\n")
}

/// The listed call sites whose place begins with `prefix`: the rest of the place, calls and bytes.
fn listed<'a>(item: &'a Value, prefix: &str) -> Vec<(&'a str, u64, u64)> {
    let sites = item["call_sites"].as_array().unwrap().iter();
    sites
        .filter_map(|site| {
            let place = site["place"].as_str()?.strip_prefix(prefix)?;
            Some((place, site["calls"].as_u64()?, site["bytes"].as_u64()?))
        })
        .collect()
}

fn sum(item: &Value, name: &str) -> u64 {
    item["call_sites"].as_array().unwrap().iter().map(|site| site[name].as_u64().unwrap()).sum()
}

#[test]
fn calls_bytes_and_cycles_belong_to_the_functions_that_call() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("sites", &source(), &[]) else { return };
    let (document, output) = bench.json("run", &["--quiet", "--deterministic"], &["--", &program]);
    assert!(output.status.success());
    for item in configurations(&document) {
        let functions = listed(item, "site_");
        assert!(functions.len() >= LEAST, "{functions:?}");
        for (rest, calls, bytes) in functions {
            let at: u64 = rest.strip_suffix(" in sites").unwrap().parse().unwrap();
            assert_eq!((calls, bytes), ((at + 1) * BLOCKS, (at + 1) * BLOCKS * SIZE), "{rest}");
        }
        assert_eq!(sum(item, "cycles"), number(item, "allocator_cycles"));
        assert_eq!(
            sum(item, "calls"),
            number(item, "allocation/calls") + number(item, "deallocation/calls")
        );
        let sites = item["call_sites"].as_array().unwrap();
        assert_eq!(sites.len(), 11, "ten, and all others");
        assert_eq!(sites[10]["place"], Value::Null);
    }
    let first = configurations(&document)[0]["call_sites"].as_array().unwrap();
    let cycles: Vec<u64> =
        first[..10].iter().map(|site| site["cycles"].as_u64().unwrap()).collect();
    assert!(cycles.is_sorted_by(|one, other| one >= other), "{cycles:?}");
    let (again, _) = bench.json("run", &["--quiet", "--deterministic"], &["--", &program]);
    assert_eq!(configurations(&again), configurations(&document), "repeatable");
    let shown = bench.run(&["show", "1", "--detail"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("in sites") && text.contains("all others"), "{text}");
    let page = bench.run(&["report", "1", "-o", "-"]);
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("Who calls the allocator") && page.contains("in sites</"));
}

#[test]
fn a_caller_that_was_stripped_has_an_address_in_its_file() {
    if !live() {
        return;
    }
    let bench = Bench::new();
    let Some(program) = bench.compile("bare", &source(), &["-s"]) else { return };
    let options = ["--quiet", "--no-store", "--config", "none"];
    let (document, _) = bench.json("run", &options, &["--", &program]);
    let places = listed(&configurations(&document)[0], "bare+0x");
    assert!(places.len() >= LEAST, "{places:?}");
    for (address, calls, _) in places {
        assert!(u64::from_str_radix(address, 16).is_ok() && calls % BLOCKS == 0, "{address}");
    }
}
