//! `mallacc sma-study`: scratch-pad allocators on subsets of recorded traces.
//!
//! ```text
//! DIR/NAME.amt ──> study::figures ──> tables that were asked for ──> text, Markdown, CSV, JSON
//! ```

use std::fs;
use std::path::Path;

use study::figures::{CodeSizes, Input, Replays, by_size, resources};
use study::{Kind, Table, render, whole};
use traces::{Trace, TraceError};

use crate::args::{SmaStudyArgs, StudyFormat};
use crate::error::{Done, Failure};
use crate::output::{Stream, print};

/// What can be asked for, in the order of the paper.
pub const NAMES: [&str; 7] = ["table1", "table2", "fig8", "fig9", "fig10", "fig11", "fig12"];
/// The paper's programs in the order of its figures; others follow by name.
const PROGRAMS: [&str; 7] = ["a2p", "gcc", "gst", "cvt", "ogg", "pyt", "tar"];
/// Subsets of each trace: as in the paper, and few.
const SUBSETS: (u32, u32) = (10, 2);
/// Local and shared memory (section 5.1).
const LOCAL_BYTES: u32 = 4 << 10;
const SHARED_BYTES: u32 = 16 << 10;
/// The allocators of Tables 1 and 2.
const LOCAL: [Kind; 4] = [Kind::Sma(128), Kind::Lm, Kind::Cam, Kind::Dlmalloc];
const SHARED: [Kind; 3] = [Kind::Sma(128), Kind::Lm, Kind::Dlmalloc];
/// What the waste figures add to them.
const MORE: [Kind; 5] =
    [Kind::Headed, Kind::ThreeQuarters, Kind::Exact(128), Kind::Dlmalloc64, Kind::Talc64];
/// Exponents of the memory sizes of Figure 12: 1 kB to 1 MB.
const SIZES: std::ops::RangeInclusive<u32> = 10..=20;

/// Runs the command.
pub fn run(args: &SmaStudyArgs) -> Done {
    let wanted = chosen(&args.figures)?;
    let inputs = inputs(args)?;
    let count = args.subsets.unwrap_or(if args.quick { SUBSETS.1 } else { SUBSETS.0 });
    let tables = tables(&wanted, &inputs, count, args.quick);
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

/// The traces of the folder, the paper's programs first.
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
    let open = |name: String| -> Result<Input, TraceError> {
        let trace = Trace::open(&folder.join(format!("{name}.amt")), args.allow_truncated)?;
        Ok(Input { name, whole: whole(&trace.events) })
    };
    names.into_iter().map(|name| open(name).map_err(Failure::from)).collect()
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

fn tables(wanted: &[&str], inputs: &[Input], count: u32, quick: bool) -> Vec<Table> {
    let wants = |names: &[&str]| names.iter().any(|name| wanted.contains(name));
    let mut tables = Vec::new();
    let code = CodeSizes::default();
    tables.push(resources(1, LOCAL_BYTES, &LOCAL, &code, &[]));
    tables.push(resources(2, SHARED_BYTES, &SHARED, &code, &[]));
    let sizes = [
        (LOCAL_BYTES, ["fig8", "fig9"], ["Figure 8: waste", "Figure 9: causes of waste"]),
        (SHARED_BYTES, ["fig10", "fig11"], ["Figure 10: waste", "Figure 11: causes of waste"]),
    ];
    for (bytes, ids, titles) in sizes {
        if wants(&ids) {
            let kinds: Vec<Kind> = LOCAL.into_iter().chain(MORE).collect();
            let replays = Replays::new(inputs, &kinds, bytes, count);
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
    tables.retain(|table| wanted.contains(&table.id));
    tables
}
