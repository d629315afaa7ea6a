//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use sim::Sample;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::sweep::Entries;

/// Instructions that a program may execute before it is sampled.
pub const BUDGET_INSTRUCTIONS: u64 = 100_000_000;
/// The sampling grid: 5 % of the instructions in detail, 2 % counted.
pub const SAMPLE: Sample = Sample { period: 2_000_000, warm: 60_000, measure: 40_000 };
/// Where runs are stored.
pub const STORE: &str = "mallacc.db";

const EXAMPLES: &str = "\
Examples:
  mallacc run -- perl script.pl input.txt        what would Mallacc buy this program?
  mallacc run --format json --output r.json -- ./prog
  mallacc record -o x.mtrace -- ./prog           execute once …
  mallacc replay x.mtrace --ablations            … and simulate as often as you like
  mallacc micro tp_small --entries 2..32         speedup against the size of the malloc cache
  mallacc list                                   earlier runs
  mallacc show 3 --detail                        everything about run 3
  mallacc report 3 -o run3.html                  … as a page with charts

Exit status: the program's own (128 + N when signal N killed it); 2 wrong usage or configuration,
3 a malloc cache returned a wrong pointer, 125 mallacc failed, 126 the program cannot be executed,
127 it was not found, 130 Ctrl-C.";

/// What would hardware help for malloc buy your program?
#[derive(Debug, Parser)]
#[command(name = "mallacc", version, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program and report what malloc hardware would buy it
    #[command(after_help = "Examples:
  mallacc run -- perl -e 'my %h = map { $_ => 1 } 1..100000'
  mallacc run --config none --config big=mallacc:entries=64 -- ./prog
  mallacc run --workload xalan --max 50M
  mallacc run --deterministic --format json --output run.json -- python3 script.py")]
    Run(Box<RunArgs>),
    /// Execute a program once and save its instruction stream to a file
    #[command(after_help = "Example:
  mallacc record -o perl.mtrace -- perl script.pl
  mallacc replay perl.mtrace")]
    Record(RecordArgs),
    /// Run a program natively and save its allocations and frees to a file
    #[command(after_help = "Example:
  mallacc record-mallocs -o tar.amt -- tar cz folder")]
    RecordMallocs(RecordMallocsArgs),
    /// Simulate a recorded instruction stream
    #[command(after_help = "Examples:
  mallacc replay x.mtrace --config none --config mallacc:entries=32,index=off
  mallacc replay x.mtrace --format csv > x.csv")]
    Replay(Box<ReplayArgs>),
    /// Run the microbenchmarks of the allocator
    #[command(after_help = "Examples:
  mallacc micro                            all six, with the default configurations
  mallacc micro tp_small --entries 2..32   speedup against entries
  mallacc micro --quick gauss gauss_free")]
    Micro(Box<MicroArgs>),
    /// Predict the steady-state cycles of basic blocks given as machine code
    #[command(after_help = "Examples:
  mallacc block 4801d8480fafc3                  add rax,rbx; imul rax,rbx
  cut -d, -f1 blocks.csv | mallacc block - --format csv
  mallacc block 488b00 --timeline               event cycles of every uop
  mallacc block 488b00 --html timeline.html")]
    Block(BlockArgs),
    /// Compare the core model with measured hardware
    #[command(
        subcommand,
        after_help = "Examples:
  mallacc validate blocks bhive.csv --worst 20
  mallacc validate memory
  mallacc validate host --quick"
    )]
    Validate(Validate),
    /// Extract the malloc-cache operations of a recording, to drive the RTL
    #[command(after_help = "Example:
  mallacc operations perl.mtrace -o perl.ops
  make -C rtl test-streams STREAMS=$PWD/perl.ops")]
    Operations(OperationsArgs),
    /// Print the malloc cache's area: the paper's estimate and the synthesised RTL
    #[command(after_help = "Examples:
  mallacc area
  mallacc area --speedup 0.5     also area per percent of speedup, for a program 0.5 % faster")]
    Area(AreaArgs),
    /// Compare scratch-pad allocators on recorded traces, as in the SMA paper
    #[command(after_help = "Examples:
  mallacc sma-study                      everything, from the traces in ./traces
  mallacc sma-study fig8 fig9 --quick    two figures, with two subsets of each trace
  mallacc sma-study --traces my --format markdown -o study.md

