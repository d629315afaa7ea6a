//! The folder for what is built: one build at a time, half-finished ones removed, results moved
//! into place in one step.

use crate::child::Log;
use crate::error::{SetupError, io_error};
use crate::observer::Observer;
use crate::space::{self, NEEDED};
use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything of a build that is not finished.
const BUILDING: &str = "building";
/// Held during a build; contains the number of the process that holds it.
const LOCK: &str = "setup.lock";
/// The output of the latest build.
const LOG: &str = "setup.log";
/// How often a lock that another process holds is tried.
const TICK: Duration = Duration::from_millis(200);
/// How often a folder is removed anew in which something was made meanwhile.
const ATTEMPTS: u32 = 20;

/// The cache, locked. When it is dropped, nothing of an unfinished build stays.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    building: PathBuf,
    _lock: File,
}

impl Cache {
    /// Locks the cache, waiting for whoever else builds; removes what a killed build left.
    pub fn open(folder: &Path, observer: &dyn Observer) -> Result<Self, SetupError> {
        fs::create_dir_all(folder).map_err(io_error("cannot make", folder))?;
        let lock = lock(&folder.join(LOCK), observer)?;
        let building = folder.join(BUILDING);
        if building.exists() {
            observer.step("removing what a build left that did not finish");
            remove(&building).map_err(io_error("cannot remove", &building))?;
        }
        fs::create_dir(&building).map_err(io_error("cannot make", &building))?;
        Ok(Self { folder: folder.to_owned(), building, _lock: lock })
    }

    /// The folder for everything that a build makes.
    pub fn building(&self) -> &Path {
        &self.building
    }

    /// An empty log for a build, which stays.
    pub fn log(&self) -> Result<Log, SetupError> {
        Log::create(self.folder.join(LOG))
    }

    /// An error if a build would not fit.
    pub fn has_space(&self) -> Result<(), SetupError> {
        match space::free(&self.building) {
            Some(free) if free < NEEDED => Err(space::full(&self.folder)),
            _ => Ok(()),
        }
    }

    /// Moves a finished folder to its place in one step: whoever looks there finds the old one or
    /// the new one, whole.
    pub fn finish(&self, finished: &Path, name: &str) -> Result<PathBuf, SetupError> {
        let place = self.folder.join(name);
        if exchange(finished, &place).is_err() {
            // Nothing is there yet, or this file system cannot exchange.
            if place.exists() {
                let old = self.building.join("old");
                fs::rename(&place, &old).map_err(io_error("cannot replace", &place))?;
            }
            fs::rename(finished, &place).map_err(io_error("cannot write", &place))?;
        }
        Ok(place)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = remove(&self.building);
    }
}

/// Removes a folder in which a program that is just being ended may still write.
fn remove(folder: &Path) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return Ok(());
        }
        std::thread::sleep(TICK / 4);
    }
    fs::remove_dir_all(folder)
}

/// Takes the lock, which ends with this process at the latest.
fn lock(path: &Path, observer: &dyn Observer) -> Result<File, SetupError> {
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(false).read(true).write(true).open(path);
    let mut file = opened.map_err(io_error("cannot write", path))?;
    let mut told = false;
    loop {
        // SAFETY: flock(2) of a descriptor that is open.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::WouldBlock {
            return Err(io_error("cannot lock", path)(error));
        }
        if observer.stopped() {
            return Err(SetupError::Stopped);
        }
        if !told {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim();
            observer.step(&format!("waiting for the build of another mallacc setup ({holder})"));
            told = true;
        }
        std::thread::sleep(TICK);
    }
    let text = format!("process {}\n", std::process::id());
    let written = file.rewind().and_then(|()| file.set_len(0));
    written
        .and_then(|()| file.write_all(text.as_bytes()))
        .map_err(io_error("cannot write", path))?;
    Ok(file)
}

/// Exchanges two folders in one step.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let name = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other);
    let (one, other) = (name(one)?, name(other)?);
    let (here, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: two strings that end in zero.
    let done = unsafe { libc::renameat2(here, one.as_ptr(), here, other.as_ptr(), flags) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Default)]
    struct Seen {
        steps: Mutex<Vec<String>>,
        stop: AtomicBool,
    }

    impl Observer for Seen {
        fn step(&self, text: &str) {
            self.steps.lock().unwrap().push(text.to_owned());
            self.stop.store(true, Ordering::Relaxed);
        }
        fn progress(&self, _: crate::Progress) {}
        fn stopped(&self) -> bool {
            self.stop.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_second_one_waits_and_says_for_whom_until_it_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let seen = Seen::default();
        let first = Cache::open(folder.path(), &seen).unwrap();
        assert_eq!(*seen.steps.lock().unwrap(), [""; 0]);
        let second = Cache::open(folder.path(), &seen);
        assert!(matches!(second, Err(SetupError::Stopped)));
        let steps = seen.steps.lock().unwrap().concat();
        assert!(steps.contains(&format!("process {}", std::process::id())), "{steps}");
        assert!(first.building().exists(), "the first one's folder is its own");
        drop(first);
        let seen = Seen::default();
        Cache::open(folder.path(), &seen).unwrap();
        assert_eq!(*seen.steps.lock().unwrap(), [""; 0], "the lock is free again");
    }

    #[test]
    fn what_a_killed_build_left_is_removed_and_results_replace_results() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(BUILDING).join("tree");
        fs::create_dir_all(&left).unwrap();
        let seen = Seen::default();
        let cache = Cache::open(folder.path(), &seen).unwrap();
        assert!(!left.exists() && seen.steps.lock().unwrap().len() == 1);
        for text in ["one", "two"] {
            let finished = cache.building().join("finished");
            fs::create_dir(&finished).unwrap();
            fs::write(finished.join("it"), text).unwrap();
            let place = cache.finish(&finished, "qemu-1").unwrap();
            assert_eq!(fs::read_to_string(place.join("it")).unwrap(), text);
            let _ = fs::remove_dir_all(&finished);
        }
        drop(cache);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        let mut names: Vec<_> = left.iter().map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["qemu-1", LOCK]);
    }
}
