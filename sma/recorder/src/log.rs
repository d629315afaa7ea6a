//! Records: reserving one, filling it, and making room for more.

use crate::setup::{self, Claim, PATH_BYTES};
use std::cell::{Cell, UnsafeCell};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use traces::raw::{Kind, RECORD_BYTES, RECORDS_OFFSET, RawHeader, Record, key};

/// The state is not known yet.
const NEW: u8 = 0;
/// A thread is setting up. No other runs that early.
const BEGUN: u8 = 1;
/// Events are written.
const RECORDING: u8 = 2;
/// Events are not written: no file, or another process's file.
const SILENT: u8 = 3;

/// Records made ready at a time (16 MB).
const CHUNK: u64 = 1 << 19;

static STATE: AtomicU8 = AtomicU8::new(NEW);
static FILE: AtomicPtr<u8> = AtomicPtr::new(null_mut());
static ALIVE: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());
static PID: AtomicU32 = AtomicU32::new(0);
/// Records that the mapping has room for.
static LIMIT: AtomicU64 = AtomicU64::new(0);
static GROWING: AtomicBool = AtomicBool::new(false);

/// The raw file's path, written once before [`RECORDING`].
struct Path(UnsafeCell<[u8; PATH_BYTES]>);
// SAFETY: written by the thread that sets up, and read only once `STATE` says so.
unsafe impl Sync for Path {}
static PATH: Path = Path(UnsafeCell::new([0; PATH_BYTES]));

thread_local! {
    /// This thread's number in the system, once queried.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// Writes an event, if this process is recorded.
#[inline]
pub fn record(kind: Kind, align_log: u8, address: usize, bytes: usize) {
    if let Some(header) = header() {
        write(header, kind, align_log, address, bytes);
    }
}

/// Counts an allocation that failed.
pub fn failed() {
    if let Some(header) = header() {
        header.failed.fetch_add(1, Ordering::Relaxed);
    }
}

fn header() -> Option<&'static RawHeader> {
    match STATE.load(Ordering::Acquire) {
        RECORDING => {}
        NEW => set_up(),
        _ => return None,
    }
    if STATE.load(Ordering::Acquire) != RECORDING || !is_owner() {
        return None;
    }
    // SAFETY: mapped permanently before `RECORDING` was set.
    Some(unsafe { &*FILE.load(Ordering::Relaxed).cast::<RawHeader>() })
}

/// Whether this is the process that claimed the file, not a forked child.
fn is_owner() -> bool {
    let alive = ALIVE.load(Ordering::Relaxed);
    let owner = if alive.is_null() {
        // SAFETY: getpid(2) cannot fail.
        PID.load(Ordering::Relaxed) == unsafe { libc::getpid() } as u32
    } else {
        // SAFETY: a permanently mapped page.
        unsafe { (*alive).load(Ordering::Relaxed) != 0 }
    };
    if !owner && STATE.swap(SILENT, Ordering::Relaxed) == RECORDING {
        // SAFETY: mapped permanently, and shared with the child.
        let header = unsafe { &*FILE.load(Ordering::Relaxed).cast::<RawHeader>() };
        header.children.fetch_add(1, Ordering::Relaxed);
    }
    owner
}

#[cold]
fn set_up() {
    if STATE.compare_exchange(NEW, BEGUN, Ordering::Acquire, Ordering::Relaxed).is_err() {
        return;
    }
    let saved = errno();
    let state = match setup::claim() {
        None => SILENT,
        Some(Claim { file, bytes, alive, path, pid }) => {
            // SAFETY: only the thread that set `BEGUN` writes, and nobody reads before it is done.
            unsafe { *PATH.0.get() = path };
            FILE.store(file, Ordering::Relaxed);
            ALIVE.store(alive, Ordering::Relaxed);
            PID.store(pid, Ordering::Relaxed);
            LIMIT.store(((bytes - RECORDS_OFFSET) / RECORD_BYTES) as u64, Ordering::Relaxed);
            RECORDING
        }
    };
    STATE.store(state, Ordering::Release);
    set_errno(saved);
    record(Kind::Start, 0, 0, 0);
}

fn write(header: &RawHeader, kind: Kind, align_log: u8, address: usize, bytes: usize) {
    let number = header.next.fetch_add(1, Ordering::Relaxed);
    if number >= header.ready.load(Ordering::Acquire) && !grow(header, number) {
        header.lost.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // SAFETY: `ready` records are mapped and have room in the file; this one is this thread's.
    let record = unsafe {
        let start = FILE.load(Ordering::Relaxed).add(RECORDS_OFFSET);
        &*start.cast::<Record>().add(number as usize)
    };
    record.time_ns.store(now_ns(), Ordering::Relaxed);
    record.address.store(address as u64, Ordering::Relaxed);
    record.bytes.store(bytes as u64, Ordering::Relaxed);
    record.key.store(key(kind, align_log, thread()), Ordering::Release);
}

/// Makes records ready up to `number`. False if there is no room: a write beyond the room reserved
/// in the file would kill the program.
#[cold]
fn grow(header: &RawHeader, number: u64) -> bool {
    let saved = errno();
    while GROWING.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    let mut ready = header.ready.load(Ordering::Relaxed);
    while number >= ready && ready + CHUNK <= LIMIT.load(Ordering::Relaxed) && reserve(ready) {
        ready += CHUNK;
        header.ready.store(ready, Ordering::Release);
    }
    GROWING.store(false, Ordering::Release);
    set_errno(saved);
    number < ready
}

/// Reserves room for a chunk of records in the file system.
fn reserve(from: u64) -> bool {
    let start = RECORDS_OFFSET as u64 + from * RECORD_BYTES as u64;
    // SAFETY: the path was written before `RECORDING`; the descriptor is this function's own.
    unsafe {
        let fd = libc::open(PATH.0.get().cast(), libc::O_RDWR | libc::O_CLOEXEC);
        if fd < 0 {
            return false;
        }
        let bytes = CHUNK * RECORD_BYTES as u64;
        let mut done = libc::fallocate(fd, 0, start as i64, bytes as i64) == 0;
        if !done && errno() == libc::EOPNOTSUPP {
            done = libc::ftruncate(fd, (start + bytes) as i64) == 0;
        }
        libc::close(fd);
        done
    }
}

fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn thread() -> u32 {
    // An ending thread frees memory after its thread-local data are gone; the number is 0 then.
    let known = THREAD.try_with(Cell::get).unwrap_or(0);
    if known != 0 {
        return known;
    }
    // SAFETY: gettid(2) cannot fail.
    let thread = unsafe { libc::gettid() } as u32;
    let _ = THREAD.try_with(|cell| cell.set(thread));
    thread
}

fn errno() -> i32 {
    // SAFETY: the C library's own location, valid for this thread.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: the C library's own location, valid for this thread.
    unsafe { *libc::__errno_location() = value };
}
