//! Axes: map figures to positions, with ticks at round numbers.

use crate::data::Format;

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its label, with the unit.
    pub label: String,
    /// The format of its figures.
    pub format: Format,
    /// Whether the scale is logarithmic.
    pub log: bool,
    /// Whether it always includes 0.
    pub zero: bool,
    /// Where it begins; by default at the smallest figure or a round one below it.
    pub low: Option<f64>,
    /// Where it ends; by default at the largest figure or a round one above it.
    pub high: Option<f64>,
}

impl Default for Axis {
    fn default() -> Self {
        Self::new("", Format::Fixed(2))
    }
}

impl Axis {
    /// A linear axis.
    pub fn new(label: impl Into<String>, format: Format) -> Self {
        Self { label: label.into(), format, log: false, zero: false, low: None, high: None }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>, format: Format) -> Self {
        Self { log: true, ..Self::new(label, format) }
    }

    /// Includes 0.
    pub fn with_zero(mut self) -> Self {
        self.zero = true;
        self
    }

    /// Begins here.
    pub fn from(mut self, low: f64) -> Self {
        self.low = Some(low);
        self
    }

    /// Ends here.
    pub fn to(mut self, high: f64) -> Self {
        self.high = Some(high);
        self
    }

    /// The axis over these figures, with about `wanted` ticks.
    pub(crate) fn scale(&self, figures: impl Iterator<Item = f64>, wanted: usize) -> Scale {
        let figures = figures.chain(self.zero.then_some(0.0));
        let finite = figures.filter(|f| f.is_finite() && (!self.log || *f > 0.0));
        let range = finite.fold(None, |range: Option<(f64, f64)>, f| {
            Some(range.map_or((f, f), |(low, high)| (low.min(f), high.max(f))))
        });
        let (least, most) = range.unwrap_or(if self.log { (1.0, 10.0) } else { (0.0, 1.0) });
        let (mut low, mut high) = (self.low.unwrap_or(least), self.high.unwrap_or(most));
        if self.log {
            low = low.max(f64::MIN_POSITIVE);
            if high <= low * 1.01 {
                high = low * 10.0;
            }
        } else if high - low <= 1e-12 * high.abs().max(low.abs()).max(1e-9) {
            let room = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low, high) = (self.low.unwrap_or(low - room), self.high.unwrap_or(high + room));
            if high <= low {
                high = low + 1.0;
            }
        }
        if !self.log {
            let step = step(low, high, wanted);
            if self.low.is_none() {
                low = (low / step + 1e-9).floor() * step;
            }
            if self.high.is_none() {
                high = (high / step - 1e-9).ceil() * step;
            }
        }
        Scale { low, high, log: self.log }
    }
}

/// A range of figures on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The figure at the start.
    pub low: f64,
    /// The figure at the end.
    pub high: f64,
    log: bool,
}

impl Scale {
    /// Position of a figure between 0 and 1; figures outside are placed at the ends.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low).ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// Round figures on the axis, about `wanted`.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        if self.log {
            log_ticks(self.low, self.high, wanted)
        } else {
            ticks(self.low, self.high, wanted)
        }
    }
}

/// The round step (1, 2, 2.5 or 5 times a power of ten) that divides a range into about `wanted`.
fn step(low: f64, high: f64, wanted: usize) -> f64 {
    let raw = (high - low) / wanted.max(1) as f64;
    let power = 10_f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * power >= raw * 0.999);
    factor.unwrap_or(10.0) * power
}

/// About `wanted` round figures from `low` to `high`, at equal distances.
pub fn ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    if high <= low || !(high - low).is_finite() {
        return vec![low];
    }
    let step = step(low, high, wanted);
    let first = (low / step - 1e-6).ceil() as i64;
    let last = (high / step + 1e-6).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// Powers of ten, with their multiples by 2 and 5, or by 3, if there is room.
fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let decades = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all = |factors: &[f64]| -> Vec<f64> {
        let range = decades.0..=decades.1;
        let all = range.flat_map(|d| factors.iter().map(move |f| f * 10_f64.powi(d)));
        all.filter(|tick| (low * 0.999..=high * 1.001).contains(tick)).collect()
    };
    let choices = [&[1.0, 2.0, 3.0, 5.0, 7.0][..], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let fits = |ticks: &Vec<f64>| ticks.len() <= wanted + 1;
    choices.into_iter().map(all).find(fits).unwrap_or_else(|| {
        let decades = all(&[1.0]);
        let every = decades.len().div_ceil(wanted.max(1));
        decades.into_iter().step_by(every).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_equally_spaced_and_inside() {
        assert_eq!(ticks(0.0, 1.0, 5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(ticks(0.0, 97.0, 5), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(ticks(-3.0, 3.0, 3), [-2.0, 0.0, 2.0]);
        assert_eq!(ticks(2.0, 32.0, 6), [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
    }

    #[test]
    fn an_axis_ends_at_round_figures_unless_it_is_told_where() {
        let axis = Axis::new("x", Format::Count);
        let scale = axis.scale([3.0, 97.0].into_iter(), 5);
        assert_eq!((scale.low, scale.high), (0.0, 100.0));
        let scale = axis.clone().from(2.0).to(50.0).scale([3.0, 97.0].into_iter(), 5);
        assert_eq!((scale.low, scale.high), (2.0, 50.0));
        let zero = axis.clone().with_zero();
        assert_eq!(zero.scale([60.0, 97.0].into_iter(), 5).low, 0.0);
        assert_eq!(zero.scale([-60.0, -97.0].into_iter(), 5).high, 0.0);
        assert_eq!((scale.place(2.0), scale.place(26.0), scale.place(97.0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn equal_ratios_are_equal_distances_on_a_logarithmic_axis() {
        let scale = Axis::log("x", Format::Count).scale([1.0, 10_000.0].into_iter(), 5);
        for (value, share) in [(1.0, 0.0), (10.0, 0.25), (100.0, 0.5), (10_000.0, 1.0)] {
            assert!((scale.place(value) - share).abs() < 1e-12, "{value}");
        }
        assert_eq!(scale.ticks(5), [1.0, 10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!(scale.place(0.0), 0.0);
    }

    #[test]
    fn no_figures_equal_figures_and_infinite_ones_still_give_an_axis() {
        let none = [];
        let same = [5.0, 5.0];
        let wild = [f64::NAN, f64::INFINITY, 2.0];
        for figures in [&none[..], &same, &wild, &[0.0]] {
            for axis in [Axis::new("x", Format::Count), Axis::log("x", Format::Count)] {
                let scale = axis.scale(figures.iter().copied(), 5);
                assert!(scale.high > scale.low, "{figures:?} {scale:?}");
                let ticks = scale.ticks(5);
                assert!((1..=12).contains(&ticks.len()), "{figures:?} {ticks:?}");
            }
        }
    }
}
