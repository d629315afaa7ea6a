//! `mallacc report`: stored runs as one page.

use experiments::Failure;
use results::Run;

use crate::args::PageArgs;
use crate::chosen;
use crate::error::Done;
use crate::output::{Place, Stream, print};

/// A page with more runs than this is too long to read and too large for a phone to open.
const RUNS_MAX: usize = 64;

/// Runs the command.
pub fn run(args: &PageArgs) -> Done {
    let store = args.store.open()?;
    let there = store.ids()?;
    if there.is_empty() {
        return Err(Failure::failed(format!(
            "store {}: has no runs; make one with `mallacc run -- PROGRAM`, or name another store \
             with --store",
            args.store.path.display()
        )));
    }
    let ids = match (args.runs.as_slice(), there.last()) {
        ([], Some(latest)) => vec![*latest],
        (asked, _) => chosen::many(&store, asked)?,
    };
    if ids.len() > RUNS_MAX {
        let count = ids.len();
        return Err(Failure::usage(format!(
            "{count} runs: at most {RUNS_MAX} fit a page; name fewer"
        )));
    }
    let runs: Vec<Run> = ids.into_iter().map(|id| store.load(id)).collect::<Result<_, _>>()?;
    let page = ::report::page(&runs);
    let place = Place::open(Some(&args.output), Stream::Stdout)?;
    let is_file = place.stream().is_none();
    place.write(&page)?;
    if !is_file {
        return Ok(0);
    }
    let what = if runs.len() == 1 { "1 run".into() } else { format!("{} runs", runs.len()) };
    print(Stream::Stderr, &format!("{}: {what}, open it in a browser\n", args.output.display()))?;
    Ok(0)
}
