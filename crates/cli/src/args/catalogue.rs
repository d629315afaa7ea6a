//! The arguments of `mallacc machines`.

use clap::{Args, ValueEnum};

use super::common::PlaceArgs;

/// `mallacc machines`.
#[derive(Debug, Args)]
pub struct MachinesArgs {
    /// The machine: a name or a machine file; `-` is stdin
    pub name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = MachineFormat::Table, requires = "name")]
    pub format: MachineFormat,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Formats of a machine's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MachineFormat {
    /// For people: values, defaults and sources.
    #[value(alias = "text")]
    Table,
    /// A machine file with every key, to edit and use with --machine.
    Toml,
}
