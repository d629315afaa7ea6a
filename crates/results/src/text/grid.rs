//! A terminal table: a column of labels and columns of figures.

use documents::{Column, Table};

use super::Style;

pub use documents::text::{pad_left, wrap};

/// A table under construction.
pub struct Grid(Table);

impl Grid {
    /// A table with these columns after the label column.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let figures = header.into_iter().map(Column::right);
        Self(Table::new([Column::left("")].into_iter().chain(figures)))
    }

    /// The table; its first column holds the labels.
    pub fn table(&self) -> &Table {
        &self.0
    }

    /// Adds a heading above the following rows.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.0.heading(text);
    }

    /// Adds a row; under a heading its label is indented. Missing cells stay blank.
    pub fn row(&mut self, label: impl Into<String>, cells: impl IntoIterator<Item = String>) {
        self.0.row([label.into()].into_iter().chain(cells));
    }

    /// The table. No line exceeds the style's width if at least one column of figures fits.
    pub fn render(&self, style: &Style) -> String {
        self.0.text(&style.layout())
    }
}

/// `text` cut to `width` characters, the last of which indicates the omission.
pub fn shorten(text: &str, width: usize, style: &Style) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mark = if style.unicode { "…" } else { "~" };
    text.chars().take(width.saturating_sub(1)).chain(mark.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_text_says_that_it_is() {
        assert_eq!(shorten("abcdef", 6, &Style::PLAIN), "abcdef");
        assert_eq!(shorten("abcdef", 4, &Style::PLAIN), "abc…");
        assert_eq!(shorten("abcdef", 4, &Style { unicode: false, ..Style::PLAIN }), "abc~");
    }
}
