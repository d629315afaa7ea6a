//! Line and step charts with two axes.

use super::canvas::{Canvas, text_width};
use super::look::Look;
use super::scale::{Axis, Scale};
use super::{Chart, Swatch};
use crate::data::{Column, Data, Datum, Format};

/// One point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Position on the x axis.
    pub x: f64,
    /// Position on the y axis.
    pub y: f64,
    /// Half the width of its confidence interval.
    pub half: Option<f64>,
}

/// How the points of a series are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Straight lines, with markers if there are few points.
    Line,
    /// The value of a point holds until the next point.
    Step,
    /// Like [`Shape::Step`], with the area below shaded.
    Shaded,
}

/// A named series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// Its look.
    pub look: Look,
    /// How the points are connected.
    pub shape: Shape,
    /// Its points, in order of increasing x.
    pub points: Vec<Point>,
}

impl Series {
    /// A line through points.
    pub fn line(
        name: impl Into<String>,
        look: Look,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| Point { x, y, half: None }).collect();
        Self { name: name.into(), look, shape: Shape::Line, points }
    }

    /// Whether its points have markers, which is the case if there are few.
    fn is_marked(&self) -> bool {
        self.shape == Shape::Line && self.points.len() <= MARKED_POINTS_MAX
    }

    /// The same points, connected differently.
    pub fn shaped(self, shape: Shape) -> Self {
        Self { shape, ..self }
    }
}

/// A reference value, drawn across the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// What it is.
    pub label: String,
    /// Its position.
    pub at: f64,
    /// Whether it is a value on the y axis; otherwise on the x axis.
    pub across: bool,
}

/// A line chart with two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// The title.
    pub title: String,
    /// A note on how to read it.
    pub note: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines; the first is drawn last.
    pub series: Vec<Series>,
    /// Reference values.
    pub guides: Vec<Guide>,
}

/// Maximum number of points that get markers.
const MARKED_POINTS_MAX: usize = 24;
/// Height of the plot relative to its width.
const ASPECT: f64 = 0.5;
/// Space above the plot, for the y axis' label.
const TOP: f64 = 26.0;
/// Space below it, for ticks and the x axis' label.
const BOTTOM: f64 = 40.0;

/// Maps figures to positions on the drawing.
struct Frame {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    bottom: f64,
    ticks: (Vec<f64>, Vec<f64>),
}

impl Frame {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = self.left + self.x.place(x) * (self.right - self.left);
        (across, self.bottom - self.y.place(y) * (self.bottom - TOP))
    }
}

impl LineChart {
    fn frame(&self, width: f64) -> Frame {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let guides = |across| self.guides.iter().filter(move |g| g.across == across).map(|g| g.at);
        let wanted = if width < 450.0 { (4, 5) } else { (8, 5) };
        let x = self.x.scale(points().map(|p| p.x), wanted.0);
        let ends = |p: &Point| {
            let half = p.half.unwrap_or(0.0);
            [p.y - half, p.y + half]
        };
        let y = self.y.scale(points().flat_map(ends).chain(guides(true)), wanted.1);
        let ticks = (x.ticks(wanted.0), y.ticks(wanted.1));
        let step = spacing(&ticks.1);
        let labels = ticks.1.iter().map(|tick| text_width(&self.y.format.tick(*tick, step)));
        let left = 10.0 + labels.fold(0.0, f64::max);
        let bottom = TOP + (width * ASPECT).clamp(200.0, 300.0);
        Frame { x, y, left, right: width - 14.0, bottom, ticks }
    }

    fn axes(&self, canvas: &mut Canvas, frame: &Frame) {
        let (left, right, bottom) = (frame.left, frame.right, frame.bottom);
        canvas.text("soft", 0.0, 12.0, &self.y.label);
        let step = spacing(&frame.ticks.1);
        for tick in &frame.ticks.1 {
            let (_, y) = frame.at(frame.x.low, *tick);
            canvas.line("grid", (left, y), (right, y));
            canvas.text("soft end", left - 6.0, y + 4.0, &self.y.format.tick(*tick, step));
        }
        let step = if self.x.log { 1.0 } else { spacing(&frame.ticks.0) };
        let mut free = f64::MIN;
        for tick in &frame.ticks.0 {
            let (x, _) = frame.at(*tick, frame.y.low);
            canvas.line("axis", (x, bottom), (x, bottom + 4.0));
            let text = self.x.format.tick(*tick, step.min(*tick));
            let half = text_width(&text) / 2.0;
            if x - half > free {
                canvas.text("soft mid", x, bottom + 18.0, &text);
                free = x + half + 4.0;
            }
        }
        let ground = if frame.y.low < 0.0 && frame.y.high > 0.0 { 0.0 } else { frame.y.low };
        let (_, y) = frame.at(frame.x.low, ground);
        canvas.line("axis", (left, y), (right, y));
        canvas.text("soft end", right, bottom + 36.0, &format!("{} →", self.x.label));
    }

