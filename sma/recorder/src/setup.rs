//! The first event of a process: finds the raw file and claims it.

use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use traces::raw::{MAGIC, RECORDS_OFFSET, RawHeader, VARIABLE};

/// Longest path of a raw file, including its terminating zero.
pub const PATH_BYTES: usize = 4096;
/// Address space for records; the first size that the system grants is used: 64 GB down to 64 MB.
const SPACES: [usize; 4] = [1 << 36, 1 << 32, 1 << 29, 1 << 26];

/// A raw file that this process may write.
pub struct Claim {
    /// The mapped file.
    pub file: *mut u8,
    /// Bytes mapped.
    pub bytes: usize,
    /// A word that a forked child finds to be 0, or null if the system cannot provide one.
    pub alive: *mut AtomicU32,
    /// The file's path, terminated by a zero.
    pub path: [u8; PATH_BYTES],
    /// This process.
    pub pid: u32,
}

/// Claims the raw file that the environment names; `None` if that is not possible.
pub fn claim() -> Option<Claim> {
    let path = path_from_environment()?;
    // SAFETY: the buffer ends with a zero.
    let fd = unsafe { libc::open(path.as_ptr().cast(), libc::O_RDWR | libc::O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    let mapped = SPACES.iter().find_map(|&bytes| map(fd, bytes).map(|file| (file, bytes)));
    // SAFETY: the descriptor is this function's own; the mapping does not need it.
    unsafe { libc::close(fd) };
    let (file, bytes) = mapped?;
    // SAFETY: the first page of the file is a header and is mapped, aligned, permanently.
    let header = unsafe { &*file.cast::<RawHeader>() };
    // SAFETY: getpid(2) cannot fail.
    let pid = unsafe { libc::getpid() } as u32;
    if header.magic.load(Ordering::Relaxed) == MAGIC {
        // Unclaimed, or this process's already: it has executed another program.
        match header.pid.compare_exchange(0, pid, Ordering::SeqCst, Ordering::SeqCst) {
            Err(owner) if owner != pid => {
                header.children.fetch_add(1, Ordering::Relaxed);
            }
            _ => return Some(Claim { file, bytes, alive: alive(), path, pid }),
        }
    }
    // SAFETY: mapped above, and not in use.
    unsafe { libc::munmap(file.cast(), bytes) };
    None
}

fn map(fd: i32, bytes: usize) -> Option<*mut u8> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping of an open file.
    let at = unsafe {
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        libc::mmap(null_mut(), bytes.max(RECORDS_OFFSET), access, flags, fd, 0)
    };
    (at != libc::MAP_FAILED).then_some(at.cast())
}

/// A page that the kernel zeroes in forked children, with its first word set.
fn alive() -> *mut AtomicU32 {
    const PAGE: usize = 4096;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new anonymous mapping; on failure it is not used.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let page = libc::mmap(null_mut(), PAGE, access, flags, -1, 0);
        if page == libc::MAP_FAILED {
            return null_mut();
        }
        if libc::madvise(page, PAGE, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, PAGE);
            return null_mut();
        }
        page.cast::<u32>().write(1);
        page.cast()
    }
}

/// The value of [`VARIABLE`]. It is read from the kernel, because the C library does not know its
/// environment yet when the dynamic linker allocates.
fn path_from_environment() -> Option<[u8; PATH_BYTES]> {
    const SOURCE: &CStr = c"/proc/self/environ";
    // SAFETY: a constant path.
    let fd = unsafe { libc::open(SOURCE.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    let found = scan(|buffer| {
        // SAFETY: the buffer is valid for its length.
        let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
        usize::try_from(count).unwrap_or(0)
    });
    // SAFETY: opened above.
    unsafe { libc::close(fd) };
    found
}

/// Searches `NAME=value\0…` for the variable, reading piece by piece.
fn scan(mut read: impl FnMut(&mut [u8]) -> usize) -> Option<[u8; PATH_BYTES]> {
    let mut path = [0; PATH_BYTES];
    let mut piece = [0; 1024];
    let name = VARIABLE.as_bytes();
    // How much of the name has matched in this variable; `None` once it cannot match.
    let mut matched = Some(0);
    let mut length = 0;
    loop {
        let count = read(&mut piece);
        if count == 0 {
            return None;
        }
        for &byte in &piece[..count] {
            match matched {
                Some(at) if at > name.len() => {
                    if byte == 0 {
                        return Some(path);
                    }
                    if length + 1 >= PATH_BYTES {
                        return None;
                    }
                    path[length] = byte;
                    length += 1;
                }
                _ if byte == 0 => matched = Some(0),
                Some(at) if at < name.len() && byte == name[at] => matched = Some(at + 1),
                Some(at) if at == name.len() && byte == b'=' => matched = Some(at + 1),
                _ => matched = None,
            }
        }
    }
}
