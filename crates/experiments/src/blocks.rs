//! Basic blocks: predictions, timelines, and the comparison with measured hardware.

use std::fmt::Write as _;
use std::fs;
use std::num::NonZero;
use std::path::Path;

use uarch::Machine;
use validate::{Blocks, Category, Prediction, Timeline, bhive, code, html, report};

use crate::error::Failure;

/// Iterations that a timeline leaves out at the start, and shows.
const TIMELINE_SKIP: u64 = 100;
const TIMELINE_SHOWN: u64 = 4;

/// A machine that blocks are tried on.
pub struct Bench(Blocks);

/// A block with its prediction.
struct Predicted {
    text: String,
    prediction: Prediction,
    bytes: Vec<u8>,
}

/// Predictions of a list of blocks.
pub struct Predictions<'a> {
    bench: &'a Bench,
    done: Vec<Predicted>,
    /// Blocks that cannot be predicted, each with the reason.
    pub failed: Vec<(String, String)>,
}

impl Bench {
    /// The machine of this name or file.
    pub fn new(machine: &str) -> Result<Self, Failure> {
        let blocks = Blocks::new(&Machine::find(machine)?);
        blocks.map(Self).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Predicts blocks of machine code in hexadecimal. A bad one does not stop the others.
    pub fn predict(&self, list: &[String]) -> Predictions<'_> {
        let mut all = Predictions { bench: self, done: Vec::new(), failed: Vec::new() };
        for text in list {
            let bytes = code::parse_hex(text);
            match bytes.and_then(|bytes| Ok((self.0.predict(&bytes)?, bytes))) {
                Ok((prediction, bytes)) => {
                    all.done.push(Predicted { text: text.clone(), prediction, bytes });
                }
                Err(error) => all.failed.push((text.clone(), error.to_string())),
            }
        }
        all
    }

    fn timeline(&self, block: &Predicted) -> Result<Timeline, Failure> {
        let timeline = self.0.timeline(&block.bytes, TIMELINE_SKIP, TIMELINE_SHOWN);
        timeline.map_err(|error| Failure::usage(error.to_string()))
    }

    /// A prediction beside each measurement in a file, and the rows without one.
    fn compare(
        &self,
        file: &Path,
    ) -> Result<(Vec<validate::Outcome>, Vec<bhive::RowError>), Failure> {
        let path = file.display();
        let text = fs::read_to_string(file)
            .map_err(|e| Failure::usage(format!("{path}: cannot read: {e}; give a CSV file")))?;
        let rows = bhive::parse(&text).map_err(|e| Failure::usage(format!("{path}: {e}")))?;
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Ok(bhive::predict(&self.0, rows, threads))
    }
}

impl Predictions<'_> {
    /// The timeline of the first block as a page, if there is one.
    pub fn page(&self) -> Result<Option<String>, Failure> {
        let page = |first: &Predicted| Ok(html::page(&self.bench.timeline(first)?, &first.text));
        self.done.first().map(page).transpose()
    }

    /// The timelines of all blocks, an empty line before each.
    pub fn timelines(&self) -> Result<String, Failure> {
        let mut out = String::new();
        for block in &self.done {
            out.push('\n');
            out += &self.bench.timeline(block)?.text();
        }
        Ok(out)
    }

    /// For people; nothing without blocks.
    pub fn text(&self) -> String {
        if self.done.is_empty() { String::new() } else { lines(&self.done, false) }
    }

    /// A line for each block.
    pub fn csv(&self) -> String {
        lines(&self.done, true)
    }

    /// Everything.
    pub fn json(&self) -> Result<String, Failure> {
        json(&self.done)
    }
}

/// A heading and a line for each block, laid out for people or separated by commas.
fn lines(done: &[Predicted], csv: bool) -> String {
    let mut out = String::from(if csv {
        "hex,cycles_per_iteration,instructions,fused_uops,uops,category\n"
    } else {
        "cycles  instructions  fused uops   uops  category        block\n"
    });
    for Predicted { text, prediction, .. } in done {
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
        .map(|block| serde_json::json!({ "hex": block.text, "prediction": block.prediction }))
        .collect();
    let text = serde_json::to_string_pretty(&list);
    text.map(|t| t + "\n").map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))
}

/// Compares a file of measurements with predictions. Lists the `worst` largest errors, of one
/// category only if it is named.
pub fn validate(
    machine: &str,
    file: &Path,
    worst: usize,
    category: Option<&str>,
) -> Result<report::Report, Failure> {
    let bench = Bench::new(machine)?;
    let category = category.map(Category::find).transpose()?;
    let (outcomes, errors) = bench.compare(file)?;
    Ok(report::report(&outcomes, &errors, worst, category))
}

/// Mean absolute error against measured blocks, and how many there are. Rows that cannot be read or
/// predicted are left out.
pub fn error(file: &Path, machine: &str) -> Result<(f64, usize), Failure> {
    let (outcomes, _) = Bench::new(machine)?.compare(file)?;
    let score = validate::Score::among(&outcomes, |_| true);
    let none = || Failure::failed(format!("{}: no block in it", file.display()));
    Ok((score.mape.ok_or_else(none)?, score.blocks))
}
