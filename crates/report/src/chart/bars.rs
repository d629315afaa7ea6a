//! Horizontal bars in groups, each with its figure beside it.

use results::confidence::Estimate;
use results::text::number::Shown;

use super::canvas::{Canvas, text_width};
use super::look::Look;
use super::scale::Axis;
use super::{Chart, Swatch};
use crate::data::{Column, Data, Datum, Format};

/// One bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// The figure.
    pub value: f64,
    /// Half the width of its confidence interval.
    pub half: Option<f64>,
}

/// Bars under one label: one per series, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The label.
    pub label: String,
    /// The figures; `None` if there is none.
    pub bars: Vec<Option<Bar>>,
}

/// Groups of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// A note on how to read it.
    pub note: String,
    /// Heading of the label column in the data.
    pub groups_are: String,
    /// The horizontal axis. It begins at 0, or at a negative figure.
    pub axis: Axis,
    /// Names and looks of the bars in each group.
    pub series: Vec<(String, Look)>,
    /// The groups, from the top.
    pub groups: Vec<Group>,
}

const BAR: f64 = 15.0;
const BETWEEN_BARS: f64 = 3.0;
const BETWEEN_GROUPS: f64 = 12.0;
const TOP: f64 = 4.0;

impl Bars {
    fn figures(&self) -> impl Iterator<Item = &Bar> {
        self.groups.iter().flat_map(|group| group.bars.iter().flatten())
    }

    /// A figure with its interval.
    fn label(&self, bar: &Bar) -> String {
        // One unit for both: `+0.62 ±0.01 %`.
        let estimate = Estimate { value: bar.value, half_width: bar.half };
        let Shown { figure, interval } = self.axis.format.estimate(estimate);
        match interval {
            Some(interval) => format!("{} {interval}", figure.trim_end_matches(" %")),
            None => figure,
        }
    }
}

impl Chart for Bars {
    fn title(&self) -> &str {
        &self.title
    }

    fn note(&self) -> &str {
        &self.note
    }

    fn alternative(&self) -> String {
        let mut text = format!("Bars: {}.", self.axis.label);
        for group in &self.groups {
            let bars = group.bars.iter().zip(&self.series);
            let figures = bars.filter_map(|(bar, (name, _))| {
                bar.as_ref().map(|bar| {
                    let name = if self.series.len() > 1 { name.as_str() } else { "" };
                    format!("{name} {}", self.label(bar)).trim().to_owned()
                })
            });
            text += &format!(" {}: {}.", group.label, figures.collect::<Vec<_>>().join(", "));
        }
        text
    }

    fn draw(&self, width: f64) -> (f64, String) {
        let widest = |texts: &mut dyn Iterator<Item = String>| {
            texts.map(|text| text_width(&text)).fold(0.0, f64::max)
        };
        let labels = widest(&mut self.groups.iter().map(|group| group.label.clone()));
        // A label that would take too much width on a phone is placed above its bars.
        let over = labels > 0.32 * width;
        let left = if over { 0.0 } else { labels + 10.0 };
        let figures = widest(&mut self.figures().map(|bar| self.label(bar))) + 12.0;
        let right = (width - figures).max(left + 60.0);
        let ends = self.figures().flat_map(|bar| {
            let half = bar.half.unwrap_or(0.0);
            [bar.value, bar.value - half, bar.value + half]
        });
        let axis = Axis { high: None, ..self.axis.clone() };
        let mut scale = axis.scale(ends.chain([0.0]), 4);
        // Every bar has its figure beside it, so the longest bar may take the full width.
        let most = self.figures().map(|bar| bar.value + bar.half.unwrap_or(0.0));
        scale.high = most.fold(0.0, f64::max).max(scale.low + 1e-9);
        if let Some(high) = self.axis.high {
            scale.high = high;
        }
        let place = |value: f64| left + scale.place(value) * (right - left);
        let mut canvas = Canvas::default();
        let mut y = TOP;
        for group in &self.groups {
            if over {
                canvas.text("name", 0.0, y + 12.0, &group.label);
                y += 17.0;
            } else {
                let middle = group.bars.len() as f64 * (BAR + BETWEEN_BARS) / 2.0;
                canvas.text("name end", left - 10.0, y + middle + 3.0, &group.label);
            }
            for (bar, (name, look)) in group.bars.iter().zip(&self.series) {
                if let Some(bar) = bar {
                    let (from, to) = (place(bar.value.min(0.0)), place(bar.value.max(0.0)));
                    canvas.area(*look, from, y, (to - from).max(1.0), BAR);
                    let mut end = to;
                    if let Some(half) = bar.half {
                        let middle = y + BAR / 2.0;
                        end = place(bar.value + half).max(to);
                        canvas.whisker((place(bar.value - half), middle), (end, middle));
                    }
                    let text = self.label(bar);
                    canvas.text("halo", end + 6.0, y + BAR - 3.0, &text);
                    canvas.hint(left, y, right - left, BAR, &format!("{name}: {text}"));
                }
                y += BAR + BETWEEN_BARS;
            }
            y += BETWEEN_GROUPS;
        }
        canvas.line("axis", (place(0.0), TOP - 2.0), (place(0.0), y - BETWEEN_GROUPS + 2.0));
        canvas.text("soft end", width, y + 8.0, &format!("{} →", self.axis.label));
        (y + 14.0, canvas.finish())
    }

