//! Properties that every prefetcher must have.

use super::*;
use crate::params::MemoryParams;
use crate::translate::PAGE_SHIFT;
use params::Param;
use std::collections::BTreeSet;

/// Streams up and down, strides, hot lines and random lines, on a few pages.
fn traffic(line: u64, mut random: u64) -> Vec<Seen> {
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random >> 16
    };
    (0..20_000_u64)
        .map(|n| {
            // Fifty accesses of one kind, then of the next.
            let (r, kind, round) = (next(), n / 50 % 5, n / 250 * 50 + n % 50);
            let addr = match kind {
                0 => 0x10_0000 + round * 40,
                1 => 0x40_0000 - round * 72,
                2 => 0x50_0000 + round * 192,
                3 => 0x60_0000 + r % 4096,
                _ => 0x70_0000 + r % (1 << 16),
            };
            Seen { pc: 0x400 + kind * 4, addr, line: addr / line, missed: (r >> 32) & 3 != 0 }
        })
        .collect()
}

/// Every model, for each line size and with its most aggressive parameters.
fn every(mut check: impl FnMut(&Model, u64, &MemoryParams)) {
    for line in [32, 64, 128, 256] {
        let mut params = MemoryParams { line, ..MemoryParams::default() };
        params.prefetch.streamer_degree = LINES_MAX as u32;
        params.prefetch.streamer_distance = 256;
        params.prefetch.access_map_degree = LINES_MAX as u32;
        params.validate().unwrap();
        MODELS.iter().for_each(|model| check(model, line, &params));
    }
}

fn build(model: &Model, params: &MemoryParams) -> Prefetcher {
    Prefetcher::find("key", model.name, params).unwrap()
}

#[test]
fn names_are_unique_and_described_and_every_parameter_belongs_to_one() {
    let names: BTreeSet<&str> = MODELS.iter().map(|model| model.name).collect();
    assert_eq!(names.len(), MODELS.len());
    assert!(MODELS.iter().all(|model| model.text.ends_with('.')));
    let mut claimed: Vec<&str> =
        MODELS.iter().flat_map(|model| model.parameters.to_vec()).collect();
    let mut declared: Vec<&str> = PrefetchParams::declared().iter().map(|doc| doc.name).collect();
    claimed.sort_unstable();
    declared.sort_unstable();
    assert_eq!(claimed, declared);
    for doc in PrefetchParams::declared() {
        let model = MODELS.iter().find(|model| model.parameters.contains(&doc.name)).unwrap();
        assert!(doc.text.trim().starts_with(&format!("`{}`: ", model.name)), "{}", doc.name);
    }
}

#[test]
fn machine_files_say_which_prefetchers_a_level_may_have() {
    let keys = crate::LevelParams::section().unwrap();
    let text = keys.iter().find(|doc| doc.name == "prefetchers").unwrap().text;
    for model in MODELS {
        let listed = text.contains(&format!("`{}`", model.name));
        assert_eq!(listed, !model.by_instruction, "{}", model.name);
    }
}

#[test]
fn an_unknown_name_lists_the_valid_ones_and_the_nearest() {
    let error = find("level[0].prefetchers", "stremer").map(|model| model.name).unwrap_err().0;
    assert!(
        error.starts_with("level[0].prefetchers \"stremer\": unknown. Did you mean \"streamer\"?")
    );
    assert!(MODELS.iter().all(|model| error.contains(model.name)), "{error}");
}

#[test]
fn lines_asked_for_lie_in_the_page_of_the_access_are_others_and_are_bounded() {
    every(|model, line, params| {
        let mut prefetcher = build(model, params);
        let mut wanted = Vec::new();
        let mut all = 0;
        for seen in traffic(line, 0x9e37_79b9) {
            prefetcher.see(seen, &mut wanted);
            assert!(wanted.len() <= LINES_MAX, "{}", model.name);
            all += wanted.len();
            for asked in wanted.drain(..) {
                assert_eq!((asked * line) >> PAGE_SHIFT, seen.addr >> PAGE_SHIFT, "{}", model.name);
                assert_ne!(asked, seen.addr / line, "{}", model.name);
            }
        }
        assert!(all > 100, "{} asked for {all} lines", model.name);
    });
}

#[test]
fn the_same_accesses_ask_for_the_same_lines() {
    every(|model, line, params| {
        let once = || {
            let (mut prefetcher, mut wanted) = (build(model, params), Vec::new());
            traffic(line, 77).into_iter().for_each(|seen| prefetcher.see(seen, &mut wanted));
            wanted
        };
        assert!(once() == once(), "{}", model.name);
    });
}
