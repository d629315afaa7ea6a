//! Rows and columns of texts, written as aligned text or as Markdown.

use std::ops::Range;

use crate::text::{pad_left, pad_right};

/// Blanks between columns, unless a column sets its own.
const GAP: usize = 2;

/// The alignment of a column's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Aligned left, for words.
    Left,
    /// Aligned right, for figures.
    Right,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: String,
    align: Align,
    width_min: usize,
    gap: Option<usize>,
}

impl Column {
    /// A column of words.
    pub fn left(name: impl Into<String>) -> Self {
        Self { name: name.into(), align: Align::Left, width_min: 0, gap: None }
    }

    /// A column of figures.
    pub fn right(name: impl Into<String>) -> Self {
        Self { align: Align::Right, ..Self::left(name) }
    }

    /// Makes it at least this number of characters wide.
    #[must_use]
    pub fn at_least(self, width: usize) -> Self {
        Self { width_min: width, ..self }
    }

    /// Puts this number of blanks before it.
    #[must_use]
    pub fn after(self, gap: usize) -> Self {
        Self { gap: Some(gap), ..self }
    }

    /// Its heading.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn pad(&self, text: &str, width: usize) -> String {
        match self.align {
            Align::Left => pad_right(text, width),
            Align::Right => pad_left(text, width),
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A heading above the following rows.
    Heading(String),
    /// A text for each column; missing ones are blank.
    Cells(Vec<String>),
}

/// The layout of a table on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Characters per line. Columns that do not fit follow in another block, which repeats the
    /// first column.
    pub width: usize,
    /// Whether headings are bold, by a terminal's escape sequences.
    pub bold: bool,
    /// Whether a line is drawn below the column names.
    pub ruled: bool,
}

impl Layout {
    /// Unlimited width, without escape sequences.
    pub const PLAIN: Self = Self { width: usize::MAX, bold: false, ruled: false };

    /// A heading.
    pub fn heading(&self, text: &str) -> String {
        if self.bold { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A table under construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a heading above the following rows.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.rows.push(Row::Heading(text.into()));
    }

    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(Row::Cells(cells.into_iter().map(Into::into).collect()));
    }

    /// As aligned text; column names are shown if there are any.
    pub fn text(&self, layout: &Layout) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|c| self.width(c)).collect();
        let (mut text, mut first) = (String::new(), 1);
        loop {
            let mut last = first;
            let mut used = self.gap(0) + widths.first().copied().unwrap_or(0);
            while last < widths.len()
                && (last == first || used + self.gap(last) + widths[last] <= layout.width)
            {
                used += self.gap(last) + widths[last];
                last += 1;
            }
            if first > 1 {
                text.push('\n');
            }
            self.block(&mut text, &widths, first..last, layout);
            first = last;
            if first >= widths.len() {
                return text;
            }
        }
    }

    /// The first column and a range of the others.
    fn block(&self, text: &mut String, widths: &[usize], range: Range<usize>, layout: &Layout) {
        let line = |cells: &[&str]| {
            let mut line = String::new();
            for at in (0..widths.len().min(1)).chain(range.clone()) {
                let cell = cells.get(at).copied().unwrap_or_default();
                line.push_str(&" ".repeat(self.gap(at)));
                line.push_str(&self.columns[at].pad(cell, widths[at]));
            }
            line
        };
        let names: Vec<&str> = self.columns.iter().map(Column::name).collect();
        if names.iter().any(|name| !name.is_empty()) {
            let names = line(&names);
            text.push_str(&layout.heading(names.trim_end()));
            text.push('\n');
            if layout.ruled {
                text.push_str(&"-".repeat(names.chars().count()));
                text.push('\n');
            }
        }
        for row in &self.rows {
            match row {
                Row::Heading(heading) => text.push_str(&layout.heading(heading)),
                Row::Cells(cells) => {
                    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
                    text.push_str(line(&cells).trim_end());
                }
            }
            text.push('\n');
        }
    }

    fn gap(&self, column: usize) -> usize {
        let usual = if column == 0 { 0 } else { GAP };
        self.columns.get(column).and_then(|column| column.gap).unwrap_or(usual)
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| match row {
            Row::Heading(_) => None,
            Row::Cells(cells) => cells.get(column).map(|cell| cell.chars().count()),
        });
        let Column { name, width_min, .. } = &self.columns[column];
        cells.chain([name.chars().count(), *width_min]).max().unwrap_or(0)
    }

    /// As a Markdown table. A heading becomes a separate row in bold.
    pub fn markdown(&self) -> String {
        let mut text = markdown_row(self.columns.iter().map(|column| column.name.as_str()));
        text.push('|');
        for column in &self.columns {
            text.push_str(if column.align == Align::Right { "---:|" } else { "---|" });
        }
        text.push('\n');
        for row in &self.rows {
            let heading;
            let cells: &[String] = match row {
                Row::Cells(cells) => cells,
                Row::Heading(words) => {
                    heading = [format!("**{words}**")];
                    &heading
                }
            };
            let blank = self.columns.len().saturating_sub(cells.len());
            let cells = cells.iter().map(String::as_str);
            text += &markdown_row(cells.chain(std::iter::repeat_n("", blank)));
        }
        text
    }
}