    fn guides(&self, canvas: &mut Canvas, frame: &Frame) {
        let mut free_y: Vec<f64> = Vec::new();
        // Labels of lines across stand side by side, because the lines may be close.
        let labels = self.guides.iter().filter(|guide| guide.across).count();
        let share = (frame.right - frame.left) / labels.max(1) as f64;
        let mut middle = frame.left - share / 2.0;
        for guide in &self.guides {
            if guide.across {
                middle += share;
                let (_, y) = frame.at(frame.x.low, guide.at);
                canvas.line("guide", (frame.left, y), (frame.right, y));
                let above = if y - TOP < 14.0 { 14.0 } else { -5.0 };
                canvas.text("halo mid", middle, y + above, &guide.label);
                continue;
            }
            let (x, _) = frame.at(guide.at, frame.y.low);
            canvas.line("guide", (x, TOP), (x, frame.bottom));
            let width = text_width(&guide.label);
            let mut y = frame.bottom - 8.0;
            while free_y.iter().any(|used| (used - y).abs() < 14.0) {
                y -= 15.0;
            }
            free_y.push(y);
            let right = x + 5.0 + width < frame.right;
            let (class, x) = if right { ("halo", x + 5.0) } else { ("halo end", x - 5.0) };
            canvas.text(class, x, y, &guide.label);
        }
    }

    fn lines(&self, canvas: &mut Canvas, frame: &Frame) {
        for series in self.series.iter().rev() {
            let points = drawn(series, frame);
            if series.shape == Shape::Shaded {
                canvas.shade(series.look, &points, frame.bottom);
            }
            canvas.curve(series.look, &points);
            if !series.is_marked() {
                continue;
            }
            for point in &series.points {
                let (x, y) = frame.at(point.x, point.y);
                if let Some(half) = point.half {
                    let ends =
                        (frame.at(point.x, point.y - half), frame.at(point.x, point.y + half));
                    canvas.whisker(ends.0, ends.1);
                }
                canvas.marker(series.look, x, y);
                let text = format!(
                    "{}: {} {}, {} {}",
                    series.name,
                    self.x.label,
                    self.x.format.show(point.x),
                    self.y.label,
                    self.y.format.show(point.y)
                );
                canvas.hint(x - 8.0, y - 8.0, 16.0, 16.0, &text);
            }
        }
    }

    /// Whether all series have the same positions, so that each can have a column.
    fn aligned(&self) -> bool {
        let positions = |series: &Series| series.points.iter().map(|p| p.x).collect::<Vec<_>>();
        self.series.windows(2).all(|pair| positions(&pair[0]) == positions(&pair[1]))
    }

    fn has_intervals(&self) -> bool {
        self.series.iter().flat_map(|series| &series.points).any(|point| point.half.is_some())
    }
}

/// The distance between ticks.
fn spacing(ticks: &[f64]) -> f64 {
    ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MAX, f64::min).min(1e9)
}

/// The points of a series on the drawing, with the corners of steps.
fn drawn(series: &Series, frame: &Frame) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for point in &series.points {
        let (x, y) = frame.at(point.x, point.y);
        if let (true, Some(last)) = (series.shape != Shape::Line, points.last()) {
            points.push((x, last.1));
        }
        points.push((x, y));
    }
    points
}

