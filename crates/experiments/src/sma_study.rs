//! Scratch-pad allocators on subsets of recorded traces.
//!
//! ```text
//! DIR/NAME.amt ──> study::figures ──> tables that were asked for ──> text, Markdown, CSV, JSON
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use study::figures::{
    CallCycles, CodeSizes, CoreCycles, Input, Replays, by_size, normalised, resources,
};
use study::paper::{PROGRAMS, Resources};
use study::{Kind, Table, render, threads};

use crate::error::Failure;
use crate::monitor::Monitor;
use crate::sma_cycles::{self, CORES, Latencies};

/// The tables and figures that can be requested, in the order of the paper.
pub const NAMES: [&str; 12] = [
    "table1", "table2", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12",
    "fig13",
];
/// Subsets of each trace in Figure 13, and operations of each.
const CORES_SUBSETS: (u32, u32) = (2, 1);
const CORES_OPERATIONS: (usize, usize) = (1000, 200);
/// Subsets of each trace: as in the paper, and few for a quick study.
const SUBSETS: (u32, u32) = (10, 2);
/// The most operations of a subset that are simulated: all but the longest, and few for a quick
/// study.
const OPERATIONS: (usize, usize) = (2000, 300);
/// Latencies of local and shared memory (section 5.1).
const LOCAL_CYCLES: Latencies = [1, 4];
const SHARED_CYCLES: Latencies = [50, 100];
/// Local and shared memory (section 5.1).
const LOCAL_BYTES: u32 = 4 << 10;
const SHARED_BYTES: u32 = 16 << 10;
/// The allocators of Tables 1 and 2.
const LOCAL: [Kind; 5] = [Kind::Sma(128), Kind::Lm, Kind::Cam, Kind::Dlmalloc, Kind::Talc64];
const SHARED: [Kind; 4] = [Kind::Sma(128), Kind::Lm, Kind::Dlmalloc, Kind::Talc64];
/// The allocators of Figures 8 to 11.
const WASTE: [Kind; 9] = [
    Kind::Sma(128),
    Kind::Lm,
    Kind::Cam,
    Kind::Dlmalloc,
    Kind::Headed,
    Kind::ThreeQuarters,
    Kind::Exact(128),
    Kind::Dlmalloc64,
    Kind::Talc64,
];
/// Exponents of the memory sizes of Figure 12: 1 kB to 1 MB.
const SIZES: std::ops::RangeInclusive<u32> = 10..=20;

/// What is studied, and in how much detail.
pub struct Request {
    /// Tables and figures, in the order of the paper.
    pub figures: Vec<&'static str>,
    /// The folder with the traces.
    pub traces: PathBuf,
    /// Whether traces that were cut short are used as far as they go.
    pub allow_truncated: bool,
    /// Subsets of each trace.
    pub subsets: u32,
    /// Whether to simulate short subsets, and few memory sizes.
    pub quick: bool,
    /// Whether to do what needs the simulator: cycles in the tables, figures 4 to 7.
    pub cycles: bool,
}

/// The requested tables and figures.
pub struct Report(Vec<Table>);

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        render::text(&self.0)
    }

    /// For documents.
    pub fn markdown(&self) -> String {
        render::markdown(&self.0)
    }

    /// For programs.
    pub fn json(&self) -> String {
        render::json(&self.0)
    }

    /// For spreadsheets: one line per number.
    pub fn csv(&self) -> String {
        render::csv(&self.0)
    }
}

/// Subsets of each trace by default.
pub fn usual_subsets(quick: bool) -> u32 {
    if quick { SUBSETS.1 } else { SUBSETS.0 }
}

