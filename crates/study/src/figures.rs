//! The tables and figures, from replays and from what was measured elsewhere.

use crate::paper;
use crate::replay::{Replayed, Waste, replay};
use crate::subject::{Kind, with};
use crate::subset::{Subset, Whole};
use crate::table::{Cell, Table};

/// A program's trace.
#[derive(Clone, Debug)]
pub struct Input {
    /// The paper's short name, as `gcc`.
    pub name: String,
    /// Its allocations and frees.
    pub whole: Whole,
}

impl Input {
    /// Its subsets for a memory, numbered from 1.
    pub fn subsets(&self, bytes: u32, count: u32) -> Vec<Subset> {
        (1..=count).map(|seed| self.whole.subset(bytes.into(), seed.into())).collect()
    }
}

/// What a kind did with all subsets of all inputs at one memory size.
pub struct Replays {
    /// Bytes of memory.
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

    /// Percent of the memory, by input, of every subset.
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

    fn columns(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| kind.name()).collect()
    }

    /// Percent of the memory: the mean over inputs of what was wasted when requests were refused.
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
        let mut table = Table {
            id,
            title: title.to_owned(),
            unit: "% of memory",
            decimals: 1,
            columns: self.columns(),
            rows: Vec::new(),
            notes: Vec::new(),
        };
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
        let mut table = Table {
            id,
            title: title.to_owned(),
            unit: "% of memory",
            decimals: 1,
            columns: self.columns(),
            rows: Vec::new(),
            notes: Vec::new(),
        };
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
    let mut table = Table {
        id: "fig12",
        title: "Figure 12: waste by memory size, mean of the programs".into(),
        unit: "% of memory",
        decimals: 1,
        columns: kinds.iter().map(|kind| kind.name()).collect(),
        rows: Vec::new(),
        notes: Vec::new(),
    };
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

/// Instructions of the code for a 32-bit processor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CodeSizes {
    /// Kind and instructions.
    pub instructions: Vec<(Kind, f64)>,
    /// How they were measured.
    pub source: String,
}

impl CodeSizes {
    fn of(&self, kind: Kind) -> Option<f64> {
        self.instructions.iter().find(|(other, _)| *other == kind).map(|(_, count)| *count)
    }
}

/// Tables 1 and 2: what it takes to manage a memory.
pub fn resources(
    number: u32,
    bytes: u32,
    kinds: &[Kind],
    code: &CodeSizes,
    cycles: &[Option<CallCycles>],
) -> Table {
    let printed: &[paper::Resources] = if number == 1 { &paper::TABLE_1 } else { &paper::TABLE_2 };
    let place = if number == 1 { "local" } else { "shared" };
    let mut table = Table {
        id: if number == 1 { "table1" } else { "table2" },
        title: format!("Table {number}: resources to manage {} kB of {place} memory", bytes >> 10),
        unit: "",
        decimals: 1,
        columns: kinds.iter().map(|kind| kind.name()).collect(),
        rows: Vec::new(),
        notes: vec![
            "Paper: section 5.2, in brackets. DLmalloc's state is the paper's; the \
                     model's end of the arena (40 B) is added where waste is counted."
                .into(),
        ],
    };
    let state = |kind| match kind {
        Kind::Dlmalloc => Some(paper::DLMALLOC_STATE_BYTES as f64),
        _ => with(kind, bytes, |subject| subject.state_bytes() as f64),
    };
    let cell = |value: Option<f64>, paper: Option<f64>| Cell { value, spread: None, paper };
    let printed = |at: usize, part: fn(&paper::Resources) -> f64| printed.get(at).map(part);
    let row = |value: &dyn Fn(usize) -> Option<f64>, part| {
        (0..kinds.len()).map(|at| cell(value(at), printed(at, part))).collect::<Vec<_>>()
    };
    table.row("state, bytes", row(&|at| state(kinds[at]), |r| r.state));
    table.row("code, instructions", row(&|at| code.of(kinds[at]), |r| r.code));
    let time = |at: usize| cycles.get(at).copied().flatten();
    table.row("allocation, cycles", row(&|at| time(at).map(|c| c.allocation), |r| r.allocation));
    table.row("free, cycles", row(&|at| time(at).map(|c| c.free), |r| r.free));
    if !code.source.is_empty() {
        table.notes.push(code.source.clone());
    }
    table
}
