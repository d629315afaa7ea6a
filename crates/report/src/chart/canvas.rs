//! Marks on a drawing. Coordinates are CSS pixels, the origin at the top left.

use std::fmt::Write as _;

use super::look::Look;
use crate::html::escape;

/// Marks, in the order in which they are drawn.
#[derive(Default)]
pub struct Canvas(String);

/// A coordinate, rounded to digits that a screen can show.
fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

impl Canvas {
    /// The marks.
    pub fn finish(self) -> String {
        self.0
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.0,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            at(from.0),
            at(from.1),
            at(to.0),
            at(to.1)
        );
    }

    /// Text with its baseline at a point.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y) = (at(x), at(y));
        let text = escape(text);
        let _ = write!(self.0, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>");
    }

    /// A series' line.
    pub fn curve(&mut self, look: Look, points: &[(f64, f64)]) {
        let _ = write!(
            self.0,
            "<path class=\"curve {}\" stroke-dasharray=\"{}\" d=\"{}\"/>",
            look.class(),
            if look.dashes().is_empty() { "none" } else { look.dashes() },
            path(points)
        );
    }

    /// The area under a series' line.
    pub fn shade(&mut self, look: Look, points: &[(f64, f64)], ground: f64) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let _ = write!(
            self.0,
            "<path class=\"shade {}\" d=\"{}L{} {}L{} {}Z\"/>",
            look.class(),
            path(points),
            at(last.0),
            at(ground),
            at(first.0),
            at(ground)
        );
    }

    /// A filled rectangle with the look's pattern.
    pub fn area(&mut self, look: Look, x: f64, y: f64, width: f64, height: f64) {
        let _ = write!(
            self.0,
            "<rect class=\"area {}\" fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            look.class(),
            look.fill(),
            at(x),
            at(y),
            at(width.max(0.0)),
            at(height)
        );
    }

    /// Text that appears when the pointer rests on a rectangle.
    pub fn hint(&mut self, x: f64, y: f64, width: f64, height: f64, text: &str) {
        let _ = write!(
            self.0,
            "<rect class=\"hit\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\">\
             <title>{}</title></rect>",
            at(x),
            at(y),
            at(width.max(0.0)),
            at(height),
            escape(text)
        );
    }

    /// A confidence interval, drawn along x or y.
    pub fn whisker(&mut self, from: (f64, f64), to: (f64, f64)) {
        let flat = (from.1 - to.1).abs() < 0.05;
        let (dx, dy) = if flat { (0.0, 3.5) } else { (3.5, 0.0) };
        self.line("whisker", from, to);
        for end in [from, to] {
            self.line("whisker", (end.0 - dx, end.1 - dy), (end.0 + dx, end.1 + dy));
        }
    }

    /// A series' marker: its shape identifies the series, like its colour.
    pub fn marker(&mut self, look: Look, x: f64, y: f64) {
        let class = look.class();
        let polygon = |points: &[(f64, f64)]| {
            let moved: Vec<_> = points.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
            format!("<path class=\"mark {class}\" d=\"{}Z\"/>", path(&moved))
        };
        self.0 += &match look.0 % 5 {
            0 => polygon(&[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)]),
            1 => format!(
                "<circle class=\"mark solid {class}\" cx=\"{}\" cy=\"{}\" r=\"3.5\"/>",
                at(x),
                at(y)
            ),
            2 => polygon(&[(0.0, -4.5), (4.2, 3.2), (-4.2, 3.2)]),
            3 => polygon(&[(0.0, -4.7), (4.7, 0.0), (0.0, 4.7), (-4.7, 0.0)]),
            _ => format!(
                "<circle class=\"mark {class}\" cx=\"{}\" cy=\"{}\" r=\"3.7\"/>",
                at(x),
                at(y)
            ),
        };
    }
}

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let _ = write!(text, "{}{} {}", if index == 0 { 'M' } else { 'L' }, at(*x), at(*y));
    }
    text
}

/// The approximate width of a text in the drawings' font, for reserving space.
pub fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '\'' | ' ' => 3.6,
        'm' | 'w' | 'M' | 'W' | '%' | '—' => 10.0,
        c if c.is_uppercase() => 8.0,
        _ => 6.7,
    };
    text.chars().map(width).sum()
}
