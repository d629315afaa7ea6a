//! Rows of parts that sum to a total; each part has a letter that the legend explains.

use super::canvas::{Canvas, text_width};
use super::look::Look;
use super::scale::{Axis, Scale};
use super::{Chart, Swatch};
use crate::data::{Column, Data, Datum, Format};

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct StackRow {
    /// The label.
    pub label: String,
    /// Its parts, in the order of [`Stack::parts`].
    pub values: Vec<f64>,
}

/// Stacked rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// The title.
    pub title: String,
    /// A note on how to read it.
    pub note: String,
    /// Heading of the row labels in the data.
    pub rows_are: String,
    /// The horizontal axis, from 0.
    pub axis: Axis,
    /// The parts' names.
    pub parts: Vec<String>,
    /// The rows, from the top.
    pub rows: Vec<StackRow>,
}

/// Maximum number of parts that are drawn separately; the others are combined.
const SHOWN_MAX: usize = Look::COUNT - 1;
/// A part below this share of every row is combined with the others.
const SHARE_MIN: f64 = 0.01;
const BAR: f64 = 26.0;
const TOP: f64 = 4.0;

impl Stack {
    fn total(row: &StackRow) -> f64 {
        row.values.iter().sum()
    }

    /// The parts that are drawn separately, in order.
    fn shown(&self) -> Vec<usize> {
        let share = |part: usize| {
            let shares = self.rows.iter().map(|row| {
                row.values.get(part).copied().unwrap_or(0.0) / Self::total(row).max(1e-300)
            });
            shares.fold(0.0, f64::max)
        };
        let mut shown: Vec<usize> =
            (0..self.parts.len()).filter(|part| share(*part) >= SHARE_MIN).collect();
        shown.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        shown.truncate(SHOWN_MAX);
        shown.sort_unstable();
        shown
    }

    /// Sizes of a row's drawn parts, with the remainder last.
    fn drawn(&self, row: &StackRow, shown: &[usize]) -> Vec<f64> {
        let mut parts: Vec<f64> =
            shown.iter().map(|part| row.values.get(*part).copied().unwrap_or(0.0)).collect();
        let rest: f64 = Self::total(row) - parts.iter().sum::<f64>();
        parts.push(rest.max(0.0));
        parts
    }
}

/// The look of drawn part number `index`.
fn look(index: usize) -> Look {
    // Neighbouring parts must differ most; the plain fill is number 1.
    const ORDER: [usize; Look::COUNT] = [1, 0, 4, 2, 5, 3, 8, 7, 9, 6, 10, 11];
    Look(ORDER[index % Look::COUNT])
}

fn letter(index: usize) -> String {
    char::from(b'a' + (index % 26) as u8).to_string()
}

impl Chart for Stack {
    fn title(&self) -> &str {
        &self.title
    }

    fn note(&self) -> &str {
        &self.note
    }

    fn alternative(&self) -> String {
        let shown = self.shown();
        let mut text = format!("Stacked rows: {}.", self.axis.label);
        for row in &self.rows {
            let total = self.axis.format.show(Self::total(row));
            let parts = shown.iter().map(|part| {
                let value = row.values.get(*part).copied().unwrap_or(0.0);
                format!("{} {}", self.parts[*part], self.axis.format.show(value))
            });
            let parts = parts.collect::<Vec<_>>().join(", ");
            text += &format!(" {}: {total} in total, made up of {parts}.", row.label);
        }
        text
    }

