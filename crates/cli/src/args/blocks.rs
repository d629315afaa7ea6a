//! The arguments of `mallacc block` and `mallacc validate`.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

use super::common::{Format, PlaceArgs};
use super::numbers::{iterations, lines, processes, repeats, seed};

/// `mallacc block`.
#[derive(Debug, Args)]
pub struct BlockArgs {
    /// Machine code in hexadecimal, or `-` for a list on stdin, one block per line
    #[arg(required_unless_present = "asm", value_name = "HEX")]
    pub blocks: Vec<String>,
    /// A block in assembly language, with instructions separated by `;` or newlines; `@FILE` reads
    /// a file, `-` reads stdin
    #[arg(long, value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    pub asm: Vec<String>,
    /// Operand syntax of --asm
    #[arg(long, value_enum, default_value = "intel", requires = "asm")]
    pub syntax: AsmSyntax,
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Print a line for each uop with its event cycles
    #[arg(long)]
    pub timeline: bool,
    /// Write the timeline of the first block as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Syntaxes of assembly language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AsmSyntax {
    /// add rax, rbx: destination first
    Intel,
    /// add %rbx, %rax: destination last
    Att,
}

/// `mallacc validate`.
#[derive(Debug, Subcommand)]
pub enum Validate {
    /// Compare with measured basic blocks, from a CSV file (hex,cycles_per_100_iterations)
    #[command(after_help = "Example:
  mallacc validate blocks bhive.csv --worst 20")]
    Blocks(ValidateBlocksArgs),
    /// Compare caches, TLBs and memory with measured latencies (pointer chases, 4 KB to 64 MB)
    #[command(after_help = "Examples:
  mallacc validate memory
  mallacc validate memory --machine mine.toml --format csv")]
    Memory(ValidateMemoryArgs),
    /// Compare with the microbenchmarks timed on this computer
    #[command(after_help = "Examples:
  mallacc validate host
  mallacc validate host tp tp_small --quick
  mallacc validate host --machine haswell --format json")]
    Host(ValidateHostArgs),
}

/// `mallacc validate memory`.
#[derive(Debug, Args)]
pub struct ValidateMemoryArgs {
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// `mallacc validate host`.
#[derive(Debug, Args)]
pub struct ValidateHostArgs {
    /// Microbenchmarks to run [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin [default: the
    /// host's core family]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Iterations in each repeat [default: 32768, with --quick 2048]
    #[arg(long, value_name = "N", value_parser = iterations, allow_hyphen_values = true)]
    pub iterations: Option<u64>,
    /// Repeats, the first of which is a warm-up [default: 13, with --quick 4]
    #[arg(long, value_name = "N", value_parser = repeats, allow_hyphen_values = true)]
    pub repeats: Option<u64>,
    /// Number of times each program is started [default: 10, with --quick 2]
    #[arg(long, value_name = "N", value_parser = processes, allow_hyphen_values = true)]
    pub processes: Option<u32>,
    /// Few iterations: a rough answer in seconds
    #[arg(long)]
    pub quick: bool,
    /// Seed of the benchmarks' inputs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed,
          allow_hyphen_values = true)]
    pub seed: u64,
}

/// `mallacc validate blocks`.
#[derive(Debug, Args)]
pub struct ValidateBlocksArgs {
    /// The measurements; `-` is stdin
    pub file: PathBuf,
    /// The machine: a name (`mallacc machines`) or a machine file; `-` is stdin
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Also list the N blocks with the largest errors
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = lines,
          allow_hyphen_values = true)]
    pub worst: usize,
    /// List blocks of this category only: scalar-integer, load, store, mixed, vector, division
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
}
