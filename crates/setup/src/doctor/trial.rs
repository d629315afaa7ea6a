//! A shell that is run as `mallacc run` runs programs: whatever forbids it, this finds it.

use super::finding::{Finding, Group, State};
use launch::{Fate, Options, Paths, prepare};
use std::io::Read;
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;
use stream::{Packet, Source};

/// The status that shows that the shell has really run.
const STATUS: i32 = 42;
/// A shell takes a second at most; a QEMU that hangs is ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs it.
pub fn examine() -> Finding {
    let rule = "plugin, shared memory and QEMU must work together under this system's limits";
    let finding = Finding::new(Group::Runs, "trial run", rule);
    match run() {
        Ok(blocks) => finding.ok(format!("a shell ran under it: {blocks} blocks of code")),
        Err(why) => {
            let remedy = "see the limits below; another QEMU may help (`mallacc setup --force`)";
            finding.but(State::Missing, why, remedy)
        }
    }
}

/// The number of different blocks that the shell executed, or what went wrong.
fn run() -> Result<usize, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let options = Options::new(Paths::find().map_err(|error| text(&error))?);
    let args = ["-c".into(), format!("exit {STATUS}").into()];
    let prepared = prepare("/bin/sh".as_ref(), &args, options).map_err(|error| text(&error))?;
    let (mut stderr, writer) = std::io::pipe().map_err(|error| text(&error))?;
    let mut launched = prepared
        .spawn_with(|command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer);
        })
        .map_err(|error| text(&error))?;
    let pid = launched.pid();
    let (done, waits) = channel::<()>();
    let guard = std::thread::spawn(move || {
        if waits
            .recv_timeout(PATIENCE)
            .is_err_and(|e| e == std::sync::mpsc::RecvTimeoutError::Timeout)
            && let Ok(pid) = i32::try_from(pid)
        {
            // SAFETY: kill(2) of a child that is not waited for before this thread has ended.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
    });
    let (mut blocks, mut packet, mut broken) = (0, Packet::default(), None);
    if let Some(mut source) = launched.source() {
        loop {
            match source.next(&mut packet) {
                Ok(true) => blocks += packet.blocks.len(),
                Ok(false) => break,
                Err(error) => {
                    broken = Some(error.to_string());
                    break;
                }
            }
        }
    }
    drop(done);
    let _ = guard.join();
    let fate = launched.wait().map_err(|error| text(&error))?;
    let mut said = String::new();
    let _ = stderr.read_to_string(&mut said);
    match (fate, broken, said.lines().next()) {
        (Fate::Exited(STATUS), None, _) if blocks > 0 => Ok(blocks),
        (_, _, Some(line)) => Err(line.to_owned()),
        (_, Some(error), None) => Err(error),
        (fate, None, None) => Err(format!("it ends with {fate:?}, not with status {STATUS}")),
    }
}
