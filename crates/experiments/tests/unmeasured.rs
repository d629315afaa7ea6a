//! What a reader is told first when no allocator call was measured, for each reason.

use fixtures::reading::Node;
use fixtures::{INSTRUCTIONS, without_calls};
use launch::OwnAllocator;
use mallacc_experiments::unmeasured::{by_plan, explain};
use results::Run;
use results::text::{self, Style};
use sim::{Plan, Sample, Seeds, StreamFacts};

/// Everything is measured.
const PLAN: Plan = Plan {
    skip: 0,
    max: None,
    sample: Sample { period: 10_000_000, warm: 20_000, measure: 10_000 },
    budget: None,
    roi_only: false,
    seeds: Seeds::ONE,
};

/// A stream of [`INSTRUCTIONS`], all of them measured.
fn facts() -> StreamFacts {
    let instructions = INSTRUCTIONS;
    StreamFacts { instructions, population: instructions, ..StreamFacts::default() }
}

/// A run without calls after this plan and this stream.
fn planned(plan: Plan, facts: &StreamFacts) -> Run {
    let mut run = without_calls(by_plan(&plan, facts, 0).as_deref());
    explain(&mut run, None);
    run
}

/// A run of a program whose allocator could not be replaced.
fn own(reason: OwnAllocator) -> Run {
    let mut run = without_calls(by_plan(&PLAN, &facts(), 0).as_deref());
    explain(&mut run, Some(reason.clause()));
    run
}

fn damaged() -> Run {
    let mut run = Run { complete: false, ..without_calls(by_plan(&PLAN, &facts(), 0).as_deref()) };
    explain(&mut run, None);
    run
}

/// Each reason with a run that has it.
fn all() -> Vec<(&'static str, Run)> {
    let nothing = StreamFacts { population: 0, ..facts() };
    vec![
        ("no reason", planned(PLAN, &facts())),
        ("static", own(OwnAllocator::Static)),
        ("Go", own(OwnAllocator::Go)),
        ("its own malloc", own(OwnAllocator::Defined)),
        ("--allocator FILE", own(OwnAllocator::Library)),
        ("--allocator none", own(OwnAllocator::Kept)),
        ("a damaged recording", damaged()),
        ("--max 0", planned(Plan { max: Some(0), ..PLAN }, &nothing)),
        ("--skip", planned(Plan { skip: 2 * INSTRUCTIONS, ..PLAN }, &nothing)),
        ("--roi", planned(Plan { roi_only: true, ..PLAN }, &nothing)),
        (
            "no sample",
            planned(Plan { budget: Some(0), ..PLAN }, &StreamFacts { sampled: true, ..facts() }),
        ),
    ]
}

#[test]
fn each_reason_for_no_allocation_reads_like_this() {
    let said = all().into_iter().map(|(what, run)| {
        let text = text::summary(&run, &Style::PLAIN);
        let headline = text.split("\n\n").next().unwrap_or_default();
        format!("{what}\n{headline}\n")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_page_and_the_terminal_give_the_same_reason() {
    for (what, run) in all() {
        let headline = text::headline(&run);
        let page = report::page(std::slice::from_ref(&run));
        let page = Node::parse(&page).classed("top")[0].readable();
        assert!(page.contains(&headline[0]), "{what}: {headline:?} in {page}");
        assert_eq!(headline.len(), 1, "{what}");
        // Only a program that made no call is told that help would change nothing.
        assert_eq!(headline[0].contains("changes nothing"), what == "no reason", "{headline:?}");
    }
}

#[test]
fn no_two_reasons_read_the_same() {
    let mut headlines: Vec<String> =
        all().into_iter().map(|(_, run)| text::headline(&run).remove(0)).collect();
    let count = headlines.len();
    headlines.sort();
    headlines.dedup();
    assert_eq!(headlines.len(), count);
}
