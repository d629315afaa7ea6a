//! What a model would cost in silicon, as the paper estimates it.

/// Area of a malloc cache at 28 nm in um^2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Associative part: index ranges and classes.
    pub cam: f64,
    /// Sizes, Head and Next.
    pub sram: f64,
    /// Class index computation.
    pub index: f64,
}

impl Area {
    /// The paper's CACTI figures for 16 entries (section 6.4: CAM 873, SRAM 346, index computation
    /// 265 um^2), the arrays scaled in proportion to the entries. The synthesised figures are in
    /// `docs/rtl.md`; they are larger.
    pub fn paper(entries: u32, index: bool) -> Self {
        let scale = f64::from(entries) / 16.0;
        Self { cam: 873.0 * scale, sram: 346.0 * scale, index: if index { 265.0 } else { 0.0 } }
    }

    /// All parts together.
    pub fn total(&self) -> f64 {
        self.cam + self.sram + self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_entries_stay_below_the_papers_bound() {
        let area = Area::paper(16, true);
        assert_eq!(area.total(), 873.0 + 346.0 + 265.0);
        assert!(area.total() < 1500.0);
        assert!(Area::paper(32, true).total() < 2.0 * area.total(), "the index part is shared");
    }
}
