//! The page as a document: well formed, escaped, and complete without external resources, whatever
//! the run contains.

use fixtures::reading::{Node, downloads};
use fixtures::{sampled, whole};
use results::{Configuration, Role, Run};
use std::collections::BTreeSet;

fn page(runs: &[Run]) -> (String, Node) {
    let text = mallacc_report::page(runs);
    let node = Node::parse(&text);
    (text, node)
}

/// The rules for every page.
fn check(text: &str, node: &Node) {
    let mut ids = BTreeSet::new();
    for element in node.all(&|node| node.attributes.contains_key("id")) {
        let id = element.attribute("id").to_owned();
        assert!(ids.insert(id.clone()), "{id} twice");
    }
    for link in node.tagged("a") {
        let target = link.attribute("href");
        let inside = target.strip_prefix('#').is_some_and(|id| ids.contains(id));
        assert!(inside || target.starts_with("data:text/"), "{target} leads nowhere");
    }
    for labelled in node.all(&|node| node.attributes.contains_key("aria-labelledby")) {
        assert!(ids.contains(labelled.attribute("aria-labelledby")));
    }
    for forbidden in ["script", "iframe", "img", "object", "embed", "form"] {
        assert!(node.tagged(forbidden).is_empty(), "<{forbidden}>");
    }
    let reaches_out = |node: &Node| {
        node.attributes
            .keys()
            .any(|name| name.starts_with("on") || name == "src" || name == "style")
    };
    assert!(node.all(&reaches_out).is_empty());
    for style in node.tagged("style") {
        assert!(!style.inner().contains("url(") && !style.inner().contains("@import"));
    }
    for plot in node.all(&|node| node.tag == "svg" && node.attribute("class").contains("plot")) {
        assert_eq!(plot.attribute("role"), "img");
        assert!(plot.attribute("aria-label").len() > 20, "{}", plot.attribute("aria-label"));
    }
    for figure in node.tagged("figure") {
        let link = figure.all(&|node| node.attributes.contains_key("download"));
        assert_eq!((figure.tagged("table").len(), link.len()), (1, 1));
    }
    let shapes = node.all(&|node| node.attributes.keys().any(|name| "dxy".contains(name.as_str())));
    for shape in shapes {
        for name in ["x", "y", "d", "width", "height"] {
            let value = shape.attribute(name);
            assert!(!value.contains("NaN") && !value.contains("inf"), "{name}={value}");
        }
    }
    let names: Vec<_> = node
        .all(&|node| node.attributes.contains_key("download"))
        .iter()
        .map(|a| a.attribute("download"))
        .collect();
    let csv = names.iter().filter(|name| name.ends_with(".csv"));
    let unique: BTreeSet<_> = csv.clone().collect();
    assert_eq!(unique.len(), csv.count(), "each download has a name of its own");
    assert!(!text.contains("http:") && !text.contains("https:"));
}

/// Sweeps of the same accelerator on two machines, each with a limit of its own.
#[test]
fn the_sweeps_of_two_machines_are_told_apart_by_the_machine_alone() {
    let mut run = whole();
    for index in 0..run.configurations.len() {
        let mut item = run.configurations[index].clone();
        item.name.push_str("@another");
        item.machine = "another".into();
        run.configurations.push(item);
    }
    let machine = run.configurations[0].machine.clone();
    let (_, node) = page(&[run]);
    let figures = node.tagged("figure");
    let sweep = figures.into_iter().find(|f| f.inner().contains("program against entries"));
    let sweep = sweep.unwrap();
    let legend: Vec<_> = sweep.tagged("li").iter().map(|li| li.inner().trim().to_owned()).collect();
    assert_eq!(legend, [machine.as_str(), "another"]);
    for label in ["limit, another".to_owned(), format!("limit, {machine}")] {
        assert!(sweep.inner().contains(&label), "{label}");
    }
}

#[test]
fn pages_of_one_run_and_of_several_are_well_formed_and_hold_everything() {
    let mut other = whole();
    other.id = Some(8);
    let mut third = sampled();
    third.id = None;
    for runs in [&[whole()][..], &[sampled()], &[whole(), other, third]] {
        let (text, node) = page(runs);
        check(&text, &node);
        assert_eq!(node.tagged("h1").len(), 1);
        for run in runs {
            let headline = results::text::headline(run).remove(0);
            let text = node.inner().replace('\u{a0}', " ");
            assert!(text.contains(&headline), "{headline}");
        }
    }
}

