//! Basic blocks: predictions, timelines, and the comparison with measured hardware.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::num::NonZero;
use std::path::Path;

use uarch::Machine;
use validate::{Blocks, Category, Prediction, bhive, code, html, report};

use crate::args::{BlockArgs, Format, ValidateBlocksArgs};
use crate::error::{Done, Failure};
use crate::output::{Stream, print};

/// Iterations that a timeline leaves out at the start, and shows.
const TIMELINE_SKIP: u64 = 100;
const TIMELINE_SHOWN: u64 = 4;

fn blocks(machine: &str) -> Result<Blocks, Failure> {
    Blocks::new(&Machine::find(machine)?).map_err(|error| Failure::usage(error.to_string()))
}

/// `mallacc block`. A bad block is named and does not stop the others; the status is then not 0.
pub fn block(args: &BlockArgs) -> Done {
    let blocks = blocks(&args.machine)?;
    let mut list = Vec::new();
    for text in &args.blocks {
        if text == "-" {
            let mut input = String::new();
            std::io::stdin()
                .read_to_string(&mut input)
                .map_err(|e| Failure::failed(format!("standard input: cannot read: {e}")))?;
            list.extend(input.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            list.push(text.clone());
        }
    }
    if list.is_empty() {
        return Err(Failure::usage("no block: give machine code in hexadecimal; try 4801d8"));
    }
    let (mut done, mut bad) = (Vec::new(), 0);
    for text in &list {
        let bytes = code::parse_hex(text);
        match bytes.and_then(|bytes| Ok((blocks.predict(&bytes)?, bytes))) {
            Ok((prediction, bytes)) => done.push((text, prediction, bytes)),
            Err(error) => {
                bad += 1;
                let shown = if text.is_empty() { "\"\"" } else { text };
                eprintln!("mallacc: block {shown}: {error}");
            }
        }
    }
    if let (Some(path), Some((text, _, bytes))) = (&args.html, done.first()) {
        let timeline = timeline(&blocks, bytes)?;
        fs::write(path, html::page(&timeline, text))
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", path.display())))?;
    }
    let mut out = match args.format {
        Format::Json => json(&done)?,
        Format::Csv => lines(&done, true),
        Format::Table if done.is_empty() => String::new(),
        Format::Table => lines(&done, false),
    };
    if args.timeline {
        for (_, _, bytes) in &done {
            out.push('\n');
            out += &timeline(&blocks, bytes)?.text();
        }
    }
    print(Stream::Stdout, &out)?;
    Ok(u8::from(bad > 0))
}

fn timeline(blocks: &Blocks, bytes: &[u8]) -> Result<validate::Timeline, Failure> {
    let timeline = blocks.timeline(bytes, TIMELINE_SKIP, TIMELINE_SHOWN);
    timeline.map_err(|error| Failure::usage(error.to_string()))
}

type Predicted<'a> = (&'a String, Prediction, Vec<u8>);

/// A heading and a line for each block, laid out for people or separated by commas.
fn lines(done: &[Predicted], csv: bool) -> String {
    let mut out = String::from(if csv {
        "hex,cycles_per_iteration,instructions,fused_uops,uops,category\n"
    } else {
        "cycles  instructions  fused uops   uops  category        block\n"
    });
    for (text, prediction, _) in done {
        let Prediction {
            cycles_per_iteration: cycles,
            instructions: count,
            fused_uops: fused,
            uops,
            ..
        } = prediction;
        let category = prediction.category.name();
        let _ = if csv {
            writeln!(out, "{text},{cycles:.4},{count},{fused},{uops:.3},{category}")
        } else {
            writeln!(
                out,
                "{cycles:>6.2}  {count:>12}  {fused:>10}  {uops:>5.1}  {category:<14}  {text}"
            )
        };
    }
    out
}

fn json(done: &[Predicted]) -> Result<String, Failure> {
    let list: Vec<_> = done
        .iter()
        .map(|(text, prediction, _)| serde_json::json!({ "hex": text, "prediction": prediction }))
        .collect();
    let text = serde_json::to_string_pretty(&list);
    text.map(|t| t + "\n").map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))
}

/// `mallacc validate blocks`.
pub fn validate(args: &ValidateBlocksArgs) -> Done {
    let blocks = blocks(&args.machine)?;
    let category = args.category.as_deref().map(Category::find).transpose()?;
    let (outcomes, errors) = compare(&blocks, &args.file)?;
    let report = report::report(&outcomes, &errors, args.worst, category);
    let out = match args.format {
        Format::Table => report.table(),
        Format::Json => report.json() + "\n",
        Format::Csv => report.csv(),
    };
    print(Stream::Stdout, &out)?;
    if args.format == Format::Csv {
        // The other forms name them themselves.
        for error in &errors {
            eprintln!("mallacc: {}: {error}", args.file.display());
        }
    }
    Ok(u8::from(!errors.is_empty()))
}

/// Mean absolute error against measured blocks, and how many there are. Rows that cannot be read or
/// predicted are left out.
pub fn error(file: &Path, machine: &str) -> Result<(f64, usize), Failure> {
    let (outcomes, _) = compare(&blocks(machine)?, file)?;
    let score = validate::Score::among(&outcomes, |_| true);
    let none = || Failure::failed(format!("{}: no block in it", file.display()));
    Ok((score.mape.ok_or_else(none)?, score.blocks))
}

/// A prediction beside each measurement in a file, and the rows without one.
fn compare(
    blocks: &Blocks,
    file: &Path,
) -> Result<(Vec<validate::Outcome>, Vec<bhive::RowError>), Failure> {
    let path = file.display();
    let text = fs::read_to_string(file)
        .map_err(|e| Failure::usage(format!("{path}: cannot read: {e}; give a CSV file")))?;
    let rows = bhive::parse(&text).map_err(|e| Failure::usage(format!("{path}: {e}")))?;
    let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    Ok(bhive::predict(blocks, rows, threads))
}
