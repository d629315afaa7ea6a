//! Replacement policies: which line of a full set is replaced.
//!
//! A policy keeps its state in two bits per way and in the recency order that every set has. It
//! supplies the bits of a new line and chooses a victim when no way is empty; a hit clears the
//! bits, so that the hit path never calls the policy. To add one: a variant, its two answers, and a
//! line in [`MODELS`].

use params::{ConfigError, unknown_name};

use crate::array::{EVERY, HIGH, LOW, Set};

/// The description of a policy.
pub struct Model {
    /// Unique name, as in machine files.
    pub name: &'static str,
    /// One sentence.
    pub text: &'static str,
    policy: Policy,
}

/// Every policy there is.
pub static MODELS: &[Model] = &[
    Model { name: "lru", text: "The least recently used line, exactly.", policy: Policy::Lru },
    Model {
        name: "srrip",
        text: "Static re-reference interval prediction with two bits and hit priority (Jaleel et \
               al., ISCA 2010): a line that was never used again goes before one that was.",
        policy: Policy::Srrip,
    },
];

/// A policy in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Lru,
    /// The two bits of a way are its re-reference prediction value: 0 soon, 3 in the distant
    /// future. A new line gets 2, a hit sets 0; the victim is the lowest way with 3, and if there
    /// is none, all values are incremented until there is.
    Srrip,
}

impl Policy {
    /// The policy with this name; `key` is the key that names it in the machine file.
    pub(crate) fn find(key: &str, name: &str) -> Result<Self, ConfigError> {
        MODELS.iter().find(|model| model.name == name).map(|model| model.policy).ok_or_else(|| {
            let valid: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
            unknown_name(key, name, name, &valid)
        })
    }

    /// The way to replace in a full set of `assoc` ways; `oldest` is the least recently used.
    #[inline]
    pub(crate) fn victim(self, set: &mut Set, oldest: u32, assoc: u32) -> u32 {
        match self {
            Self::Lru => oldest,
            Self::Srrip => distant(set, assoc),
        }
    }

    /// The two bits of a new line.
    #[inline]
    pub(crate) fn fresh(self) -> u64 {
        match self {
            Self::Lru => 0,
            Self::Srrip => HIGH,
        }
    }
}

