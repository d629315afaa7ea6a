//! Figures in rows and columns: exact as CSV, rounded as HTML.

use documents::csv::Csv;
use results::confidence::Estimate;
use results::statistics::Value;
use results::text::number::{self, Shown};

use crate::html::{Html, download};

/// The readable format of a figure. CSV always has it in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text.
    #[default]
    Text,
    /// A whole number with thousands separators.
    Count,
    /// This number of decimals.
    Fixed(usize),
    /// A fraction of 1 in percent, with this number of decimals.
    Percent(usize),
    /// A relative change in percent with its sign.
    Change(usize),
}

impl Format {
    /// The figure in readable form.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Text => number::fixed(value, 3),
            // Whole numbers up to 2^53 are exact as a float.
            Self::Count if value >= 0.0 => number::count(value.round() as u64),
            Self::Count => format!("-{}", number::count(-value.round() as u64)),
            Self::Fixed(_) | Self::Percent(_) | Self::Change(_) => {
                self.estimate(Estimate { value, half_width: None }).figure
            }
        }
    }

    /// The figure in readable form and its interval, with the decimals that the interval needs.
    pub fn estimate(self, estimate: Estimate) -> Shown {
        let (factor, decimals, unit) = match self {
            Self::Fixed(decimals) => (1.0, decimals, ""),
            Self::Percent(decimals) | Self::Change(decimals) => (100.0, decimals, " %"),
            Self::Text | Self::Count => {
                let figure = self.show(estimate.value);
                let interval = estimate.half_width.map(|half| format!("±{}", self.show(half)));
                return Shown { figure, interval };
            }
        };
        let shown = Shown::of(estimate.scaled(factor), decimals);
        let shown = if matches!(self, Self::Change(_)) { shown.signed() } else { shown };
        let with_unit = |text: String| format!("{text}{unit}");
        Shown { figure: with_unit(shown.figure), interval: shown.interval.map(with_unit) }
    }

    /// A position on an axis, without meaningless decimals.
    pub(crate) fn tick(self, value: f64, step: f64) -> String {
        let percent = matches!(self, Self::Percent(_) | Self::Change(_));
        let (value, step) = if percent { (100.0 * value, 100.0 * step) } else { (value, step) };
        let decimals = (0..6).find(|d| {
            let scaled = step * 10_f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-6
        });
        let decimals = decimals.unwrap_or(6) as usize;
        let text = if decimals == 0 && value >= 0.0 {
            number::count(value.round() as u64)
        } else {
            number::fixed(value, decimals)
        };
        let plus = matches!(self, Self::Change(_)) && value > step / 2.0;
        format!("{}{text}{}", if plus { "+" } else { "" }, if percent { " %" } else { "" })
    }
}

/// A column of [`Data`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The name, with the unit if it is not obvious.
    pub name: String,
    /// The readable format of its figures.
    pub format: Format,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, format: Format) -> Self {
        Self { name: name.into(), format }
    }
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Text.
    Text(String),
    /// A counter.
    Count(u64),
    /// A derived figure.
    Real(f64),
    /// A derived figure with its interval, which the next cell may show.
    Estimate(Estimate),
    /// Half of that interval.
    HalfWidth(f64),
    /// Not measured, or undefined.
    Missing,
}

impl From<Value> for Datum {
    fn from(value: Value) -> Self {
        match value {
            Value::Count(count) => Self::Count(count),
            Value::Real(estimate) => Self::Real(estimate.value),
            Value::Undefined => Self::Missing,
        }
    }
}

impl From<Option<f64>> for Datum {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, Self::Real)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl Datum {
    /// The cells of a figure and of half its interval.
    pub fn with_interval(value: f64, half_width: Option<f64>) -> [Self; 2] {
        let half = half_width.map_or(Self::Missing, Self::HalfWidth);
        [Self::Estimate(Estimate { value, half_width }), half]
    }

    /// Its form in CSV: in full, empty if missing.
    fn exact(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Real(value) | Self::HalfWidth(value) => value.to_string(),
            Self::Estimate(estimate) => estimate.value.to_string(),
            Self::Missing => String::new(),
        }
    }

    /// Its readable form.
    pub fn show(&self, format: Format) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) if matches!(format, Format::Count | Format::Text) => {
                number::count(*count)
            }
            Self::Count(count) => format.show(*count as f64),
            Self::Real(value) => format.show(*value),
            Self::Estimate(estimate) => format.estimate(*estimate).figure,
            Self::HalfWidth(half) => {
                let around_zero = Estimate { value: 0.0, half_width: Some(*half) };
                let interval = format.estimate(around_zero).interval.unwrap_or_default();
                interval.trim_start_matches('±').to_owned()
            }
            Self::Missing => number::UNDEFINED.into(),
        }
    }
}