#[test]
fn a_page_has_every_section_of_a_run() {
    let (_, node) = page(&[whole()]);
    let titles: Vec<String> = node.tagged("h2").iter().map(|heading| heading.inner()).collect();
    let expected = [
        "Configurations compared",
        "Latency of calls",
        "Speedup against entries",
        "Size classes",
        "Where the cycles go",
        "Caches, translation, prediction",
        "Every counter",
        "The machine",
        "Provenance",
        "What the figures mean",
    ];
    assert_eq!(titles, expected);
    let text = node.inner();
    for fact in ["0123abc", "2009-02-13 23:31 UTC", "seed42", "deterministicyes", "exit code 0"] {
        assert!(text.contains(fact), "{fact}");
    }
}

#[test]
fn what_a_program_is_called_stays_text() {
    let hostile = "<script>alert('x')</script>\"&amp;\u{1b}[31m\u{202e}";
    let mut run = whole();
    // Names of groups and counters may also come from a file.
    let path = format!("cache.{hostile}");
    let item = &mut run.configurations[0];
    item.counted.push(&path, hostile, 1);
    run.schema = run.schema.with_undeclared(&path, &[hostile]);
    run.program = hostile.into();
    run.args = vec![hostile.into(), "two\nlines".into()];
    run.warnings = vec![hostile.into()];
    run.git_revision = Some(hostile.into());
    run.tool_version = hostile.into();
    for item in &mut run.configurations {
        item.name += hostile;
        item.resolved_machine += hostile;
        item.machine += hostile;
    }
    for runs in [&[run.clone()][..], &[run.clone(), run.clone()]] {
        let (text, node) = page(runs);
        assert!(!text.contains("<script"));
        assert!(node.inner().contains("<script>alert('x')</script>"), "it is shown as it is");
        // Storing the same run twice gives the same downloads twice, so only the first page is
        // unique.
        if runs.len() == 1 {
            check(&text, &node);
        }
        assert!(downloads(&node).values().any(|csv| csv.contains("<script>")));
    }
}

#[test]
fn runs_with_little_in_them_still_make_a_page_that_says_so() {
    let bare =
        |role: Role| Configuration { name: role.name().into(), role, ..Configuration::default() };
    let empty = Run { program: "x".into(), ..Run::default() };
    let zeroes = Run {
        configurations: [Role::Baseline, Role::Subject, Role::Limit].map(bare).to_vec(),
        ..empty.clone()
    };
    let mut quiet = whole();
    quiet.configurations.iter_mut().for_each(|item| {
        item.calls = Default::default();
        item.size_classes.clear();
        item.requested_sizes.clear();
    });
    let mut alone = whole();
    alone.configurations.truncate(1);
    for runs in [vec![empty.clone()], vec![zeroes.clone()], vec![quiet.clone()], vec![alone]] {
        let (text, node) = page(&runs);
        check(&text, &node);
    }
    let (_, node) = page(std::slice::from_ref(&empty));
    assert!(node.inner().contains("Nothing was measured"));
    let (_, node) = page(std::slice::from_ref(&quiet));
    assert!(node.inner().contains("made no allocator call"));
    let (_, node) = page(&[empty, zeroes]);
    assert!(node.inner().contains("None of these runs compares an accelerator"));
}

#[test]
fn extreme_counters_and_many_configurations_do_not_break_the_page() {
    let mut run = whole();
    let most = (1 << 56) - 1;
    for index in 0..40 {
        let mut item = run.configurations[1].clone();
        item.name = format!("a configuration with quite a long name, number {index}");
        item.parameters.insert("entries".into(), results::ParameterValue::Integer(index + 2));
        item.cycles = most;
        let causes: Vec<String> = (0..30).map(|cause| format!("cause {cause}")).collect();
        causes.iter().for_each(|cause| item.counted.push("cpi", cause, most / 30));
        let causes: Vec<&str> = causes.iter().map(String::as_str).collect();
        run.schema = run.schema.with_undeclared("cpi", &causes);
        item.calls[results::CallKind::Malloc].record(most);
        item.size_classes.insert(u64::MAX, most);
        run.configurations.push(item);
    }
    let (text, node) = page(&[run]);
    check(&text, &node);
}

#[test]
fn a_run_with_one_size_of_the_malloc_cache_says_how_to_get_a_curve() {
    let mut run = whole();
    run.configurations.remove(1);
    let (_, node) = page(&[run]);
    assert!(node.inner().contains("--config mallacc:entries=4"));
}
