//! Native against simulated, as text, CSV and JSON.

use std::fmt::Write;

use documents::csv::Csv;
use documents::json::pretty;
use documents::{Column, Layout, Table};
use serde::Serialize;

use super::family::Family;
use super::spread::Spread;

/// The paper's own errors for these microbenchmarks, simulator against a Haswell (Table 1).
const PAPER: &[(&str, f64)] = &[
    ("gauss", 0.0532),
    ("gauss_free", 0.0367),
    ("tp", 0.123),
    ("tp_small", 0.0592),
    ("sized_deletes", 0.0421),
];
/// Their mean.
pub const PAPER_MEAN: f64 = 0.0628;
/// The microbenchmark that thrashes the cache with a marker, which does nothing natively.
const SIMULATED_ONLY: &str = "antagonist";
/// Those that constantly request memory from the operating system, or touch new memory from it.
const FAULTING: &[&str] = &["gauss", "gauss_free", SIMULATED_ONLY];

/// One microbenchmark, native and simulated. A step is a malloc and a free; for gauss a malloc, for
/// gauss_free and antagonist a malloc and half a free.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Its name.
    pub name: String,
    /// Native cycles per step, without marker instructions.
    pub native: Option<Spread>,
    /// Native cycles per step with the allocator's markers, which are instructions too.
    pub marked: Option<Spread>,
    /// Simulated cycles per step; the simulator elides markers.
    pub simulated: Option<f64>,
    /// Samples with a valid calibration.
    pub kept: usize,
    /// Samples left out because their calibration moved by more than 2 %.
    pub moved: usize,
    /// Samples left out because the core was shared.
    pub shared: usize,
}

impl Comparison {
    /// Simulated relative to native, signed: 0.1 means ten per cent too slow.
    pub fn error(&self) -> Option<f64> {
        match (self.native, self.simulated) {
            (Some(native), Some(simulated)) if native.median > 0.0 => {
                Some(simulated / native.median - 1.0)
            }
            _ => None,
        }
    }

    /// Samples left out.
    pub fn skipped(&self) -> usize {
        self.moved + self.shared
    }

    /// Whether both versions do the same work.
    pub fn comparable(&self) -> bool {
        self.name != SIMULATED_ONLY
    }

    /// The paper's error for it.
    pub fn paper(&self) -> Option<f64> {
        PAPER.iter().find(|(name, _)| *name == self.name).map(|(_, error)| *error)
    }
}