/// Rows and columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has a cell per column.
    pub rows: Vec<Vec<Datum>>,
}

impl Data {
    /// Columns, without rows yet.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Datum>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// CSV (RFC 4180, lines ended by a newline), header first.
    pub fn csv(&self) -> String {
        let mut csv = Csv::new(self.columns.iter().map(|column| &column.name));
        for row in &self.rows {
            csv.line(row.iter().map(Datum::exact));
        }
        csv.text()
    }

    /// A readable table.
    pub fn html(&self, caption: &str) -> Html {
        let head = |column: &Column| {
            let class = if column.format == Format::Text { "words" } else { "figure" };
            Html::tag("th", &[("scope", "col"), ("class", class)], &column.name)
        };
        let head = Html::element("tr", &[], Html::join(self.columns.iter().map(head)));
        let mut body = Html::default();
        for row in &self.rows {
            let cells = row.iter().zip(&self.columns).enumerate().map(|(index, (cell, column))| {
                let text = cell.show(column.format);
                match (index, column.format) {
                    (0, _) => Html::tag("th", &[("scope", "row")], &text),
                    (_, Format::Text) => Html::tag("td", &[("class", "words")], &text),
                    _ => Html::tag("td", &[], &text),
                }
            });
            body.push(Html::element("tr", &[], Html::join(cells)));
        }
        let mut table = Html::tag("caption", &[("class", "hidden")], caption);
        table.push(Html::element("thead", &[], head));
        table.push(Html::element("tbody", &[], body));
        scrolling(caption, Html::element("table", &[], table))
    }

    /// A link that downloads the data as CSV.
    pub fn download(&self, about: &str, file: &str) -> Html {
        let about = format!("Download CSV: {about}");
        download("Download CSV", &about, file, "text/csv", &self.csv())
    }
}

/// A region that scrolls sideways on its own, also by keyboard, so that the page never does.
pub fn scrolling(label: &str, body: Html) -> Html {
    let attributes =
        [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", label)];
    Html::element("div", &attributes, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_has_figures_in_full_and_people_get_them_rounded() {
        let column = |name, format| Column::new(name, format);
        let mut data = Data::new([
            column("configuration, quoted", Format::Text),
            column("calls", Format::Count),
            column("speedup", Format::Change(1)),
        ]);
        data.row(["a \"b\"".into(), Datum::Count(1_234_567), Datum::Real(1.0 / 3.0)]);
        data.row(["c".into(), Datum::Missing, Datum::Real(-0.0001)]);
        let expected = "\"configuration, quoted\",calls,speedup\n\
                        \"a \"\"b\"\"\",1234567,0.3333333333333333\nc,,-0.0001\n";
        assert_eq!(data.csv(), expected);
        let html = data.html("x");
        for cell in [">1,234,567<", ">+33.3 %<", ">-<", ">0.0 %<"] {
            assert!(html.as_str().contains(cell), "{cell} in {}", html.as_str());
        }
    }

    #[test]
    fn a_figure_and_its_interval_have_the_same_decimals_in_cells_of_their_own() {
        let estimate = Estimate { value: 0.006_231, half_width: Some(0.000_12) };
        let format = Format::Change(1);
        assert_eq!(Datum::Estimate(estimate).show(format), "+0.62 %");
        assert_eq!(Datum::HalfWidth(0.000_12).show(format), "0.01 %");
        assert_eq!(Datum::Estimate(estimate).exact(), "0.006231");
        assert_eq!(Datum::HalfWidth(0.000_12).exact(), "0.00012");
    }

    #[test]
    fn ticks_show_as_many_decimals_as_their_step_needs() {
        let shown = [
            (Format::Count, 1_000.0, 500.0, "1,000"),
            (Format::Fixed(3), 0.25, 0.05, "0.25"),
            (Format::Fixed(3), 2.0, 1.0, "2"),
            (Format::Percent(0), 0.5, 0.25, "50 %"),
            (Format::Percent(0), 0.005, 0.005, "0.5 %"),
            (Format::Change(0), 0.1, 0.05, "+10 %"),
            (Format::Change(0), 0.0, 0.05, "0 %"),
            (Format::Change(0), -0.1, 0.05, "-10 %"),
        ];
        for (format, value, step, text) in shown {
            assert_eq!(format.tick(value, step), text);
        }
    }
}
