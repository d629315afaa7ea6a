//! Figures of the microbenchmarks: 4, 17 and Table 1.

use super::mean;
use crate::needs::{BASELINE, CLASS_PART, LIMIT, LIST_PART, MALLACC, SAMPLING_PART, SIZES, STEPS};
use crate::needs::{limit_part, sized};
use crate::sheet::{Cell, Derived, Table, Unit, exact};
use crate::study::{Measured, Study, statistic};
use crate::subject::Kind;

/// Share of the largest size's gain that counts as reaching it.
const INFLECTION: f64 = 0.9;

fn micros(study: &Study) -> impl Iterator<Item = &Measured> {
    study.measured.iter().filter(|measured| measured.subject.kind == Kind::Micro)
}

/// Cycles of a configuration in all malloc calls.
fn malloc_cycles(measured: &Measured, name: &str) -> Option<f64> {
    Some(measured.configuration(name)?.calls.allocation().cycles as f64)
}

/// Cycles that a configuration saves, as a share of the baseline's fast path.
fn saved(measured: &Measured, name: &str) -> Option<f64> {
    let base = measured.configuration(BASELINE)?.calls.allocation();
    let saved = base.cycles as f64 - malloc_cycles(measured, name)?;
    (base.fast_cycles > 0).then(|| saved / base.fast_cycles as f64)
}

/// Figure 4.
pub fn components(study: &Study) -> Derived {
    let columns = ["cycles", "size class", "sampling", "pop", "combined"];
    let mut derived =
        Derived { table: Table::new("microbenchmark", &columns), ..Derived::default() };
    let (mut combined, mut pops) = (Vec::new(), Vec::new());
    for measured in micros(study) {
        let base = measured.configuration(BASELINE).map(|c| c.calls.allocation());
        let fast = base.filter(|c| c.fast_calls > 0);
        let fast = fast.map(|c| c.fast_cycles as f64 / c.fast_calls as f64);
        let mut cells = vec![Cell::exact(fast, Unit::Cycles)];
        for step in STEPS {
            let share = saved(measured, &limit_part(step));
            if let ("list", Some(share), Some(fast)) = (step, share, fast) {
                pops.push((measured.subject.name, share * fast));
            }
            cells.push(Cell::exact(share, Unit::Percent));
        }
        let all = saved(measured, LIMIT);
        combined.extend(all);
        cells.push(Cell::exact(all, Unit::Percent));
        derived.table.row(measured.subject.name, cells);
    }
    derived.overall("combined", mean(&combined));
    let pop = |name: &str| pops.iter().find(|(n, _)| *n == name).map(|(_, cycles)| *cycles);
    let ratio = pop("antagonist").zip(pop("gauss_free")).map(|(a, b)| a / b);
    derived.overall("antagonist_list", ratio);
    derived
}

/// Figure 17.
pub fn entries(study: &Study) -> Derived {
    let names: Vec<&str> = micros(study).map(|measured| measured.subject.name).collect();
    let mut derived = Derived { table: Table::new("entries", &names), ..Derived::default() };
    let others = [LIMIT, CLASS_PART, LIST_PART, SAMPLING_PART];
    for (label, name) in SIZES
        .iter()
        .map(|size| (size.to_string(), sized(*size)))
        .chain(others.iter().map(|name| ((*name).to_owned(), (*name).to_owned())))
    {
        let cell = |measured| Cell::of(Measured::malloc_speedup(measured, &name), Unit::Percent);
        derived.table.row(label, micros(study).map(cell).collect());
    }
    for measured in micros(study) {
        let name = measured.subject.name;
        derived.of(name, "inflection", inflection(measured).map(|size| exact(size as f64)));
        let below = match name {
            "sized_deletes" => 6,
            "tp" => 22,
            _ => SIZES[0],
        };
        derived.of(name, "below", measured.malloc_speedup(&sized(below)));
        let of_limit = malloc_cycles(measured, LIMIT).zip(malloc_cycles(measured, MALLACC));
        derived.of(name, "of_limit", of_limit.map(|(limit, own)| exact(limit / own)));
        derived.of(name, "list_share", list_share(measured).map(exact));
        derived.of(name, "blocked", blocked(measured).map(exact));
    }
    derived
}

/// The smallest size whose gain reaches [`INFLECTION`] of the largest size's.
fn inflection(measured: &Measured) -> Option<u64> {
    let gain = |size: u64| measured.malloc_speedup(&sized(size)).map(|speedup| speedup.value);
    let full = gain(SIZES[SIZES.len() - 1]).filter(|gain| *gain > 0.0)?;
    SIZES.into_iter().find(|size| gain(*size).is_some_and(|gain| gain >= INFLECTION * full))
}

/// The list part's share of the cycles that the three parts save when enabled one at a time. A part
/// that costs cycles counts as saving none.
pub fn list_share(measured: &Measured) -> Option<f64> {
    let saves = |name: &str| saved(measured, name).map(|share| share.max(0.0));
    let list = saves(LIST_PART)?;
    let sum = list + saves(CLASS_PART)? + saves(SAMPLING_PART)?;
    (sum > 0.0).then(|| list / sum)
}

