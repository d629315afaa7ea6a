//! `mallacc report`: stored runs as one page.

use std::ops::RangeInclusive;

use experiments::Failure;
use results::Run;
use results::store::Store;

use crate::args::PageArgs;
use crate::error::Done;
use crate::output::{Place, Stream, print};

/// A page with more runs than this is too long to read and too large for a phone to open.
const RUNS_MAX: usize = 64;

/// Runs the command.
pub fn run(args: &PageArgs) -> Done {
    let store = Store::open_existing(&args.store)?;
    let there = store.ids()?;
    if there.is_empty() {
        return Err(Failure::failed(format!(
            "store {}: has no runs; make one with `mallacc run -- PROGRAM`, or name another store \
             with --store",
            args.store.display()
        )));
    }
    let ids = chosen(&there, &args.runs)?;
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

/// The requested runs, each once, in the order of the command line. A missing number is left for
/// the store to report; of a range, those that exist are taken.
fn chosen(there: &[i64], asked: &[RangeInclusive<i64>]) -> Result<Vec<i64>, Failure> {
    if asked.is_empty() {
        return Ok(there.last().copied().into_iter().collect());
    }
    let mut ids: Vec<i64> = Vec::new();
    for range in asked {
        let (first, last) = (*range.start(), *range.end());
        let mut found: Vec<i64> = there.iter().copied().filter(|id| range.contains(id)).collect();
        if found.is_empty() && first != last {
            return Err(Failure::failed(format!(
                "runs {first}..{last}: none of them is in the store; `mallacc list` shows what is"
            )));
        }
        if found.is_empty() {
            found.push(first);
        }
        ids.extend(found);
    }
    let mut seen = std::collections::BTreeSet::new();
    ids.retain(|id| seen.insert(*id));
    if ids.len() > RUNS_MAX {
        let count = ids.len();
        return Err(Failure::usage(format!(
            "{count} runs: at most {RUNS_MAX} fit a page; name fewer"
        )));
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_comes_once_in_the_order_asked_for_and_no_argument_is_the_latest() {
        let there = [1, 2, 5, 6, 9];
        assert_eq!(chosen(&there, &[]).unwrap(), [9]);
        assert_eq!(chosen(&there, &[9..=9, 2..=6, 5..=5]).unwrap(), [9, 2, 5, 6]);
        // The store reports that there is no run 7, and which there are.
        assert_eq!(chosen(&there, &[7..=7]).unwrap(), [7]);
        assert!(chosen(&there, &[10..=20]).unwrap_err().text.contains("10..20"));
    }
}
