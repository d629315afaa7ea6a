//! The command line.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::error;

mod blocks;
mod catalogue;
mod common;
mod markers;
mod numbers;
mod paper;
mod runs;
mod selector;
mod setup;
mod sma;

pub use blocks::{
    AsmSyntax, BlockArgs, Validate, ValidateBlocksArgs, ValidateHostArgs, ValidateMemoryArgs,
};
pub use catalogue::{MachineFormat, MachinesArgs};
pub use common::{Format, PlaceArgs, ReportArgs};
pub use markers::CheckMarkersArgs;
pub use paper::{Form, PaperArgs};
pub use runs::{
    AreaArgs, DifferenceArgs, ListArgs, MicroArgs, OperationsArgs, PageArgs, RecordArgs,
    RemoveArgs, ReplayArgs, RunArgs, ShowArgs,
};
pub use selector::Selector;
pub use setup::{DoctorArgs, DoctorFormat, SetupArgs};
pub use sma::{RecordMallocsArgs, SmaStudyArgs, StudyFormat};

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
  mallacc diff 3 4                               what differs between two of them";

/// What would hardware support for malloc buy your program?
#[derive(Debug, Parser)]
#[command(name = "mallacc", version, after_help = format!("{EXAMPLES}\n\n{}", error::help()))]
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
    /// Check an allocator's markers, in a program or a recording
    #[command(after_help = "Examples:
  mallacc check-markers -- ./prog              with the guest allocator, or its own
  mallacc check-markers --format json -o findings.json -- ./prog
  mallacc check-markers x.mtrace               a recording

Exit status: the program's own if the markers are clean (0 for a recording), 3 if they are not.")]
    CheckMarkers(CheckMarkersArgs),
    /// Run the allocator microbenchmarks
    #[command(after_help = "Examples:
  mallacc micro                            all six, with the default configurations
  mallacc micro tp_small --entries 2..32   speedup against entries
  mallacc micro --quick gauss gauss_free")]
    Micro(Box<MicroArgs>),
    /// Predict the steady-state cycles, port usage and bottleneck of basic blocks
    #[command(after_help = "Examples:
  mallacc block 4801d8480fafc3                  add rax,rbx; imul rax,rbx
  mallacc block --asm 'add rax, rbx; imul rcx, rax'
  mallacc block --asm @loop.s                   a file with instructions, without labels
  mallacc block --asm - --syntax att < loop.s   the operands as gcc writes them
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
    Paper(Box<PaperArgs>),
    /// List the runs in a store
    #[command(after_help = "Examples:
  mallacc list --store study.db
  mallacc list --label before")]
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
    /// Compare two stored runs: what changed, and which figures differ significantly
    #[command(after_help = "Examples:
  mallacc diff 3 4
  mallacc diff before after --format csv -o diff.csv     by their labels
  mallacc diff 3 4 --detail                              with the counters of every part")]
    Diff(DifferenceArgs),
    /// Remove stored runs, without asking
    #[command(after_help = "Examples:
  mallacc rm 3
  mallacc rm 5..9 12 before     a range, a number, all runs with a label")]
    Rm(RemoveArgs),
    /// List accelerators and their parameters
    #[command(after_help = "Example:
  mallacc accelerators")]
    Accelerators(PlaceArgs),
    /// List machines, or show all parameters of one
    #[command(after_help = "Examples:
  mallacc machines
  mallacc machines haswell
  mallacc machines ./mine.toml
  mallacc machines haswell --format toml -o mine.toml     a machine file to edit")]
    Machines(MachinesArgs),
    /// List the workloads that come with mallacc
    #[command(after_help = "Example:
  mallacc run --workload perl --size small")]
    Workloads(PlaceArgs),
    /// Build a QEMU that runs programs, if there is none
    #[command(after_help = "Examples:
  mallacc setup                        says which QEMU there is; builds one if it will not do
  mallacc setup --dry-run              says what it would do
  mallacc setup --install-packages     also installs the packages that the build lacks
  mallacc setup --archive qemu-10.2.2.tar.xz     without a network
  $(mallacc setup --path) --version    the QEMU that runs use

QEMU is built once for this user, in ~/.cache/mallacc or $XDG_CACHE_HOME/mallacc.
Remove qemu-VERSION in there to be rid of it.")]
    Setup(SetupArgs),
    /// Say what was found of everything that runs need, and what to do
    #[command(after_help = "Examples:
  mallacc doctor
  mallacc doctor --format json -o doctor.json     also the reason for each finding

Exit status: 0 if `mallacc run` would work, 125 if not.")]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Example:
  mallacc completions bash > ~/.local/share/bash-completion/completions/mallacc")]
    Completions {
        /// Which shell
        shell: Shell,
        #[command(flatten)]
        place: PlaceArgs,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use experiments::plan::{BUDGET_INSTRUCTIONS, SAMPLE};

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