Traces: files NAME.amt of `mallacc record-mallocs`; workloads/traces/record.sh makes the paper's.")]
    SmaStudy(SmaStudyArgs),
    /// Measure the paper's figures and tables and compare them with its claims
    #[command(after_help = "Examples:
  mallacc paper fig17 --workload tp_small    one figure, one program
  mallacc paper --quick                      everything, roughly, in minutes
  mallacc paper --resume --format markdown -o figures.md")]
    Paper(Box<crate::paper::PaperArgs>),
    /// List the runs in a store
    #[command(after_help = "Example:
  mallacc list --store study.db")]
    List(ListArgs),
    /// Show a stored run
    #[command(after_help = "Examples:
  mallacc show            the latest run
  mallacc show 3 --detail
  mallacc show 3 --format json")]
    Show(ShowArgs),
    /// Write stored runs as one offline HTML page with charts
    #[command(after_help = "Examples:
  mallacc report                       the latest run, as report.html
  mallacc report 7 -o perl.html
  mallacc report 7..12 -o micro.html   runs beside each other
  mallacc report -o - | less")]
    Report(PageArgs),
    /// List accelerators and their parameters
    #[command(after_help = "Example:
  mallacc accelerators")]
    Accelerators,
    /// List machines, or show all parameters of one
    #[command(after_help = "Examples:
  mallacc machines
  mallacc machines haswell
  mallacc machines ./mine.toml")]
    Machines {
        /// A machine, or a machine file
        name: Option<String>,
    },
    /// List the workloads that come with mallacc
    #[command(after_help = "Example:
  mallacc run --workload perl --size small")]
    Workloads,
    /// Print a completion script for a shell
    #[command(after_help = "Example:
  mallacc completions bash > ~/.local/share/bash-completion/completions/mallacc")]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

/// Machines and accelerators, and how much of the program is simulated.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Simulation")]
pub struct SimulationArgs {
    /// A configuration: ACCELERATOR[:KEY=VALUE,…], or NAME=… to name it; repeatable
    /// [default: none, mallacc:entries=16, mallacc:entries=32, limit]
    #[arg(long = "config", value_name = "SPEC")]
    pub configs: Vec<String>,
    /// Add Mallacc and the limit study with only one of their parts at a time
    #[arg(long)]
    pub ablations: bool,
    /// A machine (`mallacc machines`) or a machine file; repeatable
    #[arg(long = "machine", value_name = "NAME|FILE", default_value = "haswell")]
    pub machines: Vec<String>,
    /// Only warm caches and predictors for the first N instructions
    #[arg(long, value_name = "N", default_value = "0", value_parser = sim::plan::count)]
    pub skip: u64,
    /// Measure at most N instructions, then let the program run on untraced
    #[arg(long, value_name = "N", value_parser = sim::plan::count)]
    pub max: Option<u64>,
    /// Sample from the start: every PERIOD instructions, WARM in detail, then MEASURE counted
    #[arg(long, value_name = "PERIOD:WARM:MEASURE", value_parser = Sample::parse)]
    pub sample: Option<Sample>,
    /// Simulate everything in detail, however long it takes
    #[arg(long, conflicts_with = "sample")]
    pub no_sample: bool,
    /// Measure regions of interest only (ROI markers in the program)
    #[arg(long)]
    pub roi: bool,
    /// Sample programs longer than N instructions (2M:60k:40k); the report says so
    #[arg(long, value_name = "N", default_value_t = BUDGET_INSTRUCTIONS,
          value_parser = sim::plan::count, conflicts_with_all = ["sample", "no_sample"])]
    pub budget: u64,
}

/// What is reported, and where.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Report")]
pub struct ReportArgs {
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write the report to a file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show every section: histogram, CPI stack, caches, predictors
    #[arg(long)]
    pub detail: bool,
    /// Suppress progress and table (the store and --output are still written)
    #[arg(long, short)]
    pub quiet: bool,
    /// Store the run in this file
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
    /// Do not store the run
    #[arg(long)]
    pub no_store: bool,
}

