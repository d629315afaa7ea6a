//! The arguments of `mallacc check-markers`.

use clap::Args;
use experiments::Failure;
use experiments::target::Target;
use std::ffi::OsString;
use std::path::PathBuf;

use super::common::{Format, PlaceArgs, Size, target};

/// `mallacc check-markers`.
#[derive(Debug, Args)]
pub struct CheckMarkersArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Accept a truncated recording, as far as it goes
    #[arg(long)]
    pub allow_truncated: bool,
    /// Suppress progress
    #[arg(long, short)]
    pub quiet: bool,
    /// Fix QEMU's seed, the hash seeds of Perl and Python, and the size of the environment
    #[arg(long, conflicts_with = "trace")]
    pub deterministic: bool,
    /// Preload this library instead of the guest allocator; `none` leaves the program its own
    #[arg(long, conflicts_with = "trace", value_name = "LIB|none")]
    pub allocator: Option<PathBuf>,
    /// Run this workload instead of a program of your own (`mallacc workloads`)
    #[arg(long, value_name = "NAME", conflicts_with_all = ["trace", "command"])]
    pub workload: Option<String>,
    /// Size of the workload
    #[arg(long, value_enum, default_value_t = Size::Full, requires = "workload")]
    pub size: Size,
    /// The recording; `-` is stdin
    #[arg(value_name = "TRACE", required_unless_present_any = ["workload", "command"])]
    pub trace: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, value_name = "PROG", conflicts_with = "trace")]
    pub command: Vec<OsString>,
}

impl CheckMarkersArgs {
    /// The program, if it is no recording.
    pub fn target(&self) -> Result<Target, Failure> {
        let workload = self.workload.as_deref().map(|name| (name, self.size));
        let mut target = target(workload, &self.command, self.allocator.as_deref())?;
        target.deterministic = self.deterministic;
        Ok(target)
    }
}
