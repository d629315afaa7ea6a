//! The tables and figures, computed from replays and from values measured elsewhere.

use crate::paper;
use crate::replay::{Replayed, Waste, replay};
use crate::subject::{Kind, with};
use crate::subset::{Subset, Whole, whole};
use crate::table::{Cell, Table};
use std::path::Path;
use traces::{Trace, TraceError};

/// A program's trace.
#[derive(Clone, Debug)]
pub struct Input {
    /// The paper's short name, such as `gcc`.
    pub name: String,
    /// Its allocations and frees.
    pub whole: Whole,
}

impl Input {
    /// Reads `folder/name.amt`.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open(folder: &Path, name: &str, allow_truncated: bool) -> Result<Self, TraceError> {
        let trace = Trace::open(&folder.join(format!("{name}.amt")), allow_truncated)?;
        Ok(Self { name: name.into(), whole: whole(&trace.events) })
    }

    /// Its subsets for a memory, numbered from 1.
    pub fn subsets(&self, bytes: u32, count: u32) -> Vec<Subset> {
        (1..=count).map(|seed| self.whole.subset(bytes.into(), seed.into())).collect()
    }
}

/// The results of each kind on all subsets of all inputs at one memory size.
pub struct Replays {
    /// Memory size in bytes.
    pub bytes: u32,
    kinds: Vec<Kind>,
    names: Vec<String>,
    /// By input, kind and subset.
    done: Vec<Vec<Vec<Replayed>>>,
}

impl Replays {
    /// Replays `count` subsets of every input on every kind.
    pub fn new(inputs: &[Input], kinds: &[Kind], bytes: u32, count: u32) -> Self {
        let of = |input: &Input| {
            let subsets = input.subsets(bytes, count);
            let all = |kind: &Kind| {
                subsets.iter().filter_map(|subset| replay(*kind, bytes, subset)).collect()
            };
            kinds.iter().map(all).collect()
        };
        Self {
            bytes,
            kinds: kinds.to_vec(),
            names: inputs.iter().map(|input| input.name.clone()).collect(),
            done: inputs.iter().map(of).collect(),
        }
    }

    /// Percentage of the memory, for every subset of an input.
    fn percent(&self, input: usize, kind: usize, part: impl Fn(&Waste) -> f64) -> Vec<f64> {
        let of = |done: &Replayed| part(&done.waste) * 100.0 / f64::from(self.bytes);
        self.done[input][kind].iter().map(of).collect()
    }

    /// The mean over inputs of their means.
    fn mean(&self, kind: usize, part: impl Fn(&Waste) -> f64 + Copy) -> Option<f64> {
        let means = (0..self.names.len())
            .filter_map(|input| Cell::mean(&self.percent(input, kind, part)).value)
            .collect::<Vec<_>>();
        Cell::mean(&means).value
    }

    /// Percentage of the memory: the mean over inputs of the waste at the moments of refusals.
    fn at_refusals(&self, kind: usize) -> Option<f64> {
        let of = |kinds: &Vec<Vec<Replayed>>| {
            let values: Vec<f64> = kinds[kind].iter().filter_map(|done| done.at_refusals).collect();
            Cell::mean(&values).value
        };
        let means: Vec<f64> = self.done.iter().filter_map(of).collect();
        Cell::mean(&means).value.map(|mean| mean * 100.0 / f64::from(self.bytes))
    }

    fn refused(&self, kind: usize) -> Option<f64> {
        let all = || self.done.iter().flat_map(|kinds| &kinds[kind]);
        let requests: u64 = all().map(|done| done.requests).sum();
        let refused: u64 = all().map(|done| done.refused).sum();
        (requests > 0).then(|| refused as f64 * 100.0 / requests as f64)
    }

    /// Figures 8 and 10: waste by program.
    pub fn by_program(&self, id: &'static str, title: &str) -> Table {
        let mut table = waste(id, title, &self.kinds);
        for (input, name) in self.names.iter().enumerate() {
            let cell = |kind| Cell::mean(&self.percent(input, kind, Waste::total));
            table.row(name, (0..self.kinds.len()).map(cell).collect());
        }
        let means: Vec<Option<f64>> =
            (0..self.kinds.len()).map(|kind| self.mean(kind, Waste::total)).collect();
        let plain = |value: &Option<f64>| Cell { value: *value, ..Cell::default() };
        table.row("mean", means.iter().map(plain).collect());
        let against = self.kinds.iter().position(|&kind| kind == Kind::Dlmalloc);
        if let Some(Some(base)) = against.map(|at| means[at]) {
            let less = self.kinds.iter().zip(&means).map(|(&kind, mean)| Cell {
                value: mean.map(|mean| (1.0 - mean / base) * 100.0),
                paper: self.paper_less(kind),
                spread: None,
            });
            table.row("less than DLmalloc, %", less.collect());
        }
        let refusals = (0..self.kinds.len()).map(|kind| self.at_refusals(kind));
        table.row("mean at refusals", refusals.map(|value| plain(&value)).collect());
        let refused = (0..self.kinds.len()).map(|kind| self.refused(kind));
        table.row("requests refused, %", refused.map(|value| plain(&value)).collect());
        table
    }