/// The lowest way whose value is 3, after incrementing all until one has it.
fn distant(set: &mut Set, assoc: u32) -> u32 {
    let ways = EVERY >> (4 * (16 - assoc));
    loop {
        // One bit per way, in the lowest bit of its field.
        let (low, high) = ((set.flags / LOW) & ways, (set.flags / HIGH) & ways);
        let found = low & high;
        if found != 0 {
            return found.trailing_zeros() / 4;
        }
        // No value is 3, so adding one never carries out of its two bits.
        let grown = ((low ^ ways) * LOW) | ((high ^ low) * HIGH);
        set.flags = (set.flags & !((LOW | HIGH) * ways)) | grown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Array;
    use crate::fill::Fill;
    use std::collections::BTreeSet;

    /// A set of `assoc` ways filled with lines 0, 1, …; none was used again.
    fn full(policy: Policy, assoc: u32) -> Array {
        let mut array = Array::new(1, assoc, true, policy);
        for key in 0..u64::from(assoc) {
            assert_eq!(array.insert(key, Fill::PRESENT).1, None, "an empty way is filled first");
        }
        array
    }

    fn bring(array: &mut Array, key: u64) -> u64 {
        array.insert(key, Fill::PRESENT).1.expect("the set is full").key
    }

    #[test]
    fn names_are_unique_and_described() {
        let names: BTreeSet<&str> = MODELS.iter().map(|model| model.name).collect();
        assert_eq!(names.len(), MODELS.len());
        assert!(MODELS.iter().all(|model| model.text.ends_with('.')));
    }

    #[test]
    fn an_unknown_name_lists_the_valid_ones_and_the_nearest() {
        let error = Policy::find("l1d.replacement", "srip").unwrap_err().0;
        let start =
            "l1d.replacement \"srip\": unknown. Did you mean \"srrip\"? The valid ones are: ";
        assert_eq!(error, format!("{start}lru, srrip"));
    }

    #[test]
    fn every_policy_gives_up_a_line_that_is_there_and_fills_emptied_ways_first() {
        for model in MODELS {
            for assoc in [1, 2, 3, 8, 15, 16] {
                let mut array = full(model.policy, assoc);
                let mut held: BTreeSet<u64> = (0..assoc.into()).collect();
                let mut random = 0x1234_5678_9abc_def1_u64;
                for key in 100..400 {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let some = *held.iter().nth(random as usize % held.len()).unwrap();
                    assert!(array.lookup(some).is_some());
                    if random >> 40 & 7 == 0 {
                        assert!(array.remove(some).is_some());
                        held.remove(&some);
                        assert_eq!(array.insert(key, Fill::PRESENT).1, None, "{}", model.name);
                    } else {
                        assert!(held.remove(&bring(&mut array, key)), "{}", model.name);
                    }
                    held.insert(key);
                }
                assert!(held.iter().all(|key| array.find(*key).is_some()), "{}", model.name);
                assert_eq!(array.recency(0).len(), assoc as usize, "{}", model.name);
            }
        }
    }

    #[test]
    fn under_every_policy_the_only_line_used_again_outlives_all_others_of_its_set() {
        for model in MODELS {
            for assoc in [2, 3, 8, 16] {
                for used in 0..u64::from(assoc) {
                    let mut array = full(model.policy, assoc);
                    assert!(array.lookup(used).is_some());
                    for new in 0..u64::from(assoc) - 1 {
                        assert_ne!(bring(&mut array, 100 + new), used, "{}", model.name);
                    }
                }
            }
        }
    }

    #[test]
    fn srrip_keeps_a_line_used_again_through_twice_as_many_new_ones_as_lru() {
        // After the hit the values are 0 for the line and 2 for the others. The first new line
        // raises them to 1 and 3; it and the next two take the three ways with 3. The fourth finds
        // one 1 and three 2s, raised to 2 and 3; it and the next two again take the others. The
        // seventh finds 2 everywhere: all become 3, and the lowest way is replaced. Ways are filled
        // from the highest down, so line 3 has way 0.
        let mut array = full(Policy::Srrip, 4);
        assert!(array.lookup(3).is_some());
        let gone: Vec<u64> = (10..17).map(|key| bring(&mut array, key)).collect();
        assert_eq!(gone, [2, 1, 0, 10, 11, 12, 3]);
        let mut array = full(Policy::Lru, 4);
        assert!(array.lookup(3).is_some());
        let gone: Vec<u64> = (10..14).map(|key| bring(&mut array, key)).collect();
        assert_eq!(gone, [0, 1, 2, 3]);
    }

    #[test]
    fn srrip_keeps_what_is_used_through_a_scan_that_empties_an_lru_set() {
        // Four ways; lines 0 and 1 are used between the lines of a scan three times as long as the
        // set. A new line has 2 and the used ones 0, so the scan replaces its own lines.
        let survivors = |policy| {
            let mut array = full(policy, 4);
            for round in 0..3 {
                for used in [0, 1] {
                    array.lookup(used);
                }
                for n in 0..4 {
                    array.insert(100 + 4 * round + n, Fill::PRESENT);
                }
            }
            [0, 1].map(|used| array.find(used).is_some())
        };
        assert_eq!(survivors(Policy::Lru), [false, false]);
        assert_eq!(survivors(Policy::Srrip), [true, true]);
    }

    #[test]
    fn under_srrip_the_first_hit_of_a_new_line_counts_though_it_is_the_newest() {
        // Line 3 is the most recently used because it was inserted last; a hit must still set its
        // value to 0, so that the scan takes the others first.
        let mut array = full(Policy::Srrip, 4);
        assert_eq!(
            array.newest_settled(3, u64::MAX),
            None,
            "not the fast path: it would not count"
        );
        assert!(array.lookup(3).is_some());
        assert!(array.newest_settled(3, u64::MAX).is_some());
    }
}