/// Makes the tables and figures. Nothing is stored.
pub fn run(request: &Request, monitor: &dyn Monitor) -> Result<Report, Failure> {
    let wanted = &request.figures;
    let inputs = inputs(request, monitor)?;
    let mut tables = tables(wanted, &inputs, request.subsets, request.quick);
    for memory in [&LOCAL_MEMORY, &SHARED_MEMORY] {
        let asked = memory.ids.iter().any(|id| wanted.contains(id));
        if asked {
            let cycles = match request.cycles {
                true => cycles(memory, &inputs, request, monitor)?,
                false => Vec::new(),
            };
            tables.extend(timed(memory, &inputs, &cycles));
        }
    }
    tables.retain(|table| wanted.contains(&table.id));
    tables.sort_by_key(|table| NAMES.iter().position(|name| *name == table.id));
    Ok(Report(tables))
}

/// The tables and figures with these names; all if none is named.
pub fn chosen(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    if names.is_empty() {
        return Ok(NAMES.to_vec());
    }
    let known = |name: &String| {
        let found = NAMES.into_iter().find(|known| known == name);
        found.ok_or_else(|| params::unknown_name("figure", name, name, &NAMES).into())
    };
    names.iter().map(known).collect()
}

/// The traces in the folder: the paper's programs in the order of its figures, others by name.
fn inputs(request: &Request, monitor: &dyn Monitor) -> Result<Vec<Input>, Failure> {
    let folder = &request.traces;
    let mut names: Vec<String> = fs::read_dir(folder)
        .map_err(|error| missing(folder, &error.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".amt")?.into()))
        .collect();
    if names.is_empty() {
        return Err(missing(folder, "it contains no file NAME.amt"));
    }
    let place = |name: &str| PROGRAMS.iter().position(|known| *known == name);
    names.sort_by_key(|name| (place(name).unwrap_or(PROGRAMS.len()), name.clone()));
    let absent: Vec<&str> =
        PROGRAMS.into_iter().filter(|known| !names.iter().any(|name| name == known)).collect();
    if !absent.is_empty() {
        let folder = folder.display();
        monitor.problem(&format!("{folder} has no trace of {}", absent.join(", ")));
    }
    let open = |name: &String| Input::open(folder, name, request.allow_truncated);
    names.iter().map(|name| open(name).map_err(Failure::from)).collect()
}

fn missing(folder: &Path, why: &str) -> Failure {
    Failure::failed(format!(
        "traces {}: {why}; record them with `make setup-study traces` in Mallacc's source tree, \
         or your own with `mallacc record-mallocs -o DIR/NAME.amt -- PROG`, and name DIR with \
         --traces",
        folder.display()
    ))
}

