//! Runs as text for a terminal.

mod cautions;
mod comparison;
mod course;
mod facts;
mod grid;
mod headline;
mod histogram;
mod list;
pub mod number;
mod sections;

use documents::Layout;

use crate::model::Run;

pub use cautions::{cautions, stated, too_little};
pub use comparison::grid as comparison;
pub use facts::{alarms, lines as facts};
pub use grid::Grid;
pub(crate) use grid::wrap;
pub use headline::headline;
pub use list::list;

/// The layout of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; below 80 some lines may be wider.
    pub width: usize,
    /// Whether the terminal shows more than ASCII.
    pub unicode: bool,
    /// Whether to emphasise with ANSI escapes. No information depends on it.
    pub colour: bool,
}

impl Style {
    /// 80 columns, Unicode, no colour.
    pub const PLAIN: Self = Self { width: 80, unicode: true, colour: false };

    /// The layout of tables.
    pub(crate) fn layout(&self) -> Layout {
        Layout { width: self.width, bold: self.colour, ..Layout::PLAIN }
    }

    fn bold(&self, text: &str) -> String {
        self.layout().heading(text)
    }

    fn alarm(&self, text: &str) -> String {
        if self.colour { format!("\x1b[31m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Text in this style's character set.
    pub(crate) fn finish(&self, text: String) -> String {
        if self.unicode {
            return text;
        }
        text.replace('±', "+-").replace('→', "->").chars().map(course::in_ascii).collect()
    }
}

/// What `mallacc run` prints: the headline, what was run, and the comparison of the
/// configurations.
pub fn summary(run: &Run, style: &Style) -> String {
    let mut text = String::new();
    for sentence in headline(run) {
        text += &style.bold(&wrap(&sentence, style.width, ""));
        text.push('\n');
    }
    text.push('\n');
    text += &facts::text(run, style);
    if !run.configurations.is_empty() {
        text.push('\n');
        text += &comparison::grid(run).render(style);
    }
    style.finish(text)
}

/// What `mallacc show` prints: the summary and every section.
pub fn detail(run: &Run, style: &Style) -> String {
    let mut text = summary(run, style);
    for section in sections::sections(run, style) {
        text.push('\n');
        text += &section;
    }
    style.finish(text)
}
