//! Subsets in the form that the driver reads: 32-bit little-endian numbers, so that it computes
//! nothing of its own between two calls.
//!
//! ```text
//! number of subsets, then for each: slots, number of operations, operations
//! operation: slot, bytes (0 frees the slot)
//! ```

use crate::subset::{Op, Subset};

/// Operations of one subset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Slots in use.
    pub slots: u32,
    /// Slot and bytes; 0 bytes frees it.
    pub ops: Vec<(u32, u32)>,
}

impl Compiled {
    /// At most `limit` operations of a subset; what is still live is freed after them.
    pub fn new(subset: &Subset, limit: usize) -> Self {
        let mut live = vec![false; subset.slots as usize];
        let mut ops = Vec::new();
        for op in subset.ops.iter().take(limit) {
            ops.push(match *op {
                Op::Alloc { slot, bytes } => {
                    live[slot as usize] = true;
                    (slot, bytes)
                }
                Op::Free { slot } => {
                    live[slot as usize] = false;
                    (slot, 0)
                }
            });
        }
        ops.extend((0..).zip(live).filter(|(_, live)| *live).map(|(slot, _)| (slot, 0)));
        Self { slots: subset.slots, ops }
    }
}

/// As bytes.
pub fn write(subsets: &[Compiled]) -> Vec<u8> {
    let mut words = vec![subsets.len() as u32];
    for subset in subsets {
        words.extend([subset.slots, subset.ops.len() as u32]);
        words.extend(subset.ops.iter().flat_map(|&(slot, bytes)| [slot, bytes]));
    }
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// From bytes; `None` if `write` did not write them.
pub fn read(bytes: &[u8]) -> Option<Vec<Compiled>> {
    let mut words = bytes.chunks_exact(4).map(|word| {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(word);
        u32::from_le_bytes(bytes)
    });
    let mut subsets = Vec::new();
    for _ in 0..words.next()? {
        let (slots, count) = (words.next()?, words.next()?);
        let mut ops = Vec::new();
        for _ in 0..count {
            let (slot, bytes) = (words.next()?, words.next()?);
            if slot >= slots {
                return None;
            }
            ops.push((slot, bytes));
        }
        subsets.push(Compiled { slots, ops });
    }
    words.next().is_none().then_some(subsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_freed_and_all_reads_back() {
        let alloc = |slot, bytes| Op::Alloc { slot, bytes };
        let free = |slot| Op::Free { slot };
        let ops = vec![alloc(0, 8), alloc(1, 9), free(0), alloc(0, 10), free(1), free(0)];
        let subset = Subset { ops, slots: 2, peak_bytes: 19 };
        let cut = Compiled::new(&subset, 3);
        assert_eq!(cut.ops, [(0, 8), (1, 9), (0, 0), (1, 0)]);
        let whole = Compiled::new(&subset, 100);
        assert_eq!(whole.ops.len(), 6);
        let both = vec![cut, whole];
        let bytes = write(&both);
        assert_eq!(read(&bytes), Some(both));
        assert_eq!(read(&bytes[..bytes.len() - 4]), None);
        assert_eq!(read(&[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