/// Cycles for which list instructions waited for a prefetch, as a share of malloc's cycles.
fn blocked(measured: &Measured) -> Option<f64> {
    let item = measured.configuration(MALLACC)?;
    let cycles = malloc_cycles(measured, MALLACC).filter(|cycles| *cycles > 0.0)?;
    Some(item.counted.get("malloc_cache", "blocked_cycles")? as f64 / cycles)
}

/// Table 1.
pub fn validation(study: &Study) -> Derived {
    let columns = [
        "cycles per malloc",
        "median",
        "cycles per free",
        "in all per malloc",
        "IPC",
        "fast calls",
    ];
    let mut derived =
        Derived { table: Table::new("microbenchmark", &columns), ..Derived::default() };
    for measured in micros(study) {
        let name = measured.subject.name;
        let calls = measured.configuration(BASELINE).map(|item| item.calls.allocation());
        let calls = calls.filter(|calls| calls.calls > 0);
        let each = calls.as_ref().map(|c| c.cycles as f64 / c.calls as f64);
        let median = calls.as_ref().and_then(|c| c.latency.percentile(50.0)).map(|m| m as f64);
        let fast = calls.as_ref().map(|c| c.fast_calls as f64 / c.calls as f64);
        let ipc = statistic(&measured.run, BASELINE, "ipc");
        derived.of(name, "malloc_cycles", each.map(exact));
        derived.of(name, "ipc", ipc);
        let freed = measured.configuration(BASELINE).map(|item| item.calls.deallocation());
        let freed = freed.filter(|c| c.calls > 0).map(|c| c.cycles as f64 / c.calls as f64);
        let cycles = measured.configuration(BASELINE).map(|item| item.cycles as f64);
        let pair = cycles.zip(calls.as_ref()).map(|(cycles, c)| cycles / c.calls as f64);
        derived.of(name, "pair_cycles", pair.map(exact));
        let cells = vec![
            Cell::exact(each, Unit::Cycles),
            Cell::exact(median, Unit::Cycles),
            Cell::exact(freed, Unit::Cycles),
            Cell::exact(pair, Unit::Cycles),
            Cell::of(ipc, Unit::Ratio),
            Cell::exact(fast, Unit::Percent),
        ];
        derived.table.row(name, cells);
    }
    derived.overall("error", study.blocks.map(|(error, _)| error));
    derived.notes.push(match study.blocks {
        Some((_, count)) => format!("The mean error is that of {count} basic blocks."),
        None => "No measured blocks were given: `--blocks FILE.csv` compares the core with \
                 measurements of a Haswell; `docs/blocks.md` describes the format."
            .into(),
    });
    derived
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::synthetic::{measured, study};

    /// A microbenchmark whose calls take 20 cycles in the baseline, 22 with fewer than 8 entries
    /// and 12 with 8 or more.
    fn stepped() -> Study {
        let sizes = SIZES.map(|size| (sized(size), if size < 8 { 22 } else { 12 }));
        let mut calls = vec![(BASELINE.to_owned(), 20), (LIMIT.to_owned(), 10)];
        calls.extend(sizes);
        calls.extend([(LIST_PART.into(), 17), (CLASS_PART.into(), 14), (SAMPLING_PART.into(), 21)]);
        calls.extend(
            [("size_class", 16), ("sampling", 19), ("list", 17)].map(|(s, c)| (limit_part(s), c)),
        );
        study(vec![measured("sized_deletes", &calls)])
    }

    fn value(derived: &Derived, subject: &str, quantity: &str) -> f64 {
        let found = derived.values.iter().find(|v| (v.0, v.1) == (subject, quantity));
        found.unwrap().2.unwrap().value
    }

    #[test]
    fn the_inflection_is_where_most_of_the_gain_is_reached() {
        let derived = entries(&stepped());
        assert_eq!(value(&derived, "sized_deletes", "inflection"), 8.0);
        // 20 / 22 - 1 with 6 entries, 10 / 12 of the limit with 32.
        assert!((value(&derived, "sized_deletes", "below") - (20.0 / 22.0 - 1.0)).abs() < 1e-12);
        assert!((value(&derived, "sized_deletes", "of_limit") - 10.0 / 12.0).abs() < 1e-12);
        // The list part saves 3, the size-class part 6, the sampling part costs 1.
        assert!((value(&derived, "sized_deletes", "list_share") - 3.0 / 9.0).abs() < 1e-12);
        assert_eq!(derived.table.rows.len(), SIZES.len() + 4);
    }

    #[test]
    fn without_a_gain_there_is_no_inflection() {
        let flat = SIZES.map(|size| (sized(size), 20));
        let calls = [vec![(BASELINE.to_owned(), 20)], flat.to_vec()].concat();
        assert_eq!(inflection(&measured("tp", &calls)), None);
    }

    #[test]
    fn a_component_is_what_vanishes_with_it() {
        let derived = components(&stepped());
        let texts: Vec<String> = derived.table.rows[0].1.iter().map(Cell::text).collect();
        assert_eq!(texts, ["20.0", "20.0 %", "5.0 %", "15.0 %", "50.0 %"]);
        assert!((value(&derived, "", "combined") - 0.5).abs() < 1e-12);
    }

    #[test]
    fn without_measured_blocks_table_1_says_how_to_get_them() {
        let derived = validation(&stepped());
        assert!(derived.notes[0].contains("--blocks"));
        let with = validation(&Study { blocks: Some((0.04, 9)), ..stepped() });
        assert!(with.notes[0].contains("9 basic blocks"));
    }
}
