//! An aligned table: a column of labels and right-aligned columns of figures.

use super::Style;

/// The gap between columns.
const GAP: usize = 2;

/// A table under construction.
pub struct Grid {
    header: Vec<String>,
    rows: Vec<Row>,
}

/// A row of a table.
pub enum Row {
    /// A heading over the rows that follow.
    Heading(String),
    /// A label, indented under a heading, and its figures.
    Cells(String, Vec<String>),
}

impl Grid {
    /// A table with these columns besides that of the labels.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { header: header.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// The columns besides that of the labels.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Adds a heading over the rows that follow.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.rows.push(Row::Heading(text.into()));
    }

    /// Adds a row. Missing cells stay blank.
    pub fn row(&mut self, label: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        self.rows.push(Row::Cells(label.into(), cells.into_iter().collect()));
    }

    /// The table, no line wider than the style's width as long as one column of figures fits.
    /// Columns that do not fit beside the others follow in a block of their own.
    pub fn render(&self, style: &Style) -> String {
        let label_width = self.rows.iter().map(Row::label_width).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.header.len()).map(|c| self.column_width(c)).collect();
        let mut text = String::new();
        let mut first = 0;
        loop {
            let mut last = first;
            let mut used = label_width;
            while last < widths.len() && (last == first || used + GAP + widths[last] <= style.width)
            {
                used += GAP + widths[last];
                last += 1;
            }
            if first > 0 {
                text.push('\n');
            }
            self.block(&mut text, label_width, &widths, first..last, style);
            first = last;
            if first >= widths.len() {
                return text;
            }
        }
    }

    fn block(
        &self,
        text: &mut String,
        label_width: usize,
        widths: &[usize],
        columns: std::ops::Range<usize>,
        style: &Style,
    ) {
        let line = |label: &str, cells: &[String]| {
            let mut line = pad_right(label, label_width);
            for column in columns.clone() {
                let cell = cells.get(column).map_or("", String::as_str);
                line.push_str(&pad_left(cell, GAP + widths[column]));
            }
            line.trim_end().to_owned()
        };
        if self.header.iter().any(|name| !name.is_empty()) {
            text.push_str(&style.bold(&line("", &self.header)));
            text.push('\n');
        }
        for row in &self.rows {
            match row {
                Row::Heading(heading) => text.push_str(&style.bold(heading)),
                Row::Cells(label, cells) => text.push_str(&line(label, cells)),
            }
            text.push('\n');
        }
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| match row {
            Row::Heading(_) => None,
            Row::Cells(_, cells) => cells.get(column),
        });
        cells.chain([&self.header[column]]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl Row {
    fn label_width(&self) -> usize {
        match self {
            Self::Heading(_) => 0,
            Self::Cells(label, _) => label.chars().count(),
        }
    }
}

/// `text` with blanks after it up to `width` characters.
pub fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// `text` with blanks before it up to `width` characters.
pub fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// `text` cut to `width` characters, the last of them a mark that something is missing.
pub fn shorten(text: &str, width: usize, style: &Style) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mark = if style.unicode { "…" } else { "~" };
    text.chars().take(width.saturating_sub(1)).chain(mark.chars()).collect()
}

/// `text` in lines of at most `width` characters, broken at blanks; later lines begin with
/// `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        let blank = usize::from(!line.trim().is_empty());
        if blank > 0 && line.chars().count() + blank + word.chars().count() > width {
            lines.push(format!("{indent}{word}"));
        } else {
            line.push_str(&" ".repeat(blank));
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: usize) -> Grid {
        let mut grid = Grid::new((0..columns).map(|c| format!("column {c}")));
        grid.heading("a heading much wider than any of the labels");
        grid.row("  label", (0..columns).map(|c| "9".repeat(c % 12 + 1)));
        grid
    }

    #[test]
    fn no_line_is_wider_than_asked_and_every_column_appears_once() {
        for columns in 1..12 {
            for width in [80, 43, 60, 200] {
                let text = table(columns).render(&Style { width, ..Style::PLAIN });
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
        let text = table(3).render(&Style::PLAIN);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].len(), "  label".len() + 3 * (GAP + "column 0".len()));
        assert_eq!(lines[2].len(), lines[0].len());
    }

    #[test]
    fn colour_changes_no_visible_character() {
        let plain = table(9).render(&Style::PLAIN);
        let coloured = table(9).render(&Style { colour: true, ..Style::PLAIN });
        assert_ne!(coloured, plain);
        assert_eq!(coloured.replace("\x1b[1m", "").replace("\x1b[0m", ""), plain);
    }

    #[test]
    fn wrapping_keeps_every_word_within_the_width() {
        let text = "one two three four five six seven";
        let wrapped = wrap(text, 12, "  ");
        assert!(wrapped.lines().all(|line| line.chars().count() <= 12), "{wrapped}");
        assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>().join(" "), text);
        assert_eq!(wrap("unbreakable-and-long a", 5, ""), "unbreakable-and-long\na");
    }

    #[test]
    fn shortened_text_says_that_it_is() {
        assert_eq!(shorten("abcdef", 6, &Style::PLAIN), "abcdef");
        assert_eq!(shorten("abcdef", 4, &Style::PLAIN), "abc…");
        assert_eq!(shorten("abcdef", 4, &Style { unicode: false, ..Style::PLAIN }), "abc~");
    }
}
