//! Basic blocks: predictions, timelines, and the comparison with measured hardware.

use std::num::NonZero;
use std::path::Path;

use documents::csv::Csv;
use documents::json::pretty;
use documents::text::wrap;
use documents::{Column, Layout, Table};
use uarch::Machine;
use validate::{
    Analysis, BlockError, Blocks, Category, Prediction, Timeline, bhive, code, html, report,
};

use crate::error::Failure;
use crate::input;

/// Iterations that a timeline skips at the start, and those that it shows.
const TIMELINE_SKIP: u64 = 100;
const TIMELINE_SHOWN: u64 = 4;
/// Characters in a line of text.
const WIDTH: usize = 100;

/// A machine that blocks are tried on.
pub struct Bench(Blocks);

/// A block with its prediction.
struct Predicted {
    text: String,
    prediction: Prediction,
    bytes: Vec<u8>,
    /// What bounds it, if that is wanted.
    analysis: Option<Analysis>,
}

/// Predictions of a list of blocks.
pub struct Predictions<'a> {
    bench: &'a Bench,
    done: Vec<Predicted>,
    /// Blocks that cannot be predicted, each with the reason.
    pub failed: Vec<(String, String)>,
}

impl Bench {
    /// The machine with this name or from this file.
    pub fn new(machine: &str) -> Result<Self, Failure> {
        Self::of(&input::machine(machine)?)
    }

    fn of(machine: &Machine) -> Result<Self, Failure> {
        let blocks = Blocks::new(machine);
        blocks.map(Self).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Predicts blocks of machine code in hexadecimal. A bad one does not stop the others. Unless
    /// they are `explained`, too, the predictions have neither ports nor bottlenecks.
    pub fn predict(&self, list: &[String], explained: bool) -> Predictions<'_> {
        let mut all = Predictions { bench: self, done: Vec::new(), failed: Vec::new() };
        for text in list {
            match self.predict_one(text, explained) {
                Ok(predicted) => all.done.push(predicted),
                Err(error) => all.failed.push((text.clone(), error.to_string())),
            }
        }
        all
    }

    fn predict_one(&self, text: &str, explained: bool) -> Result<Predicted, BlockError> {
        let bytes = code::parse_hex(text)?;
        let prediction = self.0.predict(&bytes)?;
        let analysis = if explained { Some(self.0.analyse(&bytes)?) } else { None };
        Ok(Predicted { text: text.to_owned(), prediction, bytes, analysis })
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
        let (text, path) = input::text(file, "a CSV file")?;
        let rows = bhive::parse(&text).map_err(|e| Failure::usage(format!("{path}: {e}")))?;
        let threads = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Ok(bhive::predict(&self.0, rows, threads))
    }
}

impl Predictions<'_> {
    /// The timeline of the first block as a page, if there is a block.
    pub fn page(&self) -> Result<Option<String>, Failure> {
        let page = |first: &Predicted| Ok(html::page(&self.bench.timeline(first)?, &first.text));
        self.done.first().map(page).transpose()
    }

    /// The timelines of all blocks, each after an empty line.
    pub fn timelines(&self) -> Result<String, Failure> {
        let mut out = String::new();
        for block in &self.done {
            out.push('\n');
            out += &self.bench.timeline(block)?.text();
        }
        Ok(out)
    }

    /// For people; empty without blocks. One block comes with its ports and its bottleneck, several
    /// are a list.
    pub fn text(&self) -> String {
        let analysis = |block: &'_ Predicted| block.analysis.as_ref().map(Analysis::short);
        let mut table = Table::new([
            Column::right("cycles"),
            Column::right("instructions"),
            Column::right("fused uops"),
            Column::right("uops").at_least(5),
            Column::left("category").at_least(14),
            Column::left("bottleneck"),
            Column::left("block"),
        ]);
        for block in &self.done {
            let Predicted { text, prediction: p, .. } = block;
            table.row([
                format!("{:.2}", p.cycles_per_iteration),
                p.instructions.to_string(),
                p.fused_uops.to_string(),
                format!("{:.1}", p.uops),
                p.category.name().to_owned(),
                analysis(block).unwrap_or_default(),
                text.clone(),
            ]);
        }
        let list = if self.done.is_empty() { String::new() } else { table.text(&Layout::PLAIN) };
        match self.done.as_slice() {
            [Predicted { analysis: Some(analysis), .. }] => {
                let ports = analysis.table().text(&Layout::PLAIN);
                let sentence = wrap(&analysis.sentence(), WIDTH, "");
                format!("{list}\n{ports}\n{sentence}\n")
            }
            _ => list,
        }
    }

    /// One line per block.
    pub fn csv(&self) -> String {
        let header =
            ["hex", "cycles_per_iteration", "instructions", "fused_uops", "uops", "category"];
        let mut csv = Csv::new(header);
        for Predicted { text, prediction: p, .. } in &self.done {
            csv.line([
                text.clone(),
                format!("{:.4}", p.cycles_per_iteration),
                p.instructions.to_string(),
                p.fused_uops.to_string(),
                format!("{:.3}", p.uops),
                p.category.name().to_owned(),
            ]);
        }
        csv.text()
    }

    /// Everything.
    pub fn json(&self) -> String {
        let list = self.done.iter().map(|block| {
            let sentence = block.analysis.as_ref().map(Analysis::sentence);
            serde_json::json!({
                "hex": block.text,
                "prediction": block.prediction,
                "analysis": block.analysis,
                "bottleneck": sentence,
            })
        });
        pretty(&list.collect::<Vec<_>>())
    }
}

/// Compares a file of measurements with predictions. Lists the `worst` largest errors, of one
/// category only if one is named.
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

/// Mean absolute error against measured blocks, and their number. Rows that cannot be read or
/// predicted are left out.
pub fn error(file: &Path, machine: &Machine) -> Result<(f64, usize), Failure> {
    let (outcomes, _) = Bench::of(machine)?.compare(file)?;
    let score = validate::Score::among(&outcomes, |_| true);
    let none = || Failure::failed(format!("{}: contains no blocks", file.display()));
    Ok((score.mape.ok_or_else(none)?, score.blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_written_with_commas_is_one_field_of_csv() {
        let bench = Bench::new("haswell").unwrap();
        let csv = bench.predict(&["90,90".to_owned()], false).csv();
        assert!(csv.lines().nth(1).unwrap().starts_with("\"90,90\","), "{csv}");
    }
}
