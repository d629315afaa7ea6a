//! Places the guest's mappings at the same addresses under every QEMU.
//!
//! Up to version 8.0, QEMU gives each mapping the next free addresses above 2^38 and reuses none.
//! Later ones leave the choice to the host's kernel, which chooses at random; but what programs do
//! depends on addresses, which they hash. So QEMU's calls of `mmap` are redirected to here, and
//! those on behalf of the guest get the addresses that QEMU 7.2 gives them:
//!
//! ```text
//! 2^38 - 64 KB   the vDSO
//! 2^38           the program, if it has no addresses of its own, and 32 MB for its heap
//!                a guard page and the stack; the program's interpreter; QEMU's own two pages
//!                everything that the program maps, in that order
//! ```
//! Which calls are the guest's: before it runs, reservations without access, the stack, known by
//! its size, and everything after it; then, what a thread calls during a system call that maps
//! memory where the guest does not say.

use crate::imports;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

/// Where mappings begin (`TASK_UNMAPPED_BASE` in linux-user/mmap.c of QEMU 7.2).
const BASE: u64 = 1 << 38;
/// Room behind the program for its heap (`reserve_brk` in linux-user/elfload.c of QEMU 7.2).
const HEAP: u64 = 32 << 20;
/// The smallest stack, which is QEMU's default too (`STACK_LOWER_LIMIT`, same file).
const STACK_LEAST: u64 = 8 << 20;
/// The page below the stack.
const GUARD: u64 = PAGE;
/// The vDSO is smaller than this, and each interpreter larger.
const VDSO_MOST: u64 = 64 << 10;
const PAGE: u64 = 4 << 10;
/// Where to look on if addresses are taken, and how often.
const STRIDE: u64 = 16 << 20;
const ATTEMPTS: usize = 1 << 16;

/// System calls that map memory.
const MMAP: i64 = 9;
const MREMAP: i64 = 25;
const SHMAT: i64 = 30;

type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;

/// The C library's `mmap`.
static REAL: AtomicUsize = AtomicUsize::new(0);
static PLACEMENT: Mutex<Placement> = Mutex::new(Placement::NEW);

thread_local! {
    /// This thread executes a system call that maps memory where the guest does not say.
    static MAPPING: Cell<bool> = const { Cell::new(false) };
}

/// Redirects QEMU's calls of `mmap`.
pub fn install() -> Result<(), String> {
    // SAFETY: a C string.
    let real = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"mmap64".as_ptr()) };
    REAL.store(real as usize, Relaxed);
    let ours: Mmap = mmap;
    // SAFETY: it has the type of the C library's.
    let redirected = unsafe { imports::redirect(&[c"mmap64", c"mmap"], ours as usize) };
    if real.is_null() || redirected == 0 {
        return Err("this QEMU does not import mmap, so its mappings cannot be placed".into());
    }
    Ok(())
}

/// The guest begins to run.
pub fn loaded() {
    PLACEMENT.lock().unwrap_or_else(PoisonError::into_inner).loaded = true;
}

/// A system call begins.
pub fn before(num: i64, args: [u64; 4]) {
    if matches!(num, MMAP | MREMAP | SHMAT) {
        MAPPING.set(leaves_place_open(num, args));
    }
}

/// It has ended.
pub fn after() {
    MAPPING.set(false);
}

/// Whether a system call maps memory where the guest does not say.
fn leaves_place_open(num: i64, [first, second, _, fourth]: [u64; 4]) -> bool {
    let without = |flags: c_int| fourth & flags as u64 == 0;
    match num {
        MMAP => first < PAGE && without(libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE),
        MREMAP => without(libc::MREMAP_FIXED),
        SHMAT => second == 0,
        _ => false,
    }
}

/// In place of QEMU's `mmap`.
unsafe extern "C" fn mmap(
    addr: *mut c_void,
    len: usize,
    prot: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: `install` stores it before a call can get here.
    let real = unsafe { std::mem::transmute::<usize, Mmap>(REAL.load(Relaxed)) };
    let size = (len as u64).next_multiple_of(PAGE);
    let mut placement = PLACEMENT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(room) = placement.room(size, prot, flags, MAPPING.get()) else {
        // SAFETY: QEMU's call.
        return unsafe { real(addr, len, prot, flags, fd, offset) };
    };
    let mut at = placement.of(room);
    for _ in 0..ATTEMPTS {
        let flags = flags | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: QEMU's call, with an address that is free.
        let found = unsafe { real(at as *mut c_void, len, prot, flags, fd, offset) };
        if found != libc::MAP_FAILED {
            placement.taken(room, at, size);
            return found;
        }
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EEXIST) {
            return found;
        }
        at += STRIDE;
    }
    // SAFETY: QEMU's call.
    unsafe { real(addr, len, prot, flags, fd, offset) }
}

/// What a mapping needs besides its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// A heap behind it.
    Program,
    /// A place below all others.
    Vdso,
    /// Nothing.
    Other,
}

/// Where the next mapping goes.
#[derive(Debug)]
struct Placement {
    next: u64,
    /// The stack has a place, and so has the program.
    has_stack: bool,
    /// The guest runs.
    loaded: bool,
}

impl Placement {
    const NEW: Self = Self { next: BASE, has_stack: false, loaded: false };