impl Chart for LineChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn note(&self) -> &str {
        &self.note
    }

    fn alternative(&self) -> String {
        let mut text = format!("{} against {}.", self.y.label, self.x.label);
        for series in &self.series {
            let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else {
                text += &format!(" {}: nothing measured.", series.name);
                continue;
            };
            let end = |point: &Point| {
                let (x, y) = (self.x.format.show(point.x), self.y.format.show(point.y));
                format!("{y} at {x}")
            };
            text += &format!(" {}: from {} to {}.", series.name, end(first), end(last));
        }
        for guide in &self.guides {
            let format = if guide.across { self.y.format } else { self.x.format };
            text += &format!(" {} at {}.", guide.label, format.show(guide.at));
        }
        text
    }

    fn draw(&self, width: f64) -> (f64, String) {
        let frame = self.frame(width);
        let mut canvas = Canvas::default();
        self.axes(&mut canvas, &frame);
        self.lines(&mut canvas, &frame);
        self.guides(&mut canvas, &frame);
        (frame.bottom + BOTTOM, canvas.finish())
    }

    fn legend(&self) -> Vec<(Look, Swatch, String)> {
        let swatch = |s: &Series| if s.is_marked() { Swatch::Marked } else { Swatch::Line };
        self.series.iter().map(|s| (s.look, swatch(s), s.name.clone())).collect()
    }

    /// One column per series if all have the same positions; otherwise one row per point.
    fn data(&self) -> Data {
        let x = Column::new(&self.x.label, self.x.format);
        let ci = |name: &str| Column::new(format!("{name} ±"), self.y.format);
        let intervals = self.has_intervals();
        let cells = |point: &Point| {
            let cells = Datum::with_interval(point.y, point.half);
            cells.into_iter().take(1 + usize::from(intervals))
        };
        if self.aligned() {
            let mut columns = vec![x];
            for series in &self.series {
                columns.push(Column::new(&series.name, self.y.format));
                columns.extend(intervals.then(|| ci(&series.name)));
            }
            let mut data = Data::new(columns);
            let count = self.series.first().map_or(0, |series| series.points.len());
            for index in 0..count {
                let mut row = vec![Datum::Real(self.series[0].points[index].x)];
                for series in &self.series {
                    row.extend(cells(&series.points[index]));
                }
                data.row(row);
            }
            return data;
        }
        let mut columns = vec![Column::new("series", Format::Text), x];
        columns.push(Column::new(&self.y.label, self.y.format));
        columns.extend(intervals.then(|| ci(&self.y.label)));
        let mut data = Data::new(columns);
        for series in &self.series {
            for point in &series.points {
                let name = Datum::Text(series.name.clone());
                let mut row = vec![name, Datum::Real(point.x)];
                row.extend(cells(point));
                data.row(row);
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> LineChart {
        LineChart {
            title: "t".into(),
            x: Axis::new("entries", Format::Count),
            y: Axis::new("speedup", Format::Change(0)).from(0.0).to(1.0),
            series: vec![
                Series::line("a", Look::MAIN, [(0.0, 0.0), (10.0, 1.0)]),
                Series::line("b", Look::LIMIT, [(0.0, 0.5), (10.0, 0.5)]),
            ],
            ..LineChart::default()
        }
    }

    #[test]
    fn figures_lie_where_the_axes_have_them() {
        let chart = chart();
        let frame = chart.frame(500.0);
        let a = drawn(&chart.series[0], &frame);
        assert_eq!(a, [(frame.left, frame.bottom), (frame.right, TOP)]);
        let middle = (TOP + frame.bottom) / 2.0;
        assert!(drawn(&chart.series[1], &frame).iter().all(|(_, y)| (y - middle).abs() < 1e-9));
    }

    #[test]
    fn a_step_holds_its_figure_until_the_next_point() {
        let mut chart = chart();
        chart.series[0].shape = Shape::Step;
        let frame = chart.frame(500.0);
        let corner = (frame.right, frame.bottom);
        let expected = [(frame.left, frame.bottom), corner, (frame.right, TOP)];
        assert_eq!(drawn(&chart.series[0], &frame), expected);
    }

    #[test]
    fn data_has_a_column_for_each_series_or_a_row_for_each_point() {
        let mut chart = chart();
        assert_eq!(chart.data().csv(), "entries,a,b\n0,0,0.5\n10,1,0.5\n");
        chart.series[1].points.pop();
        chart.series[1].points[0].half = Some(0.25);
        let expected = "series,entries,speedup,speedup ±\na,0,0,\na,10,1,\nb,0,0.5,0.25\n";
        assert_eq!(chart.data().csv(), expected);
    }
}