/// The results of a comparison with a host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The processor.
    pub host: Family,
    /// Name of the simulated machine.
    pub machine: String,
    /// Core cycles per tick of the time-stamp counter.
    pub cycles_per_tick: Option<Spread>,
    /// Native core cycles per page fault; the simulation uses the median.
    pub page_fault: Option<Spread>,
    /// The machine file's cost of a page fault, used if none could be measured.
    pub page_fault_machine: u64,
    /// One per microbenchmark.
    pub rows: Vec<Comparison>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Report {
    /// Mean absolute error of the microbenchmarks that do the same work on both sides.
    pub fn mean_error(&self) -> Option<f64> {
        self.mean_of(|_| true)
    }

    /// The same without those dominated by the operating system's page faults.
    pub fn mean_error_without_faults(&self) -> Option<f64> {
        self.mean_of(|row| !FAULTING.contains(&row.name.as_str()))
    }

    fn mean_of(&self, which: impl Fn(&Comparison) -> bool) -> Option<f64> {
        let same = self.rows.iter().filter(|row| row.comparable() && which(row));
        let errors: Vec<f64> = same.filter_map(|row| row.error().map(f64::abs)).collect();
        (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
    }

    /// As readable text.
    pub fn text(&self) -> String {
        let host = &self.host;
        let mut out = format!(
            "host     {} (family {}, model {})\nmachine  {}\n\ncycles of a step\n",
            host.name, host.family, host.model, self.machine
        );
        out += &self.table().text(&Layout::PLAIN);
        let percent = |v: Option<f64>| v.map_or("-".into(), |v| format!("{:.2} %", 100.0 * v));
        let _ = writeln!(
            out,
            "\nmean absolute error {}, without gauss and gauss_free {}; the paper's simulator \
             against a Haswell: {:.2} %",
            percent(self.mean_error()),
            percent(self.mean_error_without_faults()),
            100.0 * PAPER_MEAN
        );
        let _ = match self.page_fault {
            Some(f) => writeln!(
                out,
                "page fault {:.0} cycles ({:.0} to {:.0}) here, and in the simulation; the machine \
                 file has {}",
                f.median, f.low, f.high, self.page_fault_machine
            ),
            None => writeln!(out, "page fault {} cycles (machine file)", self.page_fault_machine),
        };
        out += &self.noise();
        for note in &self.notes {
            let _ = writeln!(out, "- {note}");
        }
        out
    }

    /// One row per microbenchmark.
    fn table(&self) -> Table {
        let right = |name: &str, width: usize| Column::right(name).at_least(width);
        let mut table = Table::new([
            Column::left("").at_least(14),
            right("native", 7).after(1),
            right("95 %", 15),
            right("simulated", 9),
            right("error", 8),
            right("paper's", 7),
            right("markers", 8),
            right("kept/all", 9),
        ]);
        for row in &self.rows {
            let percent = |v: Option<f64>| v.map_or("-".into(), |v| format!("{:+.1} %", 100.0 * v));
            table.row([
                row.name.clone(),
                row.native.map_or("-".into(), |n| format!("{:.1}", n.median)),
                row.native.map_or("-".into(), |n| format!("{:.1} to {:.1}", n.low, n.high)),
                row.simulated.map_or("-".into(), |s| format!("{s:.1}")),
                if row.comparable() { percent(row.error()) } else { "-".into() },
                row.paper().map_or("-".into(), |p| format!("{:.2} %", 100.0 * p)),
                row.marked.map_or("-".into(), |m| format!("{:.1}", m.median)),
                format!("{}/{}", row.kept, row.kept + row.skipped()),
            ]);
        }
        table
    }

    fn noise(&self) -> String {
        let sum = |count: fn(&Comparison) -> usize| -> usize { self.rows.iter().map(count).sum() };
        let (kept, moved, shared) = (sum(|r| r.kept), sum(|r| r.moved), sum(|r| r.shared));
        let mut spreads: Vec<f64> =
            self.rows.iter().filter_map(|row| row.native.map(|n| n.spread)).collect();
        spreads.sort_by(f64::total_cmp);
        let widest = spreads.last().map_or("-".into(), |s| format!("{:.1} %", 100.0 * s));
        let clock = self.cycles_per_tick.map_or("-".into(), |c| {
            format!("{:.3} core cycles per tick ({:.3} to {:.3})", c.median, c.low, c.high)
        });
        format!(
            "noise: of {} samples {moved} left out because the calibration beside them moved over \
             2 %, {shared} because\nthe core's other thread was busy; widest interquartile range \
             {widest} of the median; {clock}\n",
            kept + moved + shared
        )
    }

    /// As CSV, one line per microbenchmark; undefined values are empty.
    pub fn csv(&self) -> String {
        let mut csv = Csv::new([
            "name",
            "machine",
            "native",
            "native_low",
            "native_high",
            "native_spread",
            "native_marked",
            "simulated",
            "error",
            "paper_error",
            "comparable",
            "kept",
            "moved",
            "shared",
        ]);
        for row in &self.rows {
            let field = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.4}"));
            csv.line([
                row.name.clone(),
                self.machine.clone(),
                field(row.native.map(|n| n.median)),
                field(row.native.map(|n| n.low)),
                field(row.native.map(|n| n.high)),
                field(row.native.map(|n| n.spread)),
                field(row.marked.map(|n| n.median)),
                field(row.simulated),
                field(row.error()),
                field(row.paper()),
                row.comparable().to_string(),
                row.kept.to_string(),
                row.moved.to_string(),
                row.shared.to_string(),
            ]);
        }
        csv.text()
    }

    /// As JSON; undefined values are null.
    pub fn json(&self) -> String {
        let mut document = serde_json::json!(self);
        document["mean_absolute_error"] = serde_json::json!(self.mean_error());
        document["mean_absolute_error_without_faults"] =
            serde_json::json!(self.mean_error_without_faults());
        document["paper_mean_absolute_error"] = serde_json::json!(PAPER_MEAN);
        for (value, row) in document["rows"].as_array_mut().into_iter().flatten().zip(&self.rows) {
            value["error"] = serde_json::json!(row.error());
            value["paper_error"] = serde_json::json!(row.paper());
            value["comparable"] = serde_json::json!(row.comparable());
        }
        pretty(&document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, native: f64, simulated: f64) -> Comparison {
        Comparison {
            name: name.into(),
            native: Spread::of(&[native]),
            marked: Spread::of(&[native + 2.0]),
            simulated: Some(simulated),
            kept: 1,
            moved: 2,
            shared: 1,
        }
    }

    fn report() -> Report {
        let mut silent = row("gauss", 1.0, 1.0);
        (silent.native, silent.kept, silent.moved) = (None, 0, 3);
        let rows = vec![
            row("tp", 20.0, 22.0),
            row("tp_small", 20.0, 16.0),
            row("antagonist", 20.0, 90.0),
            silent,
        ];
        Report {
            host: Family::default(),
            machine: "haswell".into(),
            cycles_per_tick: None,
            page_fault: Spread::of(&[9000.0]),
            page_fault_machine: 2000,
            rows,
            notes: vec!["a note".into()],
        }
    }

    #[test]
    fn the_papers_errors_have_the_papers_mean() {
        let mean = PAPER.iter().map(|(_, error)| error).sum::<f64>() / PAPER.len() as f64;
        assert!((mean - PAPER_MEAN).abs() < 0.00005, "{mean}");
    }

    #[test]
    fn the_mean_error_leaves_out_what_is_not_comparable_or_not_measured() {
        // +10 % and -20 %.
        assert!((report().mean_error().unwrap() - 0.15).abs() < 1e-12);
        // gauss_free at +45 % counts only in the first mean.
        let mut more = report();
        more.rows.push(row("gauss_free", 20.0, 29.0));
        assert!((more.mean_error().unwrap() - 0.25).abs() < 1e-12);
        assert!((more.mean_error_without_faults().unwrap() - 0.15).abs() < 1e-12);
        let none = Report { rows: Vec::new(), ..report() };
        assert_eq!(none.mean_error(), None);
    }

    #[test]
    fn a_row_has_both_sides_the_error_the_papers_and_its_samples() {
        let text = report().text();
        let words = |name: &str| {
            let line = text.lines().find(|l| l.split_whitespace().next() == Some(name)).unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words("tp"), "tp 20.0 20.0 to 20.0 22.0 +10.0 % 12.30 % 22.0 1/4");
        assert_eq!(words("antagonist"), "antagonist 20.0 20.0 to 20.0 90.0 - - 22.0 1/4");
        assert_eq!(words("gauss"), "gauss - - 1.0 - 5.32 % 3.0 0/4");
        assert!(text.contains("mean absolute error 15.00 %") && text.contains("6.28 %"), "{text}");
        assert!(text.contains("of 16 samples 9 left out") && text.contains("4 because"), "{text}");
        assert!(text.contains("page fault 9000 cycles (9000 to 9000) here"), "{text}");
        assert!(text.contains("machine file has 2000") && text.contains("- a note"), "{text}");
        let csv = report().csv();
        assert!(csv.contains("tp_small,haswell,20.0000,20.0000,20.0000,0.0000,22.0000,16.0000,"));
        assert!(csv.contains("gauss,haswell,,,,,3.0000,1.0000,,0.0532,true,0,3,1"), "{csv}");
        let json: serde_json::Value = serde_json::from_str(&report().json()).unwrap();
        assert_eq!(json["rows"][3]["error"], serde_json::Value::Null);
        assert_eq!(json["rows"][2]["comparable"], false);
    }
}