fn markdown_row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    // A vertical bar inside a cell would end it.
    let cells: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A label and `columns` columns with figures of 1 to 12 digits.
    fn table(columns: usize) -> Table {
        let figures = (0..columns).map(|c| Column::right(format!("column {c}")));
        let mut table = Table::new([Column::left("")].into_iter().chain(figures));
        table.heading("a heading much wider than any of the labels");
        let cells = (0..columns).map(|c| "9".repeat(c % 12 + 1));
        table.row(["  label".to_owned()].into_iter().chain(cells));
        table
    }

    #[test]
    fn no_line_is_wider_than_asked_and_every_column_appears_once() {
        for columns in 1..12 {
            for width in [80, 43, 60, 200] {
                let text = table(columns).text(&Layout { width, ..Layout::PLAIN });
                assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
                for column in 0..columns {
                    let name = format!("column {column}");
                    let seen = text.split_whitespace().collect::<Vec<_>>().join(" ") + " ";
                    assert_eq!(seen.matches(&format!("{name} ")).count(), 1, "{name} in {text}");
                }
            }
        }
    }

    #[test]
    fn figures_end_where_their_column_ends() {
        let text = table(3).text(&Layout::PLAIN);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].len(), "  label".len() + 3 * (GAP + "column 0".len()));
        assert_eq!(lines[2].len(), lines[0].len());
    }

    #[test]
    fn bold_changes_no_visible_character() {
        let plain = table(9).text(&Layout::PLAIN);
        let bold = table(9).text(&Layout { bold: true, ..Layout::PLAIN });
        assert_ne!(bold, plain);
        assert_eq!(bold.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain);
    }

    #[test]
    fn words_begin_and_figures_end_at_one_place_after_the_gap_that_is_asked_for() {
        let mut table = Table::new([
            Column::left("name").after(1),
            Column::right("n").at_least(3),
            Column::left("what").after(3),
        ]);
        table.row(["a", "1", "one"]);
        table.row(["longer", "10"]);
        let ruled = Layout { ruled: true, ..Layout::PLAIN };
        let expected =
            [" name      n   what", &"-".repeat(19), " a         1   one", " longer   10", ""];
        assert_eq!(table.text(&ruled), expected.join("\n"));
    }

    #[test]
    fn a_table_without_names_or_rows_has_no_lines_for_them() {
        let mut nameless = Table::new([Column::left(""), Column::right("")]);
        nameless.row(["a", "1"]);
        assert_eq!(nameless.text(&Layout::PLAIN), "a  1\n");
        assert_eq!(Table::new([]).text(&Layout::PLAIN), "");
    }

    #[test]
    fn every_row_of_markdown_has_as_many_cells_and_a_bar_ends_none() {
        let mut table = Table::new([Column::left("name"), Column::right("n")]);
        table.row(["a | b", "1"]);
        table.row(["c"]);
        let expected = "| name | n |\n|---|---:|\n| a \\| b | 1 |\n| c |  |\n";
        assert_eq!(table.markdown(), expected);
    }
}
