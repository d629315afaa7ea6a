//! Replays a subset and accounts for the memory.
//!
//! Waste is what is not user data at the moment when the memory holds the most user data. What is
//! free at that moment counts as wasted if requests were refused during the replay, and as not
//! needed otherwise. A refused request goes elsewhere, as in the paper's runtime, and the replay
//! continues.
//!
//! The mean over the moments of refusals is kept too. It is less meaningful: a request nearly as
//! large as the memory is refused when the memory is nearly empty, and then all of the memory
//! counts.

use crate::subject::{Kind, Subject, with};
use crate::subset::{Op, Subset};

/// Bytes that are not user data, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waste {
    /// Lists, bitmaps, bins, pools.
    pub state: f64,
    /// Headers and boundary tags of live allocations.
    pub tags: f64,
    /// Live bytes beyond those requested.
    pub internal: f64,
    /// Free bytes that could not serve the request.
    pub external: f64,
}

impl Waste {
    /// The sum of all causes.
    pub fn total(&self) -> f64 {
        self.state + self.tags + self.internal + self.external
    }
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replayed {
    /// At the fullest moment.
    pub waste: Waste,
    /// The mean total waste over the moments at which a request was refused.
    pub at_refusals: Option<f64>,
    /// Requests.
    pub requests: u64,
    /// Requests refused.
    pub refused: u64,
}

/// What is not user data now; `external` is all free bytes.
fn now(subject: &dyn Subject, bytes: u32, requested: u64) -> Waste {
    let occupied = subject.occupied();
    let taken = occupied.bytes + subject.reserved_bytes();
    Waste {
        state: subject.state_bytes() as f64,
        tags: occupied.tags as f64,
        internal: (occupied.bytes - occupied.tags - requested) as f64,
        external: (u64::from(bytes) - taken) as f64,
    }
}

/// Replays `subset` on a new allocator over `bytes`; `None` if it cannot manage so small a memory.
pub fn replay(kind: Kind, bytes: u32, subset: &Subset) -> Option<Replayed> {
    with(kind, bytes, |subject| {
        let mut slots: Vec<Option<(u32, u32)>> = vec![None; subset.slots as usize];
        let (mut requested, mut peak, mut refusals) = (0u64, 0, 0.0);
        let mut done = Replayed::default();
        for op in &subset.ops {
            match *op {
                Op::Alloc { slot, bytes: size } => {
                    done.requests += 1;
                    slots[slot as usize] = subject.alloc(size).map(|offset| (offset, size));
                    if slots[slot as usize].is_none() {
                        done.refused += 1;
                        refusals += now(subject, bytes, requested).total();
                        continue;
                    }
                    requested += u64::from(size);
                    if requested > peak {
                        peak = requested;
                        done.waste = now(subject, bytes, requested);
                    }
                }
                Op::Free { slot } => {
                    if let Some((offset, size)) = slots[slot as usize].take() {
                        requested -= u64::from(size);
                        subject.free(offset, size);
                    }
                }
            }
        }
        if done.refused == 0 {
            done.waste.external = 0.0;
        } else if peak == 0 {
            // Nothing was ever live: the fullest moment is the empty one.
            done.waste = now(subject, bytes, 0);
        }
        done.at_refusals = (done.refused > 0).then(|| refusals / done.refused as f64);
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subset(ops: &[Op]) -> Subset {
        Subset { ops: ops.to_vec(), slots: 4, peak_bytes: 0 }
    }

    fn alloc(slot: u32, bytes: u32) -> Op {
        Op::Alloc { slot, bytes }
    }

    #[test]
    fn the_fullest_moment_shows_the_causes_by_name() {
        // Blocks of 128 bytes in 256: 129 bytes take a block and eight bytes of the next; of that 8
        // + 16 + 32 + 64 are free, and a request for 100 bytes is refused. The fullest moment
        // follows, when 20 bytes take the 32.
        let ops = [alloc(0, 129), alloc(1, 100), alloc(2, 20)];
        let done = replay(Kind::Sma(128), 256, &subset(&ops)).unwrap();
        assert_eq!((done.requests, done.refused), (3, 1));
        let waste = done.waste;
        assert_eq!((waste.internal, waste.tags, waste.external), (7.0 + 12.0, 0.0, 88.0));
        // Four heads, bitmap, full bits, and positions (four words): 40 bytes, whatever is live.
        assert_eq!((waste.state, waste.total()), (40.0, 147.0));
        // At the refusal, 7 bytes were lost and 120 were free.
        assert_eq!(done.at_refusals, Some(40.0 + 127.0));
    }

    #[test]
    fn with_nothing_refused_the_fullest_moment_counts() {
        let ops = [alloc(0, 20), Op::Free { slot: 0 }, alloc(1, 10), alloc(2, 24)];
        let done = replay(Kind::Headed, 4096, &subset(&ops)).unwrap();
        assert_eq!(done.refused, 0);
        // 10 + 4 in 16, 24 + 4 in 32: 44 of 48, minus the 8 bytes of two headers.
        assert_eq!((done.waste.internal, done.waste.tags), (48.0 - 34.0 - 8.0, 8.0));
        assert_eq!(done.waste.external, 0.0);
    }

    #[test]
    fn dlmallocs_causes_follow_from_its_chunks() {
        // 32-bit chunks: 20 + 4 in 24; 4,096 - 40 - 24 are left, too little for 5,000.
        let done = replay(Kind::Dlmalloc, 4096, &subset(&[alloc(0, 20), alloc(1, 5000)])).unwrap();
        let waste = done.waste;
        assert_eq!((waste.tags, waste.internal, waste.external), (4.0, 0.0, 4032.0));
        assert_eq!(waste.state, 516.0 + 40.0);
    }
}
