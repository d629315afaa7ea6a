//! `mallacc sma-study`: scratch-pad allocators on subsets of recorded traces.
//!
//! ```text
//! DIR/NAME.amt ──> study::figures ──> tables that were asked for ──> text, Markdown, CSV, JSON
//! ```

use std::fs;
use std::path::Path;

use study::figures::{
    CallCycles, CodeSizes, CoreCycles, Input, Replays, by_size, normalised, resources,
};
use study::paper::{PROGRAMS, Resources};
use study::{Kind, Table, render, threads};
use traces::TraceError;

use crate::args::{SmaStudyArgs, StudyFormat};
use crate::error::{Done, Failure};
use crate::output::{Stream, print};
use crate::study_cycles::{self, CORES, Latencies};

/// What can be asked for, in the order of the paper.
pub const NAMES: [&str; 12] = [
    "table1", "table2", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig10", "fig11", "fig12",
    "fig13",
];
/// Subsets of each trace in Figure 13, and operations of each.
const CORES_SUBSETS: (u32, u32) = (2, 1);
const CORES_OPERATIONS: (usize, usize) = (1000, 200);
/// Subsets of each trace: as in the paper, and few.
const SUBSETS: (u32, u32) = (10, 2);
/// Operations of a subset that are simulated at most: all but the longest, and few.
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
/// Those of Figures 8 to 11.
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

/// Runs the command.
pub fn run(args: &SmaStudyArgs) -> Done {
    let wanted = chosen(&args.figures)?;
    let inputs = inputs(args)?;
    let count = args.subsets.unwrap_or(if args.quick { SUBSETS.1 } else { SUBSETS.0 });
    let mut tables = tables(&wanted, &inputs, count, args.quick);
    for memory in [&LOCAL_MEMORY, &SHARED_MEMORY] {
        let asked = memory.ids.iter().any(|id| wanted.contains(id));
        if asked {
            let cycles = if args.no_cycles { Vec::new() } else { cycles(memory, &inputs, args)? };
            tables.extend(timed(memory, &inputs, &cycles));
        }
    }
    tables.retain(|table| wanted.contains(&table.id));
    tables.sort_by_key(|table| NAMES.iter().position(|name| *name == table.id));
    let text = match args.format {
        StudyFormat::Text => render::text(&tables),
        StudyFormat::Json => render::json(&tables),
        StudyFormat::Csv => render::csv(&tables),
        StudyFormat::Markdown => render::markdown(&tables),
    };
    match &args.output {
        None => print(Stream::Stdout, &text)?,
        Some(path) => fs::write(path, text).map_err(|error| {
            let path = path.display();
            Failure::failed(format!("{path}: cannot be written ({error}); name another with -o"))
        })?,
    }
    Ok(0)
}

fn chosen(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    if names.is_empty() {
        return Ok(NAMES.to_vec());
    }
    let known = |name: &String| {
        let found = NAMES.into_iter().find(|known| known == name);
        found.ok_or_else(|| params::unknown_name("figure", name, name, &NAMES).into())
    };
    names.iter().map(known).collect()
}

/// The traces of the folder: the paper's programs in the order of its figures, others by name.
fn inputs(args: &SmaStudyArgs) -> Result<Vec<Input>, Failure> {
    let folder = &args.traces;
    let mut names: Vec<String> = fs::read_dir(folder)
        .map_err(|error| missing(folder, &error.to_string()))?
        .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".amt")?.into()))
        .collect();
    if names.is_empty() {
        return Err(missing(folder, "no file NAME.amt is in it"));
    }
    let place = |name: &str| PROGRAMS.iter().position(|known| *known == name);
    names.sort_by_key(|name| (place(name).unwrap_or(PROGRAMS.len()), name.clone()));
    let absent: Vec<&str> =
        PROGRAMS.into_iter().filter(|known| !names.iter().any(|name| name == known)).collect();
    if !absent.is_empty() {
        let folder = folder.display();
        eprintln!("mallacc: {folder} has no trace of {}", absent.join(", "));
    }
    let open = |name: &String| Input::open(folder, name, args.allow_truncated);
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

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::failed(error.to_string())
    }
}

/// A memory whose management takes time.
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

/// Runs every program on every allocator under the simulator. Says how far it is.
fn cycles(
    memory: &Memory,
    inputs: &[Input],
    args: &SmaStudyArgs,
) -> Result<Vec<CoreCycles>, Failure> {
    let count = args.subsets.unwrap_or(if args.quick { SUBSETS.1 } else { SUBSETS.0 });
    let limit = if args.quick { OPERATIONS.1 } else { OPERATIONS.0 };
    // Of one length, since it is an argument of the driver and so lies on its stack.
    let folder = std::env::temp_dir().join(format!("mallacc-study-{:010}", std::process::id()));
    let made = fs::create_dir_all(&folder);
    made.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    let mut cores: Vec<CoreCycles> = CORES
        .iter()
        .map(|core| CoreCycles { core: (*core).to_owned(), programs: Vec::new() })
        .collect();
    for (at, input) in inputs.iter().enumerate() {
        let (name, kb) = (&input.name, memory.bytes >> 10);
        eprintln!("mallacc: simulating {name}, {kb} kB ({} of {})", at + 1, inputs.len());
        let mut programs = vec![Vec::new(); cores.len()];
        for &kind in memory.kinds {
            let what = (memory.bytes, memory.latencies);
            let done = study_cycles::measure(input, kind, what, (count, limit), &folder);
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