impl Default for ReportArgs {
    /// A table on the terminal, nothing stored: where a command with fewer options begins.
    fn default() -> Self {
        Self {
            format: Format::Table,
            output: None,
            detail: false,
            quiet: false,
            store: STORE.into(),
            no_store: true,
        }
    }
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[value(alias = "text")]
    Table,
    /// For programs: everything.
    Json,
    /// For spreadsheets: a row for each configuration.
    Csv,
}

/// The program and its environment.
#[derive(Clone, Debug, Args)]
pub struct ProgramArgs {
    /// Fix QEMU's seed, the hash seeds of Perl and Python, and the size of the environment
    #[arg(long)]
    pub deterministic: bool,
    /// Seed of the random bytes that QEMU gives the program (1 with --deterministic)
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "deterministic")]
    pub seed: u64,
    /// Run a workload that comes with mallacc instead (`mallacc workloads`)
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub workload: Option<String>,
    /// Size of the workload
    #[arg(long, value_enum, default_value_t = Size::Full, requires = "workload")]
    pub size: Size,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROG", required_unless_present = "workload")]
    pub command: Vec<OsString>,
}

/// Sizes of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Size {
    /// Some million instructions, for tests.
    Small,
    /// For measurements.
    Full,
}

/// `mallacc run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub simulation: SimulationArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// `mallacc record`.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// No progress and no summary
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub program: ProgramArgs,
}

/// `mallacc record-mallocs`.
#[derive(Debug, Args)]
pub struct RecordMallocsArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// No summary
    #[arg(long, short)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "PROG", required = true)]
    pub command: Vec<OsString>,
}

/// `mallacc sma-study`.
#[derive(Debug, Args)]
pub struct SmaStudyArgs {
    /// Tables and figures: table1, table2, fig4 to fig13 [default: all]
    #[arg(value_name = "FIGURE")]
    pub figures: Vec<String>,
    /// The folder with the traces
    #[arg(long, value_name = "DIR", default_value = "traces")]
    pub traces: PathBuf,
    /// Accept truncated traces up to where they end
    #[arg(long)]
    pub allow_truncated: bool,
    /// Subsets of each trace [default: 10, with --quick 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub subsets: Option<u32>,
    /// Few, short subsets and few memory sizes: a rough answer in a minute
    #[arg(long)]
    pub quick: bool,
    /// Skip what needs the simulator: cycles in the tables, figures 4 to 7
    #[arg(long)]
    pub no_cycles: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = StudyFormat::Text)]
    pub format: StudyFormat,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Formats of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StudyFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
    /// For spreadsheets: a line for each number.
    Csv,
    /// For documents.
    Markdown,
}

