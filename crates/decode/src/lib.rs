//! x86-64 instructions to uops with ports and latencies; markers recognised.
//!
//! ```text
//!   stream::BlockDef ──> iced-x86 ──> form key ──> instruction table (per core family)
//!        (bytes)          (operands)                 │ fused uops, ports, latencies
//!                                                    v
//!   markers ──────────────────────────────> Block { insns, uops, memory operands, markers, branch }
//! ```
//!
//! The tables are data (`data/*.tsv`, one pair of files per core family, made by
//! `tools/uops_table.py` or `tools/llvm_table.py` and by hand); which one a machine has, its file
//! says. The rules that they do not hold are code:
//!
//! | module | what it knows |
//! |---|---|
//! | [`family`] | the core families: tables, ports and quirks as data |
//! | `key`, `table` | forms of instructions and what was measured for each |
//! | `operands` | what an instruction reads and writes, partial registers, flag groups |
//! | `idiom`, `fuse` | zeroing and moves at rename, macro-fusion, unlamination |
//! | `shape` | how the uops of an instruction depend on each other |
//! | `fence` | what fences order, and for how long |
//! | `emit`, `decoder` | uops in order with their marks; blocks, markers, decoders |
//!
//! A [`Block`] is decoded once and executed many times: everything static about an instruction is
//! worked out here, so that the core model's inner loop only adds times. What is measured
//! (uops, ports, latencies) comes from the instruction table; what is structural (register and
//! memory operands) from `iced-x86`; what is neither (fusion, idioms, elimination) from the rules
//! of the modules `fuse` and `idiom` with their sources named.

mod decoder;
mod emit;
pub mod family;
mod fence;
mod fuse;
mod idiom;
pub mod key;
mod operands;
mod shape;
pub mod table;
pub mod uop;

pub use decoder::Decoder;
pub use family::Family;
pub use operands::is_prefetch;
pub use table::{InstructionTable, TableError};
pub use uop::{
    Block, Branch, BranchKind, DecodeClass, Insn, MemOperand, Reg, Uop, UopFlags, UopKind,
};
