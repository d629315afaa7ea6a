//! A process that runs natively beside a simulated program: the client of a server.
//!
//! It runs outside the simulation, so the program never has to fork for it. The client ends the
//! program by whatever means the program offers. If the client fails, the program would wait
//! forever: it is sent SIGTERM. When the program has ended, a client still running is killed.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::error::Failure;

/// Interval between checks of the client.
const INTERVAL: Duration = Duration::from_millis(20);
/// How long the client may continue after the program has ended.
const GRACE: Duration = Duration::from_secs(5);

/// A running client.
pub struct Companion {
    child: Arc<Mutex<Child>>,
    over: Arc<AtomicBool>,
    watcher: Option<JoinHandle<Option<String>>>,
}

impl Companion {
    /// Starts the client of the program with this process number. Its stdout is discarded.
    pub fn start(words: &[String], program: u32) -> Result<Self, Failure> {
        let Some((name, args)) = words.split_first() else {
            return Err(Failure::usage("the workload's client has no program"));
        };
        let mut command = Command::new(name);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.spawn();
        let child = child.map_err(|e| Failure::failed(format!("client {name}: {e}")))?;
        let (child, over) = (Arc::new(Mutex::new(child)), Arc::new(AtomicBool::new(false)));
        let watched = (Arc::clone(&child), Arc::clone(&over), name.clone());
        let watcher = std::thread::Builder::new().name("client".into());
        let watcher = watcher.spawn(move || watch(&watched.0, &watched.1, &watched.2, program));
        let watcher = watcher.map_err(|e| Failure::failed(format!("client {name}: {e}")))?;
        Ok(Self { child, over, watcher: Some(watcher) })
    }

    /// After the program's end: what went wrong with the client, if anything did.
    pub fn finish(mut self) -> Option<String> {
        self.end()
    }

    fn end(&mut self) -> Option<String> {
        self.over.store(true, Ordering::SeqCst);
        self.watcher.take().and_then(|watcher| watcher.join().ok().flatten())
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if self.watcher.is_some() {
            let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
            self.end();
        }
    }
}

/// Waits for the client; returns what went wrong.
fn watch(child: &Mutex<Child>, over: &AtomicBool, name: &str, program: u32) -> Option<String> {
    let mut left = GRACE;
    loop {
        let mut client = child.lock().unwrap_or_else(PoisonError::into_inner);
        match client.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => {
                drop(client);
                if !over.load(Ordering::SeqCst) {
                    terminate(program);
                }
                return Some(format!("the client {name} failed ({status})"));
            }
            Err(error) => return Some(format!("the client {name}: {error}")),
        }
        if over.load(Ordering::SeqCst) {
            if left.is_zero() {
                let _ = client.kill();
                let _ = client.wait();
                return Some(format!(
                    "the client {name} was still running after the program ended"
                ));
            }
            left = left.saturating_sub(INTERVAL);
        }
        drop(client);
        std::thread::sleep(INTERVAL);
    }
}

fn terminate(program: u32) {
    if let Ok(pid @ 1..) = i32::try_from(program) {
        // SAFETY: kill(2) with the number of a child of this process that has not been waited for:
        // `over` is set only after that.
        unsafe { libc::kill(pid, libc::SIGTERM) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_client_that_succeeds_leaves_the_program_alone() {
        let mut program = Command::new("sleep").arg("60").spawn().unwrap();
        let client = Companion::start(&words("true"), program.id()).unwrap();
        assert_eq!(client.finish(), None);
        assert!(program.try_wait().unwrap().is_none());
        program.kill().unwrap();
        program.wait().unwrap();
    }

    #[test]
    fn a_client_that_fails_ends_the_program() {
        let mut program = Command::new("sleep").arg("60").spawn().unwrap();
        let client = Companion::start(&words("false"), program.id()).unwrap();
        assert_eq!(program.wait().unwrap().signal(), Some(libc::SIGTERM));
        assert!(client.finish().unwrap().contains("false failed"));
    }

    #[test]
    fn a_client_that_was_given_up_is_killed() {
        let begun = std::time::Instant::now();
        drop(Companion::start(&words("sleep 60"), 0).unwrap());
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}