    fn paper_less(&self, kind: Kind) -> Option<f64> {
        match (self.bytes, kind) {
            (4096, Kind::Sma(128)) => Some(paper::LESS_WASTE_4K),
            (16384, Kind::Sma(128)) => Some(paper::LESS_WASTE_16K[0]),
            (16384, Kind::Lm) => Some(paper::LESS_WASTE_16K[1]),
            _ => None,
        }
    }

    /// Figures 9 and 11: waste by cause.
    pub fn by_cause(&self, id: &'static str, title: &str) -> Table {
        let mut table = waste(id, title, &self.kinds);
        type Part = fn(&Waste) -> f64;
        let causes: [(&str, Part); 5] = [
            ("state", |waste| waste.state),
            ("tags", |waste| waste.tags),
            ("internal", |waste| waste.internal),
            ("external", |waste| waste.external),
            ("all", Waste::total),
        ];
        for (name, part) in causes {
            let mean = |kind| Cell { value: self.mean(kind, part), ..Cell::default() };
            table.row(name, (0..self.kinds.len()).map(mean).collect());
        }
        table
    }
}

/// An empty table of percentages of the memory.
fn waste(id: &'static str, title: &str, kinds: &[Kind]) -> Table {
    Table {
        id,
        title: title.to_owned(),
        unit: "% of memory",
        decimals: 1,
        columns: kinds.iter().map(|kind| kind.name()).collect(),
        ..Table::default()
    }
}

/// Figure 12: waste by memory size.
pub fn by_size(inputs: &[Input], sizes: &[u32], count: u32) -> Table {
    let kinds = [
        Kind::Sma(128),
        Kind::Sma(32),
        Kind::Exact(128),
        Kind::Exact(32),
        Kind::Dlmalloc,
        Kind::Talc64,
    ];
    let title = "Figure 12: waste by memory size, mean of the programs";
    let mut table = waste("fig12", title, &kinds);
    let mut even = [None; 2];
    for &bytes in sizes {
        let replays = Replays::new(inputs, &kinds, bytes, count);
        let mean = |kind| replays.mean(kind, Waste::total);
        let cells: Vec<Option<f64>> = (0..kinds.len()).map(mean).collect();
        for (even, value) in even.iter_mut().zip(&cells) {
            let worse = matches!((value, cells[4]), (Some(ours), Some(theirs)) if *ours >= theirs);
            *even = if worse { even.or(Some(bytes)) } else { None };
        }
        let name = match bytes {
            0..1024 => format!("{bytes} B"),
            1024..0x10_0000 => format!("{} kB", bytes >> 10),
            _ => format!("{} MB", bytes >> 20),
        };
        let cell = |value: &Option<f64>| Cell { value: *value, ..Cell::default() };
        table.row(name, cells.iter().map(cell).collect());
    }
    for (index, (even, paper)) in even.iter().zip(paper::EVEN_BYTES).enumerate() {
        let name = kinds[index].name();
        let found = even.map_or("at none of these sizes".into(), |bytes: u32| {
            format!("from {} kB on", bytes >> 10)
        });
        table.notes.push(format!(
            "{name} wastes no less than DLmalloc {found} (paper, section 5.4: {} kB).",
            paper >> 10
        ));
    }
    table
}

/// Mean cycles of a call, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallCycles {
    /// Of an allocation.
    pub allocation: f64,
    /// Of a free.
    pub free: f64,
}

/// Code size in instructions of a 32-bit processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeSizes {
    /// Kind and instructions.
    pub instructions: Vec<(Kind, f64)>,
    /// How they were measured.
    pub source: String,
}

impl CodeSizes {
    /// The counts of `make -C sma/sma code-size` on 2026-11-22: allocate and free, compiled for
    /// size. A test compares them with the table of that run in `docs/sma.md`.
    pub fn measured() -> Self {
        Self {
            instructions: vec![
                (Kind::Sma(128), 1186.0),
                (Kind::Lm, 1231.0),
                (Kind::Cam, 1389.0),
                (Kind::Dlmalloc, 1171.0),
            ],
            source:
                "Code: instructions of Cortex-M3 that a program links in for allocate and free \
                     (make -C sma/sma code-size); RV32IMAC: 1,488, with LM 1,648, with CAM \
                     1,747, DLmalloc 1,316. SMA serves any memory size here, a \
                     single one in the paper."
                    .into(),
        }
    }

