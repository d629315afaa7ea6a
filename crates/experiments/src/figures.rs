//! The paper's figures and tables, measured and side by side with the paper.
//!
//! ```text
//! figures ──> paper::needs ──> measure (one execution of each program) ──> paper::derive ──> report
//! ```

use std::path::PathBuf;

use paper::sheet::Sheet;
use paper::{Kind, Need, SUBJECTS, needs, render};
use uarch::Machine;

pub use paper::Figure;

use crate::blocks;
use crate::error::Failure;
use crate::input;
use crate::measure::{Settings, measure};
use crate::monitor::Monitor;
use crate::session::Rows;

/// Runs of each program for Table 2, including the first.
const SEEDS: u64 = 5;
/// The same for a quick study.
const SEEDS_QUICK: u64 = 2;

/// Which figures, and how they are measured.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Figures and tables; all if none is named.
    pub figures: Vec<Figure>,
    /// Only these of the programs that appear in the figures.
    pub programs: Vec<String>,
    /// A short stretch of each program and few seeds.
    pub quick: bool,
    /// Executions of each program for Table 2.
    pub seeds: Option<u64>,
    /// Where recordings NAME.mtrace are; they are replayed instead of running NAME.
    pub recorded: Option<PathBuf>,
    /// A store whose runs of this version are reused.
    pub resume: Option<PathBuf>,
    /// Measured basic blocks for Table 1.
    pub blocks: Option<PathBuf>,
    /// The machine: a name or a file
    pub machine: String,
    /// Whether the operating system's time counts; in the paper's simulator it is zero.
    pub kernel: bool,
}

/// A request that was found to be feasible.
pub struct Study {
    figures: Vec<Figure>,
    needs: Vec<Need>,
    settings: Settings,
    blocks: Option<PathBuf>,
    machine: Machine,
}

impl Study {
    /// What a request asks for.
    pub fn new(request: Request) -> Result<Self, Failure> {
        let mut figures = request.figures;
        if figures.is_empty() {
            figures = Figure::all().collect();
        }
        figures.sort_unstable();
        figures.dedup();
        let only = subjects(&request.programs)?;
        let needs = needs(&figures, &only);
        if needs.is_empty() {
            return Err(Failure::usage(format!(
                "none of these figures covers {}; `mallacc paper --list` shows which do",
                only.join(", ")
            )));
        }
        let machine = input::machine(&request.machine)?;
        let settings = Settings {
            quick: request.quick,
            seeds: request.seeds.unwrap_or(if request.quick { SEEDS_QUICK } else { SEEDS }),
            recorded: request.recorded,
            machine: if request.kernel { machine.clone() } else { machine.clone().user_level() },
            resume: request.resume,
        };
        let blocks = request.blocks.filter(|_| figures.contains(&Figure::Table1));
        Ok(Self { figures, needs, settings, blocks, machine })
    }

    /// Measures it.
    pub fn run(mut self, rows: &mut Rows, monitor: &dyn Monitor) -> Result<Report, Failure> {
        let mut study = measure(&self.needs, &self.settings, rows, monitor)?;
        let mut whole = study.missing.is_empty();
        if let Some(file) = &self.blocks {
            match blocks::error(file, &self.machine) {
                Ok(error) => study.blocks = Some(error),
                Err(failure) => {
                    monitor.problem(&format!("Table 1: {}", failure.text));
                    whole = false;
                }
            }
        }
        // A figure none of whose programs was requested would be an empty table.
        let needs = &self.needs;
        self.figures.retain(|figure| needs.iter().any(|need| figure.concerns(need.subject)));
        let sheets = paper::derive::sheets(&self.figures, &study);
        for check in sheets.iter().flat_map(Sheet::stale) {
            let (figure, claim) = (check.claim.figure.label(), check.claim);
            let about = [claim.subject, claim.what].join(" ");
            let about = about.trim_start();
            monitor.problem(&format!("{figure}, {about}: the cause is stale; see the report"));
        }
        Ok(Report { machine: study.machine, sheets, whole })
    }
}

/// The figures that were measured.
pub struct Report {
    machine: String,
    sheets: Vec<Sheet>,
    /// Whether everything requested was measured.
    pub whole: bool,
}

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        render::text(&self.machine, &self.sheets)
    }

    /// For documentation.
    pub fn markdown(&self) -> String {
        render::markdown(&self.machine, &self.sheets)
    }

    /// For programs: everything.
    pub fn json(&self) -> String {
        render::json(&self.machine, &self.sheets)
    }

    /// For spreadsheets: one line per number.
    pub fn csv(&self) -> String {
        render::csv(&self.sheets)
    }
}

/// The names of the requested programs.
fn subjects(names: &[String]) -> Result<Vec<&'static str>, Failure> {
    let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    let find = |name: &String| {
        let found = SUBJECTS.iter().find(|subject| subject.name == name);
        let unknown = || params::unknown_name("program of the figures", name, name, &known);
        found.map(|subject| subject.name).ok_or_else(|| unknown().into())
    };
    names.iter().map(find).collect()
}

/// The figures and the programs that appear in them.
pub fn list() -> String {
    let mut text = String::new();
    for figure in Figure::all() {
        let about: Vec<&str> =
            SUBJECTS.iter().filter(|s| figure.concerns(s)).map(|s| s.name).collect();
        let all = |kind| SUBJECTS.iter().filter(|s| s.kind == kind).count() == about.len();
        let programs = match (all(Kind::Micro), all(Kind::Program)) {
            (true, _) => "the microbenchmarks".to_owned(),
            (_, true) => "all programs".to_owned(),
            _ => about.join(", "),
        };
        text += &format!("{:7} {} ({programs})\n", figure.name(), figure.title());
    }
    text += "\nPrograms, and their counterparts in the paper:\n";
    for subject in SUBJECTS {
        text += &format!("{:17} {}\n", subject.name, subject.paper.unwrap_or("-"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_names_every_figure_and_program() {
        let text = list();
        for name in Figure::all().map(Figure::name).chain(SUBJECTS.iter().map(|s| s.name)) {
            assert!(text.lines().any(|line| line.split(' ').next() == Some(name)), "{name}");
        }
        assert!(text.contains("fig17   Malloc speedup by entries of the malloc cache (the micro"));
    }

    #[test]
    fn an_unknown_program_names_the_nearest() {
        let error = subjects(&["xapian-page".into()]).unwrap_err();
        assert!(error.text.contains("\"xapian-pages\""), "{}", error.text);
    }
}
