//! A program under QEMU, simulated as it runs.

use std::time::{Duration, Instant};

use launch::Launched;
use results::Exit;
use results::text::number::counted;
use sim::{ConfigSpec, Plan};
use stream::live::{Fate, LiveCounts};

use crate::companion::Companion;
use crate::error::{Ending, Failure};
use crate::monitor::Monitor;
use crate::session::{self, Finished, Rows};
use crate::target::Target;
use crate::unmeasured;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Runs a program and simulates it. The second value says how the program ended.
pub fn simulate(
    target: &mut Target,
    prepared: launch::Prepared,
    what: (Plan, &[ConfigSpec]),
    rows: &mut Rows,
    monitor: &dyn Monitor,
) -> Result<(Finished, Ending), Failure> {
    let own_allocator = prepared.own_allocator().map(launch::OwnAllocator::clause);
    if let Some(clause) = prepared.warning() {
        monitor.warning(clause);
    }
    let run = target.begin();
    let (mut launched, companion) = target.start(prepared, monitor)?;
    let mut source =
        launched.source().ok_or_else(|| Failure::failed("the stream was taken already"))?;
    let simulated = session::simulate(run, &mut source, what, rows, monitor);
    let counts = source.counts();
    drop(source);
    let mut finished = match simulated {
        Ok(finished) => finished,
        Err(failure) => {
            let _ = launched.kill();
            let _ = launched.wait();
            return Err(failure);
        }
    };
    finished.interrupted |= monitor.signal().is_some();
    let fate = end(&mut launched, &finished, monitor)?;
    monitor.program_ended();
    let ending = conclude(&mut finished, fate, counts, monitor);
    if let (Some(error), 0) = (&finished.error, finished.run.instructions) {
        // The program never ran: there is nothing to report, and nothing is lost.
        return Err(Failure::failed(error.to_string()));
    }
    unmeasured::explain(&mut finished.run, own_allocator);
    if let Some(failure) = companion.and_then(Companion::finish).filter(|_| !finished.interrupted) {
        finished.run.complete = false;
        finished.run.warnings.push(format!("{failure}."));
    }
    rows.finish(&finished.run);
    Ok((finished, ending))
}

/// Lets the program end, or ends it if that was requested.
fn end(
    launched: &mut Launched,
    finished: &Finished,
    monitor: &dyn Monitor,
) -> Result<Fate, Failure> {
    let io = |error| Failure::failed(format!("cannot wait for the program: {error}"));
    if finished.stopped_early || finished.error.is_some() {
        launched.detach();
    }
    match monitor.signal() {
        Some(signal) if finished.interrupted => stop(launched, signal).map_err(io),
        _ => launched.wait().map_err(io),
    }
}

/// Waits for a program whose stream was read by something else than machines, or ends it if the
/// user asked for that, and then for its client.
pub fn until_its_end(
    mut launched: Launched,
    companion: Option<Companion>,
    monitor: &dyn Monitor,
) -> Result<Ending, Failure> {
    let io = |error| Failure::failed(format!("cannot wait for the program: {error}"));
    let asked = monitor.signal();
    let fate = match asked {
        Some(signal) => stop(&mut launched, signal).map_err(io)?,
        None => launched.wait().map_err(io)?,
    };
    monitor.program_ended();
    if let Some(failure) = companion.and_then(Companion::finish).filter(|_| asked.is_none()) {
        monitor.warning(&failure);
    }
    Ok(match (asked, fate) {
        (Some(signal), _) => Ending::Interrupted(signal),
        (None, Fate::Exited(code)) => Ending::Program(Some(Exit::Code(code))),
        (None, Fate::Killed(signal)) => Ending::Program(Some(Exit::Signal(signal))),
        (None, _) => Ending::Program(None),
    })
}

/// Asks a program to end by a signal, and kills it after a while.
fn stop(launched: &mut Launched, signal: i32) -> std::io::Result<Fate> {
    let deadline = Instant::now() + GRACE;
    if let Ok(pid) = i32::try_from(launched.pid()) {
        // SAFETY: kill(2) with the number of a child that has not been waited for yet.
        unsafe { libc::kill(pid, signal) };
    }
    while Instant::now() < deadline {
        match launched.try_wait()? {
            Fate::Running => std::thread::sleep(Duration::from_millis(10)),
            fate => return Ok(fate),
        }
    }
    launched.kill()?;
    launched.wait()
}

/// Adds how the program ended.
fn conclude(
    finished: &mut Finished,
    fate: Fate,
    counts: LiveCounts,
    monitor: &dyn Monitor,
) -> Ending {
    let run = &mut finished.run;
    if counts.broken_markers > 0 {
        run.warnings.push(format!(
            "ignored {} without operand stores; build the program's allocator with \
             guest/include/mallacc.h.",
            counted(counts.broken_markers, "marker", "markers")
        ));
    }
    if finished.interrupted {
        run.complete = false;
        run.exit = None;
        let text = "interrupted: the figures cover what ran until then.".to_owned();
        if !run.warnings.contains(&text) {
            run.warnings.push(text);
        }
        return Ending::Interrupted(monitor.signal().unwrap_or(libc::SIGINT));
    }
    run.exit = match fate {
        Fate::Exited(code) => Some(Exit::Code(code)),
        Fate::Killed(signal) => Some(Exit::Signal(signal)),
        Fate::Running | Fate::Unknown => run.exit,
    };
    Ending::Program(run.exit)
}
