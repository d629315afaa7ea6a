//! Hides when files were last read, so that a run does not depend on earlier runs.
//!
//! A program that queries a file's metadata also gets the time of its last access, and earlier runs
//! of the program are such accesses: on a fresh machine the first run changes what the second one
//! sees. Python converts that time to numbers, which takes fewer instructions for a whole number of
//! seconds. In deterministic runs the time of last access is therefore replaced by the time of last
//! change, as on a file system that does not record access times.

use crate::guest;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

static HIDDEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Address that the system call in progress writes its result to.
    static ANSWER: Cell<u64> = const { Cell::new(0) };
}

/// A call's result: offsets of the times of last access and last change, and the size of a time.
struct Answer {
    access: u64,
    change: u64,
    len: usize,
}

/// `struct stat`: `st_atim` and `st_mtim` of 16 bytes (the kernel's `asm/stat.h`).
const STAT: Answer = Answer { access: 72, change: 88, len: 16 };
/// `struct statx`: `stx_atime` and `stx_mtime`, of 12 bytes and padding (`linux/stat.h`).
const STATX: Answer = Answer { access: 64, change: 112, len: 12 };

/// The calls that return an access time: number, index of the result pointer among the arguments 2,
/// 3 and 5, and layout. They are stat, fstat, lstat, newfstatat, statx.
const CALLS: [(i64, usize, Answer); 5] =
    [(4, 0, STAT), (5, 0, STAT), (6, 0, STAT), (262, 1, STAT), (332, 2, STATX)];

/// Whether access times are hidden.
pub fn set_hidden(hidden: bool) {
    HIDDEN.store(hidden, Relaxed);
}

fn call(num: i64) -> Option<&'static (i64, usize, Answer)> {
    if !HIDDEN.load(Relaxed) {
        return None;
    }
    CALLS.iter().find(|call| call.0 == num)
}

/// Remembers where a call writes its result, from its arguments 2, 3 and 5.
pub fn before(num: i64, arguments: [u64; 3]) {
    if let Some((_, at, _)) = call(num) {
        ANSWER.set(arguments[*at]);
    }
}

/// Hides the access time in the result of a call that succeeded.
pub fn after(num: i64, result: i64) {
    let Some((_, _, answer)) = call(num).filter(|_| result == 0) else { return };
    let [change, access] = [answer.change, answer.access].map(|at| ANSWER.get().wrapping_add(at));
    // SAFETY: the call succeeded, so the kernel has just written the whole answer.
    unsafe { guest::copy(change, access, answer.len) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn calls_and_the_forms_of_their_answers_are_those_of_the_system() {
        let numbers = [
            libc::SYS_stat,
            libc::SYS_fstat,
            libc::SYS_lstat,
            libc::SYS_newfstatat,
            libc::SYS_statx,
        ];
        assert_eq!(CALLS.map(|(number, ..)| number), numbers);
        assert_eq!(STAT.access as usize, offset_of!(libc::stat, st_atime));
        assert_eq!(STAT.change as usize, offset_of!(libc::stat, st_mtime));
        assert_eq!(STAT.len, offset_of!(libc::stat, st_mtime) - offset_of!(libc::stat, st_atime));
        assert_eq!(STATX.access as usize, offset_of!(libc::statx, stx_atime));
        assert_eq!(STATX.change as usize, offset_of!(libc::statx, stx_mtime));
        let nanoseconds = offset_of!(libc::statx_timestamp, tv_nsec);
        assert_eq!(STATX.len, nanoseconds + size_of::<u32>());
    }
}
