//! Classifies blocks by their kind of work.

use decode::{Block, Uop};

/// Categories of blocks: the first that applies, in the order division, vector, memory, scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Integer registers only.
    ScalarInteger,
    /// Reads memory but does not write it.
    Load,
    /// Writes memory but does not read it.
    Store,
    /// Reads and writes memory.
    Mixed,
    /// Uses vector, MMX or x87 registers.
    Vector,
    /// Keeps a divider busy (divisions and square roots).
    Division,
}

impl Category {
    /// All, in the order of reports.
    pub const ALL: [Category; 6] =
        [Self::ScalarInteger, Self::Load, Self::Store, Self::Mixed, Self::Vector, Self::Division];

    /// Name in reports and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::ScalarInteger => "scalar-integer",
            Self::Load => "load",
            Self::Store => "store",
            Self::Mixed => "mixed",
            Self::Vector => "vector",
            Self::Division => "division",
        }
    }

    /// The category of a name; the error lists the valid ones and the nearest.
    pub fn find(name: &str) -> Result<Self, params::ConfigError> {
        Self::ALL.into_iter().find(|c| c.name() == name).ok_or_else(|| {
            let valid: Vec<&str> = Self::ALL.iter().map(|c| c.name()).collect();
            params::unknown_name("category", name, name, &valid)
        })
    }

    /// The category of a block.
    pub fn of(block: &Block) -> Self {
        let loads = block.mem_operands.iter().any(|s| !s.store);
        let stores = block.mem_operands.iter().any(|s| s.store);
        if block.uops.iter().any(|u| u.busy > 0) {
            Self::Division
        } else if block.uops.iter().any(uses_vectors) {
            Self::Vector
        } else {
            match (loads, stores) {
                (false, false) => Self::ScalarInteger,
                (true, false) => Self::Load,
                (false, true) => Self::Store,
                (true, true) => Self::Mixed,
            }
        }
    }
}

/// Names 16 to 39 are vector, x87 and MMX registers.
fn uses_vectors(uop: &Uop) -> bool {
    let vector = |r: &decode::Reg| (16..40).contains(&r.0);
    uop.srcs.iter().any(vector) || uop.dsts.iter().any(vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{block_def, parse_hex};

    #[test]
    fn a_block_has_the_category_of_its_hardest_part() {
        let decoder = uarch::Machine::default().view().unwrap().decoder();
        for (hex, expected) in [
            ("4801c8", Category::ScalarInteger),   // add rax, rcx
            ("488b01", Category::Load),            // mov rax, [rcx]
            ("488901", Category::Store),           // mov [rcx], rax
            ("480101", Category::Mixed),           // add [rcx], rax
            ("0f58c1", Category::Vector),          // addps xmm0, xmm1
            ("f30f1001", Category::Vector),        // movss xmm0, [rcx]
            ("0f5ec1 480101", Category::Division), // divps xmm0, xmm1; add [rcx], rax
            ("48f7f1", Category::Division),        // div rcx
        ] {
            let def = block_def(&parse_hex(hex).unwrap(), 0).unwrap();
            assert_eq!(Category::of(&decoder.block(&def)), expected, "{hex}");
        }
    }

    #[test]
    fn names_are_found_again_and_others_refused_with_the_nearest() {
        for category in Category::ALL {
            assert_eq!(Category::find(category.name()), Ok(category));
        }
        assert!(Category::find("vectr").unwrap_err().0.contains("vector"));
    }
}