    /// What a mapping of the guest's needs; `None` if it is QEMU's own, or has a place already.
    /// `mapping`: it is part of a system call that leaves its place open.
    fn room(&mut self, size: u64, prot: c_int, flags: c_int, mapping: bool) -> Option<Room> {
        if flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) != 0 {
            return None;
        }
        if self.loaded {
            return mapping.then_some(Room::Other);
        }
        let anonymous = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        if flags & anonymous != anonymous {
            return None;
        }
        let reserves = prot == libc::PROT_NONE && flags & libc::MAP_NORESERVE != 0;
        if self.has_stack {
            return Some(if reserves && size < VDSO_MOST { Room::Vdso } else { Room::Other });
        }
        self.has_stack = prot & libc::PROT_WRITE != 0 && size == stack_size() + GUARD;
        if self.has_stack { Some(Room::Other) } else { reserves.then_some(Room::Program) }
    }

    fn of(&self, room: Room) -> u64 {
        if room == Room::Vdso { BASE - VDSO_MOST } else { self.next }
    }

    fn taken(&mut self, room: Room, at: u64, size: u64) {
        match room {
            Room::Vdso => {}
            Room::Program => self.next = at + size + HEAP,
            Room::Other => self.next = at + size,
        }
    }
}

/// The size of the guest's stack: the host's limit, unless that is small or none.
fn stack_size() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is one.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    if known && limit.rlim_cur != libc::RLIM_INFINITY {
        limit.rlim_cur.max(STACK_LEAST)
    } else {
        STACK_LEAST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANONYMOUS: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    const RESERVE: c_int = ANONYMOUS | libc::MAP_NORESERVE;
    const WRITABLE: c_int = libc::PROT_READ | libc::PROT_WRITE;

    /// Where a mapping goes, which is then taken.
    fn place(to: &mut Placement, size: u64, prot: c_int, flags: c_int) -> Option<u64> {
        let room = to.room(size, prot, flags, false)?;
        let at = to.of(room);
        to.taken(room, at, size);
        Some(at)
    }

    #[test]
    fn a_program_is_loaded_as_an_old_qemu_loads_it() {
        let mut placement = Placement::NEW;
        let code_buffer = place(&mut placement, 128 << 20, libc::PROT_NONE, ANONYMOUS);
        assert_eq!(code_buffer, None, "QEMU's own");
        let mut reserve = |size| place(&mut placement, size, libc::PROT_NONE, RESERVE);
        assert_eq!(reserve(5 * PAGE), Some(BASE), "the program");
        let stack_at = BASE + 5 * PAGE + HEAP;
        let stack = stack_size() + GUARD;
        assert_eq!(place(&mut placement, stack, WRITABLE, ANONYMOUS), Some(stack_at));
        let mut reserve = |size| place(&mut placement, size, libc::PROT_NONE, RESERVE);
        assert_eq!(reserve(53 * PAGE), Some(stack_at + stack), "the interpreter");
        assert_eq!(reserve(PAGE), Some(BASE - VDSO_MOST), "the vDSO, which moves nothing");
        let table = place(&mut placement, PAGE, WRITABLE, ANONYMOUS);
        assert_eq!(table, Some(stack_at + stack + 53 * PAGE));
    }

    #[test]
    fn a_program_with_addresses_of_its_own_leaves_the_first_place_to_the_stack() {
        let mut placement = Placement::NEW;
        let fixed = RESERVE | libc::MAP_FIXED_NOREPLACE;
        assert_eq!(place(&mut placement, 5 * PAGE, libc::PROT_NONE, fixed), None);
        let stack = place(&mut placement, stack_size() + GUARD, WRITABLE, ANONYMOUS);
        assert_eq!(stack, Some(BASE));
    }

    #[test]
    fn a_running_guest_gets_places_only_in_system_calls_that_leave_them_open() {
        let mut placement = Placement { next: BASE, has_stack: true, loaded: true };
        assert_eq!(placement.room(PAGE, WRITABLE, ANONYMOUS, false), None, "QEMU's own");
        assert_eq!(placement.room(PAGE, WRITABLE, ANONYMOUS, true), Some(Room::Other));
        let file = libc::MAP_SHARED;
        assert_eq!(placement.room(PAGE, libc::PROT_READ, file, true), Some(Room::Other));
        let fixed = ANONYMOUS | libc::MAP_FIXED;
        assert_eq!(placement.room(PAGE, WRITABLE, fixed, true), None);
        let call = |num, args| leaves_place_open(num, args);
        assert!(call(MMAP, [0, PAGE, 3, ANONYMOUS as u64]));
        assert!(!call(MMAP, [1 << 30, PAGE, 3, ANONYMOUS as u64]), "a hint is the guest's choice");
        assert!(!call(MMAP, [0, PAGE, 3, fixed as u64]));
        assert!(call(MREMAP, [1 << 30, PAGE, 2 * PAGE, libc::MREMAP_MAYMOVE as u64]));
        assert!(!call(MREMAP, [1 << 30, PAGE, PAGE, libc::MREMAP_FIXED as u64]));
        assert!(call(SHMAT, [7, 0, 0, 0]) && !call(SHMAT, [7, 1 << 30, 0, 0]));
        assert!(!call(libc::SYS_read, [0; 4]));
    }

    #[test]
    fn call_numbers_are_those_of_the_system() {
        assert_eq!([MMAP, MREMAP, SHMAT], [libc::SYS_mmap, libc::SYS_mremap, libc::SYS_shmat]);
    }
}