/// `mallacc block`.
#[derive(Debug, Args)]
pub struct BlockArgs {
    /// Machine code in hexadecimal, or `-` for a list on standard input, one block a line
    #[arg(required = true, value_name = "HEX")]
    pub blocks: Vec<String>,
    /// The machine: a name or a file
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Format of the results
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Print a line for each uop with its event cycles
    #[arg(long)]
    pub timeline: bool,
    /// Write the timeline of the first block as an HTML page
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// `mallacc validate`.
#[derive(Debug, Subcommand)]
pub enum Validate {
    /// Blocks with measured throughput, from a CSV file (hex,cycles_per_100_iterations)
    #[command(after_help = "Example:
  mallacc validate blocks bhive.csv --worst 20")]
    Blocks(ValidateBlocksArgs),
    /// Caches, TLBs and memory by pointer chases from 4 KB to 64 MB
    #[command(after_help = "Examples:
  mallacc validate memory
  mallacc validate memory --machine mine.toml --format csv")]
    Memory(ValidateMemoryArgs),
    /// The microbenchmarks timed on this computer, against its core family's machine
    #[command(after_help = "Examples:
  mallacc validate host
  mallacc validate host tp tp_small --quick
  mallacc validate host --machine haswell --format json")]
    Host(ValidateHostArgs),
}

/// `mallacc validate memory`.
#[derive(Debug, Args)]
pub struct ValidateMemoryArgs {
    /// The machine: a name or a file
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Format of the results
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
}

/// `mallacc validate host`.
#[derive(Debug, Args)]
pub struct ValidateHostArgs {
    /// Which microbenchmarks [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// The machine: a name or a file [default: the host's core family]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Format of the results
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Iterations in each repeat [default: 32768, with --quick 2048]
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Repeats, the first a warm-up [default: 13, with --quick 4]
    #[arg(long, value_name = "N")]
    pub repeats: Option<u64>,
    /// How often each program is started [default: 10, with --quick 2]
    #[arg(long, value_name = "N")]
    pub processes: Option<u32>,
    /// Few iterations: a rough answer in seconds
    #[arg(long)]
    pub quick: bool,
    /// Seed of the benchmarks' inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// `mallacc validate blocks`.
#[derive(Debug, Args)]
pub struct ValidateBlocksArgs {
    /// The measurements
    pub file: PathBuf,
    /// The machine: a name or a file
    #[arg(long, default_value = "haswell", value_name = "NAME|FILE")]
    pub machine: String,
    /// Format of the results
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    /// Also list the N blocks with the largest errors
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub worst: usize,
    /// List blocks of this category only: scalar-integer, load, store, mixed, vector, division
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
}

/// `mallacc operations`.
#[derive(Debug, Args)]
pub struct OperationsArgs {
    /// The recording
    pub trace: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Extract at most N operations (k, M and G multiply)
    #[arg(long, value_name = "N", value_parser = sim::plan::count)]
    pub max: Option<u64>,
}

/// `mallacc area`.
#[derive(Debug, Args)]
pub struct AreaArgs {
    /// A program speedup in percent; adds the area per percent of it
    #[arg(long, value_name = "PERCENT")]
    pub speedup: Option<f64>,
}

/// `mallacc replay`.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The recording
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,
    /// Accept a truncated recording up to where it ends
    #[arg(long)]
    pub allow_truncated: bool,
    #[command(flatten)]
    pub simulation: SimulationArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `mallacc micro`.
#[derive(Debug, Args)]
pub struct MicroArgs {
    /// Which microbenchmarks [default: all]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Sweep the malloc cache: 16, 4,8,16 or 2..32 (in steps of 2, or A..B:STEP)
    #[arg(long, value_name = "LIST", value_parser = Entries::parse, conflicts_with = "configs")]
    pub entries: Option<Entries>,
    /// Iterations in each repeat [default: 32768, with --quick 2048]
    #[arg(long, value_name = "N")]
    pub iterations: Option<u64>,
    /// Repeats, the first a warm-up [default: 13, with --quick 4]
    #[arg(long, value_name = "N")]
    pub repeats: Option<u64>,
    /// Few iterations: a rough answer in seconds
    #[arg(long)]
    pub quick: bool,
    /// Seed of the benchmarks' inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub simulation: SimulationArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `mallacc list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The store
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

/// `mallacc show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Number of the run [default: the latest]
    #[arg(value_name = "RUN")]
    pub run: Option<i64>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Show every section
    #[arg(long)]
    pub detail: bool,
    /// Write to a file instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The store
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

/// `mallacc report`.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Runs to compare: numbers, or ranges A..B [default: the latest]
    #[arg(value_name = "RUN", value_parser = crate::report::runs)]
    pub runs: Vec<std::ops::RangeInclusive<i64>>,
    /// The page to write; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// The store
    #[arg(long, value_name = "FILE", default_value = STORE)]
    pub store: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent_and_every_command_has_examples() {
        let command = Cli::command();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("mallacc "), "{} has no example", sub.get_name());
        }
    }

    #[test]
    fn the_help_states_the_budget_and_the_grid_that_hold() {
        let text = Cli::command().find_subcommand_mut("run").unwrap().render_long_help();
        let text = text.to_string();
        let grid = format!(
            "{}M:{}k:{}k",
            SAMPLE.period / 1_000_000,
            SAMPLE.warm / 1000,
            SAMPLE.measure / 1000
        );
        assert!(text.contains(&grid) && text.contains(&BUDGET_INSTRUCTIONS.to_string()), "{text}");
    }

    #[test]
    fn options_after_the_program_are_the_programs() {
        let cli = Cli::parse_from(["mallacc", "run", "--quiet", "perl", "-e", "--quiet", "1"]);
        let Command::Run(args) = cli.command else { panic!("not run") };
        assert_eq!(args.program.command, ["perl", "-e", "--quiet", "1"]);
    }
}
