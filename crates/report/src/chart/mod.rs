//! Charts as inline SVG.
//!
//! ```text
//! figures ─> LineChart, Bars, Stack ─> Canvas (axes from Scale) ─> SVG, wide and narrow
//!                   └──────────────> Data ─> table in <details>, CSV in a link
//! ```
//!
//! Each chart is drawn twice, for a wide and a narrow column, so that text keeps its size on a
//! phone; the style sheet shows the one that fits. A [`Chart`] is a drawing on its own; [`figure`]
//! adds a title, a legend, its text alternative and its data.

mod bars;
mod canvas;
mod line;
mod look;
mod scale;
mod stack;
mod steps;

pub use bars::{Bar, Bars, Group};
pub use line::{Guide, LineChart, Point, Series, Shape};
pub use look::Look;
pub use scale::{Axis, ticks};
pub use stack::{Stack, StackRow};
pub use steps::{cumulative, distribution};

use crate::data::Data;
use crate::html::Html;

/// Width of the drawing for a wide column, in CSS pixels.
pub const WIDE: f64 = 560.0;
/// Width for a phone.
pub const NARROW: f64 = 340.0;

/// How the legend represents a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swatch {
    /// A line with its dashes and marker.
    Marked,
    /// A line with its dashes.
    Line,
    /// An area with its pattern.
    Area,
}

/// A drawing of figures.
pub trait Chart {
    /// Its title, in a few words.
    fn title(&self) -> &str;
    /// A note on how to read it; may be empty.
    fn note(&self) -> &str;
    /// A description for readers who cannot see it: every series with its extremes.
    fn alternative(&self) -> String;
    /// Draws it at a given width; returns its height and its marks.
    fn draw(&self, width: f64) -> (f64, String);
    /// The entries of its legend.
    fn legend(&self) -> Vec<(Look, Swatch, String)>;
    /// The figures that it shows.
    fn data(&self) -> Data;
}

/// A chart with its title, legend and data. `file` is the name of the download.
pub fn figure(chart: &dyn Chart, file: &str) -> Html {
    let mut caption = Html::prose("b", &[], chart.title());
    if !chart.note().is_empty() {
        caption.push(Html::prose("span", &[], chart.note()));
    }
    let mut body = Html::element("figcaption", &[], caption);
    let legend = chart.legend();
    if legend.len() > 1 {
        let items = legend.into_iter().map(|(look, swatch, name)| {
            let mut item = Html::raw(look.swatch(swatch));
            item.push(Html::prose("span", &[], &name));
            Html::element("li", &[], item)
        });
        body.push(Html::element("ul", &[("class", "legend")], Html::join(items)));
    }
    let alternative = format!("{}. {}", chart.title(), chart.alternative());
    for (class, width) in [("plot wide", WIDE), ("plot narrow", NARROW)] {
        let (height, marks) = chart.draw(width);
        let view = format!("0 0 {width} {height:.0}");
        let attributes =
            [("class", class), ("role", "img"), ("aria-label", &alternative), ("viewBox", &view)];
        body.push(Html::element("svg", &attributes, Html::raw(marks)));
    }
    let data = chart.data();
    let link = data.download(chart.title(), file);
    body.push(Html::element("p", &[("class", "tools")], link));
    let mut details = Html::tag("summary", &[], "Data as a table");
    details.push(data.html(chart.title()));
    body.push(Html::element("details", &[], details));
    Html::element("figure", &[], body)
}

/// Figures side by side where there is room.
pub fn side_by_side(figures: impl IntoIterator<Item = Html>) -> Html {
    Html::element("div", &[("class", "charts")], Html::join(figures))
}
