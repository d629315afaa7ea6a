//! A running program.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use stream::live::{Fate, LiveRing, LiveSource, Stopper};

/// A program that has been started. Dropping it neither stops the program nor waits for it.
pub struct Launched {
    child: Child,
    ring: Option<LiveRing>,
    stopper: Stopper,
    fate: Arc<Mutex<Option<Fate>>>,
}

impl Launched {
    pub(crate) fn new(child: Child, ring: LiveRing) -> Self {
        let stopper = ring.stopper();
        Self { child, ring: Some(ring), stopper, fate: Arc::default() }
    }

    /// The program's stream; only the first call returns it.
    pub fn source(&mut self) -> Option<LiveSource> {
        let (pid, fate) = (self.child.id(), Arc::clone(&self.fate));
        let watch = move || match *fate.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(known) => known,
            None => peek(pid),
        };
        self.ring.take().map(|ring| ring.into_source(Box::new(watch)))
    }

    /// The process that runs the program (QEMU's, and therefore also the program's own process
    /// number).
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the program to end.
    pub fn wait(&mut self) -> std::io::Result<Fate> {
        let status = self.child.wait()?;
        Ok(self.remember(status))
    }

    /// The program's state, without waiting.
    pub fn try_wait(&mut self) -> std::io::Result<Fate> {
        Ok(self.child.try_wait()?.map_or(Fate::Running, |status| self.remember(status)))
    }

    /// Kills the program.
    pub fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()
    }

    /// Lets the program continue without being traced; the source ends.
    pub fn detach(&self) {
        self.stopper.detach();
    }

    /// A handle with which another thread can detach.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    fn remember(&self, status: ExitStatus) -> Fate {
        let fate = match (status.code(), status.signal()) {
            (Some(code), _) => Fate::Exited(code),
            (None, Some(signal)) => Fate::Killed(signal),
            (None, None) => Fate::Unknown,
        };
        *self.fate.lock().unwrap_or_else(PoisonError::into_inner) = Some(fate);
        fate
    }
}

/// The state of a child, without collecting it: that is left to [`Launched::wait`].
fn peek(pid: u32) -> Fate {
    // SAFETY: zeroes are a valid `siginfo_t`; the call fills it.
    let (result, info) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        (libc::waitid(libc::P_PID, pid, &raw mut info, flags), info)
    };
    if result != 0 {
        return Fate::Unknown;
    }
    // SAFETY: waitid has filled the fields of SIGCHLD, or left zeroes if the child is running.
    let (who, status) = unsafe { (info.si_pid(), info.si_status()) };
    match (who, info.si_code) {
        (0, _) => Fate::Running,
        (_, libc::CLD_EXITED) => Fate::Exited(status),
        (_, libc::CLD_KILLED | libc::CLD_DUMPED) => Fate::Killed(status),
        _ => Fate::Unknown,
    }
}
