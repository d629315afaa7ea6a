//! Commands that run nothing: list, show, machines, accelerators, workloads, completions.

use clap::CommandFactory;
use clap_complete::Shell;
use experiments::{Failure, catalogue, workload};
use results::store::Store;
use results::text;
use std::fmt::Write as _;

use crate::args::{Cli, ListArgs, ReportArgs, ShowArgs};
use crate::error::Done;
use crate::output::{Output, Stream, print, style};

/// `mallacc list`.
pub fn list(args: &ListArgs) -> Done {
    let runs = Store::open_existing(&args.store)?.list()?;
    if runs.is_empty() {
        return Err(no_runs(&args.store));
    }
    print(Stream::Stdout, &text::list(&runs, &style(Stream::Stdout)))?;
    Ok(0)
}

fn no_runs(store: &std::path::Path) -> Failure {
    Failure::failed(format!(
        "store {}: holds no runs yet; make one with `mallacc run -- PROGRAM`",
        store.display()
    ))
}

/// `mallacc show`.
pub fn show(args: &ShowArgs) -> Done {
    let store = Store::open_existing(&args.store)?;
    let id = match (args.run, store.ids()?.last()) {
        (Some(id), _) => id,
        (None, Some(&latest)) => latest,
        (None, None) => return Err(no_runs(&args.store)),
    };
    let run = store.load(id)?;
    let report = ReportArgs {
        format: args.format,
        output: args.output.clone(),
        detail: args.detail,
        ..ReportArgs::default()
    };
    Output::open(&report, Stream::Stdout)?.run(&run)?;
    Ok(0)
}

/// `mallacc accelerators`.
pub fn accelerators() -> Done {
    print(Stream::Stdout, &catalogue::accelerators())?;
    Ok(0)
}

/// `mallacc machines`.
pub fn machines(name: Option<&str>) -> Done {
    print(Stream::Stdout, &catalogue::machines(name)?)?;
    Ok(0)
}

/// `mallacc workloads`.
pub fn workloads() -> Done {
    let mut text = String::new();
    for workload in workload::list()? {
        let packages = workload.packages.join(" ");
        let _ = writeln!(text, "{:17} {} (needs {packages})", workload.name, workload.description);
    }
    text += "\nRun one with: mallacc run --workload NAME [--size small]\n";
    print(Stream::Stdout, &text)?;
    Ok(0)
}

/// `mallacc completions`.
pub fn completions(shell: Shell) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mallacc", &mut text);
    let text = String::from_utf8(text).map_err(|_| Failure::failed("completions are not text"))?;
    print(Stream::Stdout, &text)?;
    Ok(0)
}
