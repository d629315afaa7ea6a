//! Ctrl-C and similar signals: the first requests an orderly end, the second ends at once.
//!
//! The handler only writes the signal's number into a pipe; a separate thread does the rest.

use std::io::Read;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use experiments::monitor::Stopper;

use crate::error::SIGNALLED;

/// Set once an end has been requested.
static STOP: AtomicBool = AtomicBool::new(false);
/// The first signal that requested it.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Where the handler writes.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// The program to kill at the second signal; 0 if none.
static PROGRAM: AtomicU32 = AtomicU32::new(0);
/// What ends the stream.
static STOPPER: Mutex<Option<Stopper>> = Mutex::new(None);
static INSTALLED: OnceLock<()> = OnceLock::new();

extern "C" fn handler(signal: libc::c_int) {
    let byte = signal as u8;
    // SAFETY: write(2) is allowed in a handler; the byte outlives the call.
    unsafe { libc::write(PIPE.load(Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on. Returns the flag that they set.
pub fn install() -> &'static AtomicBool {
    INSTALLED.get_or_init(|| {
        let mut ends = [0; 2];
        // SAFETY: `ends` has room for the two descriptors.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return;
        }
        PIPE.store(ends[1], Ordering::Relaxed);
        // SAFETY: the descriptor is new and has no other owner.
        let read = unsafe { std::fs::File::from_raw_fd(ends[0]) };
        let thread = std::thread::Builder::new().name("signals".into());
        if thread.spawn(move || watch(read)).is_err() {
            return;
        }
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            catch(signal);
        }
    });
    &STOP
}

fn catch(signal: libc::c_int) {
    // SAFETY: zeroes are a valid `sigaction`; the handler is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        // nohup(1) asks for hang-ups to be ignored.
        if signal == libc::SIGHUP && action.sa_sigaction == libc::SIG_IGN {
            return;
        }
        action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

fn watch(mut pipe: std::fs::File) {
    let mut byte = [0];
    while pipe.read_exact(&mut byte).is_ok() {
        if STOP.swap(true, Ordering::SeqCst) {
            kill_program();
            std::process::exit(i32::from(SIGNALLED) + i32::from(byte[0]));
        }
        SIGNAL.store(i32::from(byte[0]), Ordering::SeqCst);
        if let Some(stopper) = &*STOPPER.lock().unwrap_or_else(PoisonError::into_inner) {
            stopper.detach();
        }
    }
}

/// From now on, a first signal ends this stream and a second one kills this program.
pub fn watch_program(stopper: Stopper, pid: u32) {
    PROGRAM.store(pid, Ordering::SeqCst);
    let mut slot = STOPPER.lock().unwrap_or_else(PoisonError::into_inner);
    if STOP.load(Ordering::SeqCst) {
        stopper.detach();
    }
    *slot = Some(stopper);
}

/// The program has been waited for: its process number may belong to another process now.
pub fn forget_program() {
    PROGRAM.store(0, Ordering::SeqCst);
}

/// The signal that requested an end, if any.
pub fn signal() -> Option<i32> {
    Some(SIGNAL.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
}

fn kill_program() {
    if let Ok(pid @ 1..) = i32::try_from(PROGRAM.load(Ordering::SeqCst)) {
        // SAFETY: kill(2) with the number of a child that has not been waited for yet.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}
