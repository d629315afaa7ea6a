//! Mallacc's own parts.

use super::finding::{Finding, Group, State, shown};
use launch::products::{DRIVER, FEEDER, GUEST, MICRO, Product, RECORDER, WORKLOADS};

/// What every run needs.
pub fn needed() -> Vec<Finding> {
    let parts = [
        (&FEEDER, "plugin", "QEMU loads it: it captures what a program executes"),
        (
            &GUEST,
            "guest allocator",
            "it is preloaded into programs; its markers are what is simulated",
        ),
    ];
    parts.map(|part| examine(Group::Runs, State::Missing, part)).into()
}

/// What single commands need.
pub fn others() -> Vec<Finding> {
    let parts = [
        (&MICRO, "microbenchmarks", "`mallacc micro` and `mallacc paper` run them"),
        (&WORKLOADS, "workloads", "`mallacc run --workload` and `mallacc paper` run them"),
        (&RECORDER, "recorder", "`mallacc record-mallocs` preloads it"),
        (&DRIVER, "study driver", "`mallacc sma-study` simulates it"),
    ];
    parts.map(|part| examine(Group::Commands, State::Attention, part)).into()
}

fn examine(
    group: Group,
    without: State,
    (product, name, rule): (&Product, &'static str, &'static str),
) -> Finding {
    let finding = Finding::new(group, name, rule);
    match product.find() {
        Ok(path) => finding.ok(shown(&path)),
        Err(error) => finding.error(&error, without, ""),
    }
}
