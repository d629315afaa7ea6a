//! A readable table: statistics down, configurations across, headings between.

use documents::csv::Csv;
use documents::{Column, Row};
use results::text::Grid;

use crate::data::scrolling;
use crate::html::{Html, download};

/// A table of texts with a column of labels.
#[derive(Clone, Debug, Default)]
pub struct Table {
    caption: String,
    header: Vec<String>,
    rows: Vec<Line>,
}

#[derive(Clone, Debug)]
enum Line {
    Heading(String),
    Cells(String, Vec<Html>),
}

impl Table {
    /// A table with these columns after the label column.
    pub fn new<S: Into<String>>(
        caption: impl Into<String>,
        header: impl IntoIterator<Item = S>,
    ) -> Self {
        let header = header.into_iter().map(Into::into).collect();
        Self { caption: caption.into(), header, ..Self::default() }
    }

    /// Converts a terminal table to one for the page.
    pub fn from_grid(caption: impl Into<String>, grid: &Grid) -> Self {
        let mut table = Self::new(caption, figures(grid));
        for row in grid.table().rows() {
            match row {
                Row::Heading(text) => table.heading(text),
                Row::Cells(cells) => table.labelled(cells),
            }
        }
        table
    }

    /// Splits a terminal table at its headings into tables for the page, each with its heading as
    /// the title.
    pub fn split_grid(grid: &Grid) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        for row in grid.table().rows() {
            match (row, tables.last_mut()) {
                (Row::Heading(text), _) => tables.push(Self::new(text, figures(grid))),
                (Row::Cells(cells), Some(table)) => table.labelled(cells),
                (Row::Cells(cells), None) => {
                    let mut table = Self::new("figures", figures(grid));
                    table.labelled(cells);
                    tables.push(table);
                }
            }
        }
        tables
    }

    /// Adds a heading above the following rows.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.rows.push(Line::Heading(text.into()));
    }

    /// Adds a row.
    pub fn row<S: AsRef<str>>(
        &mut self,
        label: impl Into<String>,
        cells: impl IntoIterator<Item = S>,
    ) {
        let cells = cells.into_iter().map(|cell| Html::text(cell.as_ref())).collect();
        self.rows.push(Line::Cells(label.into(), cells));
    }

    /// Adds a row whose first cell is its label.
    fn labelled(&mut self, cells: &[String]) {
        if let Some((label, cells)) = cells.split_first() {
            self.row(label.trim(), cells);
        }
    }

    /// Adds a row of markup: links, for example.
    pub fn markup(&mut self, label: impl Into<String>, cells: impl IntoIterator<Item = Html>) {
        self.rows.push(Line::Cells(label.into(), cells.into_iter().collect()));
    }

    /// The table with its download link.
    pub fn html(&self, file: &str) -> Html {
        let mut html = self.block(None);
        let about = format!("Download CSV: {}", self.caption);
        let link = download("Download CSV", &about, file, "text/csv", &self.texts());
        html.push(Html::element("p", &[("class", "tools")], link));
        html
    }

    /// The table without a download.
    pub fn bare(&self) -> Html {
        self.block(None)
    }

    /// The table without a download, with its caption in the header of the label column.
    pub fn titled(&self) -> Html {
        self.block(Some(&self.caption))
    }

    fn block(&self, title: Option<&str>) -> Html {
        let columns = (self.header.len() + 1).to_string();
        let head = self
            .header
            .iter()
            .map(|name| Html::tag("th", &[("scope", "col"), ("class", "figure")], name));
        let mut first = match title {
            Some(title) => Html::prose("th", &[("scope", "col"), ("class", "title")], title),
            None => Html::element("td", &[], Html::default()),
        };
        first.push(Html::join(head));
        let mut body = Html::default();
        for row in &self.rows {
            body.push(match row {
                Line::Heading(text) => {
                    let cell = [("scope", "rowgroup"), ("colspan", columns.as_str())];
                    Html::element("tr", &[("class", "head")], Html::tag("th", &cell, text))
                }
                Line::Cells(label, cells) => {
                    let mut line = Html::tag("th", &[("scope", "row")], label);
                    let cells = cells.iter().cloned();
                    line.push(Html::join(cells.map(|cell| Html::element("td", &[], cell))));
                    Html::element("tr", &[], line)
                }
            });
        }
        let mut table = Html::tag("caption", &[("class", "hidden")], &self.caption);
        table.push(Html::element("thead", &[], Html::element("tr", &[], first)));
        table.push(Html::element("tbody", &[], body));
        scrolling(&self.caption, Html::element("table", &[], table))
    }

    /// The texts of the table as CSV; markup is reduced to its text.
    fn texts(&self) -> String {
        let mut csv = Csv::quoted();
        csv.line([String::new()].iter().chain(&self.header));
        for row in &self.rows {
            match row {
                Line::Heading(text) => csv.line([text]),
                Line::Cells(label, cells) => {
                    let cells = cells.iter().map(|cell| plain(cell.as_str()));
                    csv.line([label.clone()].into_iter().chain(cells));
                }
            }
        }
        csv.text()
    }
}

/// The names of a grid's figure columns.
fn figures(grid: &Grid) -> impl Iterator<Item = &str> {
    grid.table().columns().iter().skip(1).map(Column::name)
}

/// Markup without its tags.
fn plain(markup: &str) -> String {
    let mut text = String::new();
    for piece in markup.split('<') {
        text += piece.rsplit_once('>').map_or(piece, |(_, rest)| rest);
    }
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, letter)| text.replace(entity, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_heads_for_rows_and_columns_and_its_own_texts_as_csv() {
        let mut table = Table::new("what", ["one", "two"]);
        table.heading("group");
        table.row("a < b", ["1", "2 %"]);
        table.markup("link", [Html::tag("a", &[("href", "#x")], "3 & 4")]);
        let html = table.html("t.csv");
        let html = html.as_str();
        assert!(html.contains("<th scope=\"rowgroup\" colspan=\"3\">group</th>"), "{html}");
        assert!(html.contains("<td></td><th scope=\"col\" class=\"figure\">one</th>"), "{html}");
        assert!(table.titled().as_str().contains("class=\"title\">what</th>"));
        assert!(html.contains("<th scope=\"row\">a &lt; b</th><td>1</td><td>2 %</td>"), "{html}");
        assert_eq!(
            table.texts(),
            "\"\",\"one\",\"two\"\n\"group\"\n\"a < b\",\"1\",\"2 %\"\n\"link\",\"3 & 4\"\n"
        );
    }
}
