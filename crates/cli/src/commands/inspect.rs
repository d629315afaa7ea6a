//! Commands that run nothing: list, show, machines, accelerators, workloads, completions.

use clap::CommandFactory;
use clap_complete::Shell;
use experiments::{Failure, catalogue, workload};
use results::text;
use std::fmt::Write as _;

use crate::args::{Cli, ListArgs, MachineFormat, MachinesArgs, PlaceArgs, ReportArgs, ShowArgs};
use crate::chosen;
use crate::error::Done;
use crate::output::{Output, Stream, style_at};

/// `mallacc list`.
pub fn list(args: &ListArgs) -> Done {
    let store = args.store.open()?;
    let mut runs = store.list()?;
    if runs.is_empty() {
        return Err(no_runs(&args.store.path));
    }
    if let Some(label) = &args.label {
        let ids = chosen::labelled(&store, label)?;
        runs.retain(|run| run.id.is_some_and(|id| ids.contains(&id)));
    }
    let place = args.place.open()?;
    let text = text::list(&runs, &style_at(&place));
    place.write(&text)?;
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
    let store = args.store.open()?;
    let id = match (&args.run, store.ids()?.last()) {
        (Some(selector), _) => chosen::one(&store, selector)?,
        (None, Some(&latest)) => latest,
        (None, None) => return Err(no_runs(&args.store.path)),
    };
    let run = store.load(id)?;
    let report = ReportArgs {
        format: args.format,
        output: args.place.output.clone(),
        detail: args.detail,
        ..ReportArgs::default()
    };
    let output = Output::open(&report, Stream::Stdout)?;
    let document = output.document(&run);
    output.stored(&document)?;
    Ok(0)
}

/// `mallacc accelerators`.
pub fn accelerators(place: &PlaceArgs) -> Done {
    place.open()?.write(&catalogue::accelerators())?;
    Ok(0)
}

/// `mallacc machines`.
pub fn machines(args: &MachinesArgs) -> Done {
    let text = match (args.name.as_deref(), args.format) {
        (None, _) => catalogue::machines(),
        (Some(name), MachineFormat::Table) => catalogue::machine(name)?,
        (Some(name), MachineFormat::Toml) => catalogue::machine_as_toml(name)?,
    };
    args.place.open()?.write(&text)?;
    Ok(0)
}

/// `mallacc workloads`.
pub fn workloads(place: &PlaceArgs) -> Done {
    let mut text = String::new();
    for workload in workload::list()? {
        let packages = workload.packages.join(" ");
        let _ = writeln!(text, "{:17} {} (needs {packages})", workload.name, workload.description);
    }
    text += "\nRun one with: mallacc run --workload NAME [--size small]\n";
    place.open()?.write(&text)?;
    Ok(0)
}

/// `mallacc completions`.
pub fn completions(shell: Shell, place: &PlaceArgs) -> Done {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mallacc", &mut text);
    let text = String::from_utf8(text).map_err(|_| Failure::failed("completions are not text"))?;
    place.open()?.write(&text)?;
    Ok(0)
}