    fn of(&self, kind: Kind) -> Option<f64> {
        self.instructions.iter().find(|(other, _)| *other == kind).map(|(_, count)| *count)
    }
}

/// Cycles on one core, for each program and kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreCycles {
    /// The core's name.
    pub core: String,
    /// By program and kind; `None` where not measured.
    pub programs: Vec<Vec<Option<CallCycles>>>,
}

impl CoreCycles {
    /// The mean over the programs.
    fn mean(&self, kind: usize, part: fn(&CallCycles) -> f64) -> Option<f64> {
        let values: Vec<f64> =
            self.programs.iter().filter_map(|kinds| kinds[kind].as_ref().map(part)).collect();
        Cell::mean(&values).value
    }
}

/// Tables 1 and 2: the resources needed to manage a memory.
pub fn resources(
    number: u32,
    bytes: u32,
    kinds: &[Kind],
    code: &CodeSizes,
    cores: &[CoreCycles],
) -> Table {
    let printed: &[paper::Resources] = if number == 1 { &paper::TABLE_1 } else { &paper::TABLE_2 };
    let place = if number == 1 { "local" } else { "shared" };
    let mut table = Table {
        id: if number == 1 { "table1" } else { "table2" },
        title: format!("Table {number}: resources to manage {} kB of {place} memory", bytes >> 10),
        decimals: 1,
        columns: kinds.iter().map(|kind| kind.name()).collect(),
        notes: vec![
            "In brackets: the paper, section 5.2, on an Intel IXP 2350. DLmalloc's state is the \
             paper's."
                .into(),
        ],
        ..Table::default()
    };
    let state = |kind| match kind {
        Kind::Dlmalloc => Some(paper::DLMALLOC_STATE_BYTES as f64),
        _ => with(kind, bytes, |subject| subject.state_bytes() as f64),
    };
    let row = |value: &dyn Fn(usize) -> Option<f64>, part: fn(&paper::Resources) -> f64| {
        let cell = |at: usize| {
            let paper = printed.get(at).map(part);
            Cell { value: value(at), spread: None, paper }
        };
        (0..kinds.len()).map(cell).collect::<Vec<_>>()
    };
    table.row("state, bytes", row(&|at| state(kinds[at]), |r| r.state));
    table.row("code, instructions", row(&|at| code.of(kinds[at]), |r| r.code));
    for cycles in cores {
        let name = |what: &str| format!("{what}, cycles, {} core", cycles.core);
        let allocation = row(&|at| cycles.mean(at, |c| c.allocation), |r| r.allocation);
        table.row(name("allocation"), allocation);
        table.row(name("free"), row(&|at| cycles.mean(at, |c| c.free), |r| r.free));
    }
    if !code.source.is_empty() {
        table.notes.push(code.source.clone());
    }
    table
}