    fn legend(&self) -> Vec<(Look, Swatch, String)> {
        self.series.iter().map(|(name, look)| (*look, Swatch::Area, name.clone())).collect()
    }

    fn data(&self) -> Data {
        let intervals = self.figures().any(|bar| bar.half.is_some());
        let mut columns = vec![Column::new(&self.groups_are, Format::Text)];
        for (name, _) in &self.series {
            let name = if self.series.len() > 1 { name } else { &self.axis.label };
            columns.push(Column::new(name, self.axis.format));
            if intervals {
                columns.push(Column::new(format!("{name} ±"), self.axis.format));
            }
        }
        let mut data = Data::new(columns);
        for group in &self.groups {
            let mut row = vec![Datum::Text(group.label.clone())];
            for bar in &group.bars {
                let cells = bar.map_or([Datum::Missing, Datum::Missing], |bar| {
                    Datum::with_interval(bar.value, bar.half)
                });
                row.extend(cells.into_iter().take(1 + usize::from(intervals)));
            }
            data.row(row);
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64]) -> Bars {
        let group = |value: &f64| Group {
            label: "g".into(),
            bars: vec![Some(Bar { value: *value, half: None })],
        };
        Bars {
            axis: Axis::new("x", Format::Fixed(1)),
            groups_are: "group".into(),
            series: vec![("s".into(), Look::MAIN)],
            groups: values.iter().map(group).collect(),
            ..Bars::default()
        }
    }

    /// Widths of the bars in a drawing.
    fn widths(marks: &str) -> Vec<f64> {
        let areas = marks.split("<rect class=\"area").skip(1);
        let width = |area: &str| area.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        areas.filter_map(width).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_figures_say() {
        let widths = widths(&chart(&[10.0, 5.0, 2.5, 0.0]).draw(400.0).1);
        assert!((widths[1] / widths[0] - 0.5).abs() < 0.01, "{widths:?}");
        assert!((widths[2] / widths[0] - 0.25).abs() < 0.01, "{widths:?}");
        assert!(widths[3] <= 1.0);
    }

    #[test]
    fn negative_figures_go_to_the_other_side_of_zero() {
        let marks = chart(&[4.0, -4.0]).draw(400.0).1;
        let widths = widths(&marks);
        assert!((widths[0] - widths[1]).abs() < 0.11, "{widths:?}");
        assert!(marks.contains(">-4.0<"), "{marks}");
    }

    #[test]
    fn data_holds_every_figure_with_its_interval() {
        let mut chart = chart(&[1.5, 2.0]);
        chart.groups[0].bars[0] = Some(Bar { value: 1.5, half: Some(0.25) });
        assert_eq!(chart.data().csv(), "group,x,x ±\ng,1.5,0.25\ng,2,\n");
    }
}
