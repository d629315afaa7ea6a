//! Table 2: speedups of whole programs across seeds.

use super::mean;
use crate::needs::{BASELINE, MALLACC};
use crate::sheet::{Cell, Derived, Table, Unit, exact};
use crate::study::{Measured, Study, configuration, statistic};
use crate::subject::Kind;
use crate::ttest::{deviation, interval, smaller};

/// Cycles per instruction of a configuration in each run of a program. Runs with different seeds
/// execute different numbers of instructions, so their times are compared per instruction.
fn times(measured: &Measured, name: &str) -> Vec<f64> {
    let runs = std::iter::once(&measured.run).chain(&measured.seeds);
    let of = |run| {
        let item = configuration(run, name).filter(|item| item.instructions > 0)?;
        Some(item.cycles as f64 / item.instructions as f64)
    };
    runs.filter_map(of).collect()
}

/// The table.
pub fn speedups(study: &Study) -> Derived {
    let columns =
        ["speedup", "deviation", "p (t-test)", "paired interval", "seeds", "first seed, by sample"];
    let mut derived = Derived { table: Table::new("program", &columns), ..Derived::default() };
    let mut means = Vec::new();
    for measured in study.measured.iter().filter(|m| m.subject.kind == Kind::Program) {
        let (base, own) = (times(measured, BASELINE), times(measured, MALLACC));
        if base.is_empty() || base.len() != own.len() {
            continue;
        }
        let gains: Vec<f64> = base.iter().zip(&own).map(|(base, own)| base / own - 1.0).collect();
        let name = measured.subject.name;
        let paired = interval(&gains);
        let test = smaller(&base, &own);
        let several = (gains.len() > 1).then(|| deviation(&gains));
        let by_sample = statistic(&measured.run, MALLACC, "speedup");
        derived.table.row(
            measured.subject.paper.map_or(name.to_owned(), |paper| format!("{name} ({paper})")),
            vec![
                Cell::exact(mean(&gains), Unit::FinePercent),
                Cell::exact(several, Unit::FinePercent),
                Cell::exact(test.map(|test| test.p), Unit::Probability),
                Cell::of(paired, Unit::FinePercent),
                Cell::exact(Some(gains.len() as f64), Unit::Count),
                Cell::of(by_sample, Unit::FinePercent),
            ],
        );
        derived.of(name, "speedup", paired);
        derived.of(name, "p", test.map(|test| exact(test.p)));
        if measured.subject.paper.is_some() {
            means.extend(mean(&gains));
        }
    }
    derived.overall("mean", mean(&means));
    derived
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::synthetic::{study, with_latencies};

    #[test]
    fn speedup_and_test_are_over_seeds_and_paired_within_each() {
        // 1,000 cycles outside the calls; calls of 40 against 20, then of 60 against 40.
        let cases = |base: u64, own: u64| [(BASELINE, vec![base]), (MALLACC, vec![own])];
        let mut program = with_latencies("perl", &cases(40, 20));
        program.seeds.push(with_latencies("perl", &cases(60, 40)).run);
        let derived = speedups(&study(vec![program]));
        let value = |quantity: &str| {
            derived.values.iter().find(|v| v.1 == quantity).unwrap().2.unwrap().value
        };
        let gains = [1040.0 / 1020.0 - 1.0, 1060.0 / 1040.0 - 1.0];
        assert!((value("speedup") - (gains[0] + gains[1]) / 2.0).abs() < 1e-12);
        // Means 1.05 and 1.03, variance 2e-4, so t = 0.02 / sqrt(2e-4); with two degrees
        // P(T > t) = (1 - t / sqrt(2 + t^2)) / 2.
        let t = 0.02 / 2e-4_f64.sqrt();
        assert!((value("p") - (1.0 - t / (2.0 + t * t).sqrt()) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn one_seed_has_a_speedup_and_no_test() {
        let program = with_latencies("perl", &[(BASELINE, vec![40]), (MALLACC, vec![20])]);
        let derived = speedups(&study(vec![program]));
        assert!(derived.values.iter().any(|v| v.1 == "p" && v.2.is_none()));
        assert!(derived.values.iter().any(|v| v.1 == "speedup" && v.2.is_some()));
    }
}
