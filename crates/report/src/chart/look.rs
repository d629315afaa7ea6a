//! How series are distinguished: by colour, and also by dashes and markers (lines) or patterns
//! (areas).

use super::Swatch;
use super::canvas::Canvas;

/// A look: the same number means the same thing in all charts of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Look(pub usize);

/// Dashes of lines, by look.
const DASHES: [&str; Look::COUNT] = [
    "7 4",
    "",
    "2 3",
    "9 3 2 3",
    "12 4",
    "5 2 1 2",
    "4 4",
    "14 3 2 3 2 3",
    "1 4",
    "6 2",
    "10 2 2 2",
    "3 6",
];

impl Look {
    /// Number of looks; beyond that they repeat.
    pub const COUNT: usize = 12;
    /// The baseline, or whatever the others are compared with.
    pub const BASELINE: Self = Self(0);
    /// What the chart is about.
    pub const MAIN: Self = Self(1);
    /// The limit study, or whatever else is an upper bound.
    pub const LIMIT: Self = Self(2);

    /// Number `index` of the looks without a fixed meaning.
    pub fn other(index: usize) -> Self {
        Self(3 + index % (Self::COUNT - 3))
    }

    /// The class that sets the colour.
    pub(crate) fn class(self) -> String {
        format!("k{}", self.0 % Self::COUNT)
    }

    /// The dashes of its lines.
    pub(crate) fn dashes(self) -> &'static str {
        DASHES[self.0 % Self::COUNT]
    }

    /// The fill of its areas.
    pub(crate) fn fill(self) -> String {
        format!("url(#p{})", self.0 % Self::COUNT)
    }

    /// A sample for the legend.
    pub(crate) fn swatch(self, swatch: Swatch) -> String {
        let mut canvas = Canvas::default();
        match swatch {
            Swatch::Line => canvas.curve(self, &[(0.0, 7.0), (34.0, 7.0)]),
            Swatch::Marked => {
                canvas.curve(self, &[(0.0, 7.0), (34.0, 7.0)]);
                canvas.marker(self, 17.0, 7.0);
            }
            Swatch::Area => canvas.area(self, 1.0, 1.0, 32.0, 12.0),
        }
        let marks = canvas.finish();
        format!("<svg viewBox=\"0 0 34 14\" aria-hidden=\"true\">{marks}</svg>")
    }
}