    fn draw(&self, width: f64) -> (f64, String) {
        let shown = self.shown();
        let labels = self.rows.iter().map(|row| text_width(&row.label)).fold(0.0, f64::max);
        let over = labels > 0.3 * width;
        let left = if over { 0.0 } else { labels + 10.0 };
        let totals = self.rows.iter().map(|row| self.axis.format.show(Self::total(row)));
        let right = width - totals.map(|text| text_width(&text)).fold(0.0, f64::max) - 10.0;
        let most = self.rows.iter().map(Self::total).fold(0.0, f64::max);
        let scale: Scale =
            Axis::new("", Format::Text).from(0.0).to(most.max(1e-9)).scale([].into_iter(), 4);
        let mut canvas = Canvas::default();
        let mut y = TOP;
        for row in &self.rows {
            if over {
                canvas.text("name", 0.0, y + 12.0, &row.label);
                y += 17.0;
            } else {
                canvas.text("name end", left - 10.0, y + BAR / 2.0 + 4.0, &row.label);
            }
            let mut sum = 0.0;
            for (index, value) in self.drawn(row, &shown).into_iter().enumerate() {
                let from = left + scale.place(sum) * (right - left);
                sum += value;
                let to = left + scale.place(sum) * (right - left);
                if to - from < 0.05 {
                    continue;
                }
                canvas.area(look(index), from, y, to - from, BAR);
                if to - from >= 13.0 {
                    canvas.text("key", (from + to) / 2.0, y + BAR / 2.0 + 4.0, &letter(index));
                }
                let name = shown.get(index).map_or("others", |part| &self.parts[*part]);
                let text = format!("{}, {name}: {}", row.label, self.axis.format.show(value));
                canvas.hint(from, y, to - from, BAR, &text);
            }
            let end = left + scale.place(sum) * (right - left);
            canvas.text("", end + 6.0, y + BAR / 2.0 + 4.0, &self.axis.format.show(sum));
            y += BAR + 9.0;
        }
        canvas.line("axis", (left, TOP - 2.0), (left, y - 7.0));
        canvas.text("soft end", width, y + 10.0, &format!("{} →", self.axis.label));
        (y + 16.0, canvas.finish())
    }

    fn legend(&self) -> Vec<(Look, Swatch, String)> {
        let shown = self.shown();
        let names = shown.iter().map(|part| self.parts[*part].as_str());
        let rest = self.rows.iter().any(|row| {
            self.drawn(row, &shown).last().is_some_and(|rest| *rest > 1e-9 * Self::total(row))
        });
        let names = names.chain(rest.then_some("others"));
        let entry = |(index, name): (usize, &str)| {
            (look(index), Swatch::Area, format!("{}  {name}", letter(index)))
        };
        names.enumerate().map(entry).collect()
    }

    fn data(&self) -> Data {
        let mut columns = vec![Column::new(&self.rows_are, Format::Text)];
        columns.extend(self.parts.iter().map(|part| Column::new(part, self.axis.format)));
        let mut data = Data::new(columns);
        for row in &self.rows {
            let values = row.values.iter().map(|value| Datum::Real(*value));
            data.row([Datum::Text(row.label.clone())].into_iter().chain(values));
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Stack {
        let row =
            |label: &str, values: &[f64]| StackRow { label: label.into(), values: values.into() };
        Stack {
            axis: Axis::new("CPI", Format::Fixed(2)),
            rows_are: "configuration".into(),
            parts: ["big", "tiny", "middle", "tiny too"].map(String::from).to_vec(),
            rows: vec![
                row("x", &[0.75, 0.002, 0.24, 0.008]),
                row("y", &[0.375, 0.001, 0.12, 0.004]),
            ],
            ..Stack::default()
        }
    }

    #[test]
    fn small_parts_are_drawn_as_one_and_nothing_is_lost() {
        let chart = chart();
        let shown = chart.shown();
        assert_eq!(shown, [0, 2]);
        let drawn = chart.drawn(&chart.rows[0], &shown);
        assert!((drawn.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{drawn:?}");
        assert!((drawn[2] - 0.01).abs() < 1e-12);
        let names: Vec<_> = chart.legend().into_iter().map(|(_, _, name)| name).collect();
        assert_eq!(names, ["a  big", "b  middle", "c  others"]);
    }

    #[test]
    fn the_data_has_every_part_and_the_drawing_the_sums() {
        let csv = chart().data().csv();
        assert!(
            csv.starts_with("configuration,big,tiny,middle,tiny too\nx,0.75,0.002,0.24,0.008\n")
        );
        let (_, marks) = chart().draw(500.0);
        assert!(marks.contains(">1.00<") && marks.contains(">0.50<"), "{marks}");
    }
}