/// A memory whose management costs cycles.
struct Memory {
    /// Its table and figures.
    ids: [&'static str; 3],
    titles: [&'static str; 2],
    bytes: u32,
    latencies: Latencies,
    kinds: &'static [Kind],
    printed: &'static [Resources],
}

const LOCAL_MEMORY: Memory = Memory {
    ids: ["table1", "fig4", "fig5"],
    titles: [
        "Figure 4: cycles of an allocation, 4 kB of local memory",
        "Figure 5: cycles of a free, 4 kB of local memory",
    ],
    bytes: LOCAL_BYTES,
    latencies: LOCAL_CYCLES,
    kinds: &LOCAL,
    printed: &study::paper::TABLE_1,
};

const SHARED_MEMORY: Memory = Memory {
    ids: ["table2", "fig6", "fig7"],
    titles: [
        "Figure 6: cycles of an allocation, 16 kB of shared memory",
        "Figure 7: cycles of a free, 16 kB of shared memory",
    ],
    bytes: SHARED_BYTES,
    latencies: SHARED_CYCLES,
    kinds: &SHARED,
    printed: &study::paper::TABLE_2,
};

/// Runs every program on every allocator under the simulator, and reports progress.
fn cycles(
    memory: &Memory,
    inputs: &[Input],
    request: &Request,
    monitor: &dyn Monitor,
) -> Result<Vec<CoreCycles>, Failure> {
    let limit = if request.quick { OPERATIONS.1 } else { OPERATIONS.0 };
    // Names have a fixed length: the path is an argument of the driver and so lies on its stack.
    let folder = std::env::temp_dir().join(format!("mallacc-study-{:010}", std::process::id()));
    let made = fs::create_dir_all(&folder);
    made.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let mut cores: Vec<CoreCycles> = CORES
        .iter()
        .map(|core| CoreCycles { core: (*core).to_owned(), programs: Vec::new() })
        .collect();
    for (at, input) in inputs.iter().enumerate() {
        let (name, kb) = (&input.name, memory.bytes >> 10);
        monitor.step(&format!("simulating {name}, {kb} kB ({} of {})", at + 1, inputs.len()));
        let mut programs = vec![Vec::new(); cores.len()];
        for &kind in memory.kinds {
            let what = (memory.bytes, memory.latencies);
            let amount = (request.subsets, limit);
            let done = sma_cycles::measure(input, kind, what, amount, &folder, monitor);
            if done.is_err() {
                let _ = fs::remove_dir_all(&folder);
            }
            let done = done?;
            for (core, programs) in programs.iter_mut().enumerate() {
                programs.push(done.map(|cycles| cycles.by_core[core]));
            }
        }
        for (core, programs) in cores.iter_mut().zip(programs) {
            core.programs.push(programs);
        }
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(cores)
}

/// A memory's table and figures.
fn timed(memory: &Memory, inputs: &[Input], cores: &[CoreCycles]) -> Vec<Table> {
    let number = if memory.bytes == LOCAL_BYTES { 1 } else { 2 };
    let mut table = resources(number, memory.bytes, memory.kinds, &CodeSizes::measured(), cores);
    if !cores.is_empty() {
        let [low, high] = memory.latencies;
        table.notes.push(format!(
            "Cycles: mean of scratch-pads of {low} and of {high} cycles. Haswell core: 4 wide, out \
             of order. Narrow core: 1 wide, 8 ahead."
        ));
    }
    let mut tables = vec![table];
    if cores.is_empty() {
        return tables;
    }
    type Part<T> = fn(&T) -> f64;
    let parts: [(Part<CallCycles>, Part<Resources>); 2] =
        [(|c| c.allocation, |r| r.allocation), (|c| c.free, |r| r.free)];
    for (at, (part, printed)) in parts.into_iter().enumerate() {
        let printed: Vec<f64> = memory.printed.iter().map(printed).collect();
        let title = (memory.ids[at + 1], memory.titles[at]);
        tables.push(normalised(title, inputs, memory.kinds, cores, (part, &printed)));
    }
    tables
}

fn tables(wanted: &[&str], inputs: &[Input], count: u32, quick: bool) -> Vec<Table> {
    let wants = |names: &[&str]| names.iter().any(|name| wanted.contains(name));
    let mut tables = Vec::new();
    let sizes = [
        (LOCAL_BYTES, ["fig8", "fig9"], ["Figure 8: waste", "Figure 9: causes of waste"]),
        (SHARED_BYTES, ["fig10", "fig11"], ["Figure 10: waste", "Figure 11: causes of waste"]),
    ];
    for (bytes, ids, titles) in sizes {
        if wants(&ids) {
            let replays = Replays::new(inputs, &WASTE, bytes, count);
            let title = |at: usize| format!("{} with {} kB of memory", titles[at], bytes >> 10);
            tables.push(replays.by_program(ids[0], &title(0)));
            tables.push(replays.by_cause(ids[1], &title(1)));
        }
    }
    if wants(&["fig12"]) {
        let step = if quick { 5 } else { 1 };
        let sizes: Vec<u32> = SIZES.step_by(step).map(|exponent| 1 << exponent).collect();
        tables.push(by_size(inputs, &sizes, count));
    }
    if wants(&["fig13"]) {
        let (count, limit) = match quick {
            true => (CORES_SUBSETS.1, CORES_OPERATIONS.1),
            false => (CORES_SUBSETS.0, CORES_OPERATIONS.0),
        };
        let subsets: Vec<_> =
            inputs.iter().flat_map(|input| input.subsets(threads::BYTES, count)).collect();
        tables.push(threads::scaling(&subsets, limit));
    }
    tables
}
