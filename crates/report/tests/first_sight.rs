//! What a reader of the page sees first, without the drawings, for runs from which he could take a
//! wrong figure.

use fixtures::reading::Node;
use fixtures::{
    ablated, on_two_machines, seeded, whole, with_a_fault, with_broken_markers, with_one_sample,
    without_calls,
};
use results::Run;

fn page(runs: &[Run]) -> Node {
    Node::parse(&mallacc_report::page(runs))
}

/// Headline, cautions, tiles and facts.
fn top(run: Run) -> String {
    page(&[run]).classed("top")[0].readable()
}

/// Headline and overview of several runs.
fn overview(runs: &[Run]) -> String {
    let page = page(runs);
    let table = page.all(&|node| node.attribute("id") == "overview");
    page.classed("top")[0].readable() + &table[0].readable()
}

/// The runs that are easily misread, numbered.
fn several() -> Vec<Run> {
    let runs =
        [whole(), on_two_machines(), with_one_sample(), with_broken_markers(), with_a_fault()];
    let none = without_calls(Some("the reason is a clause"));
    let all = runs.into_iter().chain([none]);
    (1..).zip(all).map(|(id, run)| Run { id: Some(id), ..run }).collect()
}

#[test]
fn the_page_of_a_run_with_ablations_begins_like_this() {
    insta::assert_snapshot!(top(ablated()));
}

#[test]
fn the_page_of_a_run_on_two_machines_begins_like_this() {
    insta::assert_snapshot!(top(on_two_machines()));
}

#[test]
fn the_page_of_a_whole_run_with_seeds_begins_like_this() {
    insta::assert_snapshot!(top(seeded()));
}

#[test]
fn the_page_of_a_run_with_one_sample_begins_like_this() {
    insta::assert_snapshot!(top(with_one_sample()));
}

#[test]
fn the_page_of_a_run_without_allocation_begins_like_this() {
    insta::assert_snapshot!(top(without_calls(None)));
}

#[test]
fn the_page_of_a_run_that_could_not_be_measured_begins_like_this() {
    insta::assert_snapshot!(top(without_calls(Some("the reason is a clause"))));
}

#[test]
fn the_page_of_a_run_with_broken_markers_begins_like_this() {
    insta::assert_snapshot!(top(with_broken_markers()));
}

#[test]
fn the_overview_of_several_runs_reads_like_this() {
    insta::assert_snapshot!(overview(&several()));
}

#[test]
fn the_overview_of_runs_that_state_no_gain_reads_like_this() {
    insta::assert_snapshot!(overview(&several()[2..]));
}

/// Titles of the charts that show gains.
const GAINS: [&str; 4] = ["Speedup", "against entries", "saved, by cause", "faster"];

#[test]
fn the_page_of_a_run_that_states_no_gain_shows_none() {
    let gains = |node: &Node| -> Vec<String> {
        let charts = node.tagged("figure");
        let titles = charts.iter().filter(|figure| !figure.tagged("rect").is_empty());
        let titles = titles.map(|figure| figure.tagged("figcaption")[0].inner());
        titles.filter(|title| GAINS.iter().any(|gain| title.contains(gain))).collect()
    };
    let cells = |node: &Node| -> usize {
        let rows = node.tagged("tr");
        let is_speedup = |row: &&&Node| {
            row.tagged("th").first().is_some_and(|head| head.inner().contains("speedup"))
        };
        let cells = rows.iter().filter(is_speedup).flat_map(|row| row.tagged("td"));
        cells.filter(|cell| cell.inner().contains('%')).count()
    };
    let sound = page(&[whole()]);
    assert!(gains(&sound).len() > 3, "{:?}", gains(&sound));
    assert!(cells(&sound) > 3);
    let none = without_calls(Some("the reason is a clause"));
    for run in [with_broken_markers(), with_a_fault(), none] {
        let own = page(std::slice::from_ref(&run));
        assert_eq!(gains(&own), [""; 0]);
        assert_eq!(cells(&own), 0);
        assert!(!own.inner().replace('\u{a0}', " ").contains("% faster"));
        // Beside a sound run it has no bar: its rows are empty.
        let beside = page(&[whole(), Run { id: Some(8), ..run }]);
        let overview = beside.all(&|node| node.attribute("id") == "overview")[0];
        let figures = overview.tagged("figure");
        let rows = figures.iter().flat_map(|figure| figure.tagged("tr"));
        let own: Vec<_> = rows.filter(|row| row.inner().contains("(run 8)")).collect();
        assert!(!own.is_empty(), "the charts of the program and of malloc name it");
        for cell in own.iter().flat_map(|row| row.tagged("td")) {
            assert_eq!(cell.inner(), "-");
        }
    }
}
