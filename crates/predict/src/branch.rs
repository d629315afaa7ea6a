//! Kinds of branches and the outcome of a prediction.

/// What an instruction does to the flow of control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum BranchKind {
    /// Taken or not, to a target in the instruction.
    Conditional,
    /// To a target in the instruction.
    Jump,
    /// To a target in a register or in memory.
    IndirectJump,
    /// A call of a target in the instruction.
    Call,
    /// A call of a target in a register or in memory.
    IndirectCall,
    /// To the return address on the stack.
    Return,
}

impl BranchKind {
    /// All kinds, in the order of the statistics.
    pub const ALL: [Self; 6] = [
        Self::Conditional,
        Self::Jump,
        Self::IndirectJump,
        Self::Call,
        Self::IndirectCall,
        Self::Return,
    ];

    /// The name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conditional => "conditional",
            Self::Jump => "jump",
            Self::IndirectJump => "indirect_jump",
            Self::Call => "call",
            Self::IndirectCall => "indirect_call",
            Self::Return => "return",
        }
    }
}

/// The outcome of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Direction or target was wrong: fetch follows the wrong path until the branch executes.
    pub mispredicted: bool,
    /// The branch was predicted taken but missed in the branch target buffer: fetch continues
    /// sequentially until the branch is decoded.
    pub btb_miss: bool,
}
