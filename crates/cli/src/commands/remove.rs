//! `mallacc rm`: removes stored runs.

use std::fmt::Write as _;

use crate::args::RemoveArgs;
use crate::chosen;
use crate::error::Done;
use crate::output::{Stream, print};

/// Runs the command.
pub fn run(args: &RemoveArgs) -> Done {
    let mut store = args.store.open()?;
    let ids = chosen::many(&store, &args.runs)?;
    let mut text = String::new();
    for run in store.list()? {
        if let Some(id) = run.id.filter(|id| ids.contains(id)) {
            let _ = writeln!(text, "removed run {id}: {}", run.labelled_command());
        }
    }
    store.remove(&ids)?;
    print(Stream::Stdout, &text)?;
    Ok(0)
}
