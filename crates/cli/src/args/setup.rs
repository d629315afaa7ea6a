//! The arguments of `mallacc setup` and `mallacc doctor`.

use clap::{Args, ValueEnum};
use setup::Request;

use super::common::PlaceArgs;
use super::numbers::jobs;

/// `mallacc setup`.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// Build from this source archive of QEMU, a file or an address
    /// [default: Debian's source package, else QEMU's own release]
    #[arg(long, value_name = "FILE|URL", conflicts_with = "path")]
    pub archive: Option<String>,
    /// The SHA-256 of that archive, if it is none of the known ones
    #[arg(long, value_name = "SUM", requires = "archive", value_parser = sum)]
    pub sha256: Option<String>,
    /// Build even if there is a QEMU that will do
    #[arg(long, conflicts_with = "path")]
    pub force: bool,
    /// Install the Debian packages that the build lacks, with sudo if need be
    #[arg(long, conflicts_with = "path")]
    pub install_packages: bool,
    /// Say what would be done, and do nothing
    #[arg(long, conflicts_with = "path")]
    pub dry_run: bool,
    /// Print only the path of the QEMU that runs use
    #[arg(long)]
    pub path: bool,
    /// Parallel jobs of the build [default: all processors]
    #[arg(long, short, value_name = "N", value_parser = jobs, allow_hyphen_values = true)]
    pub jobs: Option<usize>,
}

impl SetupArgs {
    /// What they ask for.
    pub fn request(&self) -> Request {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        Request {
            archive: self.archive.clone(),
            sha256: self.sha256.clone(),
            force: self.force,
            install_packages: self.install_packages,
            jobs: self.jobs.unwrap_or_else(all),
        }
    }
}

/// A SHA-256 in hexadecimal.
fn sum(text: &str) -> Result<String, String> {
    let whole = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if whole { Ok(text.to_lowercase()) } else { Err("a SHA-256 has 64 hexadecimal digits".into()) }
}

/// `mallacc doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = DoctorFormat::Table)]
    pub format: DoctorFormat,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Formats of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For people.
    #[value(alias = "text")]
    Table,
    /// For programs: also the reason for each finding.
    Json,
}