/// Figures 4 to 7: cycles of a call relative to DLmalloc's, which must be among the kinds.
pub fn normalised(
    (id, title): (&'static str, &str),
    inputs: &[Input],
    kinds: &[Kind],
    cores: &[CoreCycles],
    (part, printed): (fn(&CallCycles) -> f64, &[f64]),
) -> Table {
    let base = kinds.iter().position(|&kind| kind == Kind::Dlmalloc);
    let others: Vec<usize> = (0..kinds.len()).filter(|&kind| Some(kind) != base).collect();
    let columns = cores.iter().flat_map(|cycles| {
        others.iter().map(|&kind| format!("{}, {}", kinds[kind].name(), cycles.core))
    });
    let mut table = Table {
        id,
        title: title.to_owned(),
        unit: "DLmalloc = 1",
        decimals: 2,
        columns: columns.collect(),
        notes: vec![
            "Mean row: the ratio of the means; in brackets that of the paper's table.".into(),
        ],
        ..Table::default()
    };
    let ratio = |value: Option<f64>, base: Option<f64>| match (value, base) {
        (Some(value), Some(base)) => Cell::of(value / base),
        _ => Cell::default(),
    };
    for (program, input) in inputs.iter().enumerate() {
        let cells = cores.iter().flat_map(|cycles| {
            let of = |kind: usize| cycles.programs[program][kind].as_ref().map(part);
            let base = base.and_then(of);
            others.iter().map(|&kind| ratio(of(kind), base)).collect::<Vec<_>>()
        });
        table.row(&input.name, cells.collect());
    }
    let means = cores.iter().flat_map(|cycles| {
        let of = |kind: usize| cycles.mean(kind, part);
        let printed_base = base.and_then(|base| printed.get(base));
        let cell = |&kind: &usize| {
            let paper = printed.get(kind).zip(printed_base).map(|(ours, base)| ours / base);
            let paper = paper.map(|ratio| (ratio * 100.0).round() / 100.0);
            Cell { paper, ..ratio(of(kind), base.and_then(of)) }
        };
        others.iter().map(cell).collect::<Vec<_>>()
    });
    table.row("mean", means.collect());
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str) -> Input {
        Input { name: name.into(), whole: Whole::default() }
    }

    #[test]
    fn cycles_are_set_against_dlmallocs_of_the_same_core() {
        let call = |allocation| Some(CallCycles { allocation, free: 1.0 });
        let cores = [CoreCycles {
            core: "x".into(),
            programs: vec![
                vec![call(30.0), call(60.0), call(45.0)],
                vec![call(90.0), call(60.0), None],
            ],
        }];
        let kinds = [Kind::Sma(128), Kind::Dlmalloc, Kind::Talc64];
        let part: fn(&CallCycles) -> f64 = |calls| calls.allocation;
        let inputs = [input("a"), input("b")];
        let table = normalised(("fig4", ""), &inputs, &kinds, &cores, (part, &[72.8, 70.7]));
        let values = |column: usize| {
            table.rows.iter().map(|row| row.cells[column].value).collect::<Vec<_>>()
        };
        // 30 / 60, 90 / 60, and (30 + 90) / (60 + 60).
        assert_eq!(values(0), [Some(0.5), Some(1.5), Some(1.0)]);
        assert_eq!(table.rows[2].cells[0].paper, Some(1.03));
        // A kind that the paper does not have is also shown relative to DLmalloc, where it was
        // measured.
        assert_eq!(table.columns, ["SMA, x", "talc, 64-bit, x"]);
        assert_eq!(values(1), [Some(0.75), None, Some(0.75)]);
        assert_eq!(table.rows[2].cells[1].paper, None);
        let table = resources(1, 4096, &kinds, &CodeSizes::default(), &cores);
        assert_eq!(table.rows[2].name, "allocation, cycles, x core");
        assert_eq!(table.rows[2].cells[0].value, Some(60.0));
    }

    #[test]
    fn waste_is_a_mean_of_programs_and_not_of_subsets() {
        let whole = |bytes: Vec<u64>| Whole { steps: (0..bytes.len() as i64).collect(), bytes };
        let inputs = [
            Input { name: "a".into(), whole: whole(vec![128; 4]) },
            Input { name: "b".into(), whole: whole(vec![100; 4]) },
        ];
        let replays = Replays::new(&inputs, &[Kind::Sma(128)], 4096, 3);
        let table = replays.by_program("fig8", "");
        // 40 bytes of state; a request for 100 takes 128.
        let percent = |bytes: f64| bytes * 100.0 / 4096.0;
        let of = |row: usize| table.rows[row].cells[0].value.unwrap();
        assert_eq!((of(0), of(1)), (percent(40.0), percent(40.0 + 4.0 * 28.0)));
        assert_eq!(of(2), (of(0) + of(1)) / 2.0);
        assert_eq!(table.rows[0].cells[0].spread, Some(0.0));
    }

    #[test]
    fn code_sizes_are_those_of_the_documented_run() {
        let text = include_str!("../../../docs/sma.md");
        // The first word of each cell: SMA, with LM, with CAM, …, dlmalloc.
        let row = |processor: &str| -> Vec<&str> {
            let head = format!("| {processor} |");
            let line = text.lines().find_map(|line| line.strip_prefix(&head)).unwrap();
            line.trim_matches('|').split('|').filter_map(|c| c.split_whitespace().next()).collect()
        };
        let chosen = |row: &[&str]| [row[0], row[1], row[2], row[row.len() - 1]].map(str::to_owned);
        let sizes = CodeSizes::measured();
        let kinds = [Kind::Sma(128), Kind::Lm, Kind::Cam, Kind::Dlmalloc];
        let ours = kinds.map(|kind| sizes.of(kind).unwrap());
        let documented =
            chosen(&row("Cortex-M3")).map(|n| n.replace(',', "").parse::<f64>().unwrap());
        assert_eq!(ours, documented);
        let [sma, lm, cam, dlmalloc] = chosen(&row("RV32IMAC"));
        let said = format!("RV32IMAC: {sma}, with LM {lm}, with CAM {cam}, DLmalloc {dlmalloc}.");
        assert!(sizes.source.contains(&said), "{} has not: {said}", sizes.source);
    }
}
