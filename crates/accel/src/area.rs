//! What a model would cost in silicon: a list of figures, each with its source and its technology.
//! Figures of different technologies are not comparable; nothing here converts between them.

/// The technology of the paper's estimate, to which synthesis results are scaled.
pub const NM_28: &str = "28 nm";

/// The kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Calculated from array and gate models, without a design.
    Estimate,
    /// Cells of a synthesised design; no placement, wires or clock tree.
    Synthesis,
}

/// An area.
#[derive(Clone, Debug, PartialEq)]
pub struct Area {
    /// The kind of figure.
    pub source: Source,
    /// How it was obtained, in one clause.
    pub method: &'static str,
    /// The process or cell library that it refers to.
    pub technology: &'static str,
    /// The smallest value in um^2.
    pub um2_min: f64,
    /// The largest; equal to the smallest if it is not a range.
    pub um2_max: f64,
}

/// The figure of this kind and technology, if there is one.
pub fn find<'a>(areas: &'a [Area], source: Source, technology: &str) -> Option<&'a Area> {
    areas.iter().find(|area| (area.source, area.technology) == (source, technology))
}
