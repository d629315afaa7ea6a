//! Decodes x86-64 instructions into uops with ports and latencies; recognises markers.
//!
//! ```text
//!   stream::BlockDef ──> iced-x86 ──> form key ──> instruction table (per core family)
//!        (bytes)          (operands)                 │ fused uops, ports, latencies
//!                                                    v
//!   markers ──────────────────────────────> Block { insns, uops, memory operands, markers, branch }
//! ```
//!
//! The tables are data (`data/*.tsv`, one pair of files per core family, produced by
//! `tools/uops_table.py` or `tools/llvm_table.py` and by hand); a machine's file names the family.
//! Rules that are not in the tables are code:
//!
//! | module | contents |
//! |---|---|
//! | [`family`] | the core families: tables, ports and quirks as data |
//! | `key`, `table` | forms of instructions and what was measured for each |
//! | `operands` | what an instruction reads and writes, partial registers, flag groups |
//! | `idiom`, `fuse` | zeroing and moves at rename, macro-fusion, unlamination |
//! | `shape` | how the uops of an instruction depend on each other |
//! | `fence` | what fences order, and for how long |
//! | `emit`, `decoder` | uops in order with their marks; blocks, markers, decoders |
//!
//! A [`Block`] is decoded once and executed many times: all static properties of an instruction are
//! computed here, so that the core model's inner loop only adds times. Measured properties (uops,
//! ports, latencies) come from the instruction table; structural ones (register and memory
//! operands) from `iced-x86`; all others (fusion, idioms, elimination) from the rules in the
//! modules `fuse` and `idiom`, which name their sources.

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
