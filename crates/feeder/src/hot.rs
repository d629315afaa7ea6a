//! The callbacks that run for every block and every memory access. Each writes a word or two into
//! the thread's buffer: no locks, no atomics, no allocation.

use crate::api::Api;
use crate::{guest, session};
use std::cell::UnsafeCell;
use std::ffi::{c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicU8};
use stream::event::LOW48;
use stream::live::layout::BufferHead;

/// QEMU numbers threads densely but never reuses a number below the highest in use.
pub const VCPUS_MAX: usize = 1 << 20;

/// The buffer that each QEMU thread fills. Only that thread touches its entry while it runs.
struct Buffers(UnsafeCell<[*mut BufferHead; VCPUS_MAX]>);
// SAFETY: an entry belongs to one thread; others touch it only before the thread runs, after it has
// ended, or while QEMU has stopped it.
unsafe impl Sync for Buffers {}
static BUFFERS: Buffers = Buffers(UnsafeCell::new([std::ptr::null_mut(); VCPUS_MAX]));

/// Bits 51..48 of a memory word, indexed by QEMU's description of the access, with [`SIZE_KNOWN`].
static SIZES: [AtomicU8; 1 << 18] = [const { AtomicU8::new(0) }; 1 << 18];
const SIZE_KNOWN: u8 = 0x80;
static API: OnceLock<Api> = OnceLock::new();

/// Prepares the callbacks.
pub fn init(api: Api) {
    let _ = API.set(api);
}

/// The buffer of a thread.
///
/// # Safety
/// Called by the thread itself or while it does not run.
#[inline(always)]
pub unsafe fn buffer(vcpu: c_uint) -> *mut BufferHead {
    // SAFETY: in bounds; see `Buffers`.
    unsafe { (*BUFFERS.0.get())[vcpu as usize % VCPUS_MAX] }
}

/// Gives a thread a buffer.
///
/// # Safety
/// As for [`buffer`]; the buffer outlives the thread's use of it.
pub unsafe fn set_buffer(vcpu: c_uint, buffer: *mut BufferHead) {
    // SAFETY: in bounds; see `Buffers`.
    unsafe { (*BUFFERS.0.get())[vcpu as usize % VCPUS_MAX] = buffer }
}

/// Appends words, after making room if necessary.
///
/// # Safety
/// As for [`buffer`]; the words must fit in the slack, see `instrumentation::EVENTS_MAX`.
pub unsafe fn push(vcpu: c_uint, words: &[u64]) {
    // SAFETY: the buffer is the thread's and has slack beyond its limit.
    unsafe {
        let mut head = buffer(vcpu);
        if (*head).cursor >= (*head).limit {
            head = session::flush(vcpu);
        }
        for &word in words {
            *(*head).cursor = word;
            (*head).cursor = (*head).cursor.add(1);
        }
    }
}

/// A block is entered; `word` is its event.
pub unsafe extern "C" fn on_block(vcpu: c_uint, word: *mut c_void) {
    // SAFETY: QEMU calls this on the thread `vcpu`; there is room for a block's events beyond the
    // limit.
    unsafe {
        let mut head = buffer(vcpu);
        if (*head).cursor >= (*head).limit {
            head = session::flush(vcpu);
        }
        let at = (*head).cursor;
        *at = word as u64;
        (*head).cursor = at.add(1);
    }
}

/// A block of one repeated string instruction is entered, or continues with its next iteration. It
/// continues if only its own memory accesses have occurred since its entry.
pub unsafe extern "C" fn on_repeated(vcpu: c_uint, word: *mut c_void) {
    // SAFETY: as in `on_block`; `rep_at` lies in the buffer, at or below the cursor.
    unsafe {
        let mut head = buffer(vcpu);
        let end = (*head).cursor;
        if (*head).rep_word == word as u64 {
            let mut at = (*head).rep_at;
            while at < end && *at >> 62 == 0 {
                at = at.add(1);
            }
            (*head).rep_at = at;
            if at == end {
                return;
            }
        }
        if end >= (*head).limit {
            head = session::flush(vcpu);
        }
        let at = (*head).cursor;
        *at = word as u64;
        (*head).cursor = at.add(1);
        (*head).rep_word = word as u64;
        (*head).rep_at = at.add(1);
    }
}

/// A memory access; `insn` holds the instruction's index, already in position.
pub unsafe extern "C" fn on_mem(vcpu: c_uint, info: u32, addr: u64, insn: *mut c_void) {
    let bits = SIZES.get(info as usize).map_or(0, |bits| bits.load(Relaxed));
    // SAFETY: as in `on_block`.
    unsafe {
        if bits == 0 {
            return on_new_kind(vcpu, info, addr, insn);
        }
        write_mem(vcpu, bits, addr, insn);
    }
}

/// An access of a repeated string instruction, which makes `N` in each iteration. Its iterations
/// can exceed any buffer: in a full one, the next iteration begins a new block of the same
/// instruction. (From version 10.0 on, QEMU enters the instruction once for many iterations.)
pub unsafe extern "C" fn on_repeated_mem<const N: usize>(
    vcpu: c_uint,
    info: u32,
    addr: u64,
    insn: *mut c_void,
) {
    // SAFETY: as in `on_repeated`, which the instruction's entry has called.
    unsafe {
        let mut head = buffer(vcpu);
        let end = (*head).cursor;
        if end >= (*head).limit && end.offset_from_unsigned((*head).rep_at).is_multiple_of(N) {
            let word = (*head).rep_word;
            head = session::flush(vcpu);
            let at = (*head).cursor;
            *at = word;
            (*head).cursor = at.add(1);
            (*head).rep_word = word;
            (*head).rep_at = at.add(1);
        }
        on_mem(vcpu, info, addr, insn);
    }
}

/// An access of an atomic instruction, of which only the store is passed on.
pub unsafe extern "C" fn on_atomic(vcpu: c_uint, info: u32, addr: u64, insn: *mut c_void) {
    let Some(api) = API.get() else { return };
    // SAFETY: a plain function of the description; otherwise as in `on_block`.
    unsafe {
        if (api.mem_is_store)(info) {
            on_mem(vcpu, info, addr, insn);
        }
    }
}

/// An access that is not passed on.
pub unsafe extern "C" fn on_unreported(_: c_uint, _: u32, _: u64, _: *mut c_void) {}

/// An access with a description that has not been seen before.
#[cold]
#[inline(never)]
unsafe extern "C" fn on_new_kind(vcpu: c_uint, info: u32, addr: u64, insn: *mut c_void) {
    let Some(api) = API.get() else { return };
    // SAFETY: plain functions of the description; otherwise as in `on_block`.
    unsafe {
        let (shift, store) = ((api.mem_size_shift)(info), (api.mem_is_store)(info));
        let bits = SIZE_KNOWN | u8::from(store) << 3 | (shift as u8 & 7);
        if let Some(known) = SIZES.get(info as usize) {
            known.store(bits, Relaxed);
        }
        write_mem(vcpu, bits, addr, insn);
    }
}

/// Base-2 logarithm of the largest access that an event describes whole.
const WHOLE: u8 = 3;

#[inline(always)]
unsafe fn write_mem(vcpu: c_uint, bits: u8, addr: u64, insn: *mut c_void) {
    // SAFETY: as in `on_block`.
    unsafe {
        let head = buffer(vcpu);
        let at = (*head).cursor;
        let shift = bits & 7;
        if shift <= WHOLE {
            let kind = u64::from(bits & !SIZE_KNOWN) << 48;
            *at = insn as u64 | kind | (addr & LOW48);
            (*head).cursor = at.add(1);
        } else {
            let kind = u64::from(bits & 8 | WHOLE) << 48;
            let pieces = 1 << (shift - WHOLE);
            for piece in 0..pieces {
                let addr = addr.wrapping_add(8 * piece as u64);
                *at.add(piece) = insn as u64 | kind | (addr & LOW48);
            }
            (*head).cursor = at.add(pieces);
        }
    }
}

/// An operand store; `word` is the first word of its event.
pub unsafe extern "C" fn on_value(vcpu: c_uint, _info: u32, addr: u64, word: *mut c_void) {
    // SAFETY: as in `on_block`; the guest has just written the 8 bytes at `addr`.
    unsafe {
        let value = guest::word(addr);
        let head = buffer(vcpu);
        let at = (*head).cursor;
        *at = word as u64;
        *at.add(1) = value;
        (*head).cursor = at.add(2);
    }
}

/// The last operand store of a prefetch marker: its value and the word that it points to.
pub unsafe extern "C" fn on_value_and_next(vcpu: c_uint, _info: u32, addr: u64, word: *mut c_void) {
    // SAFETY: as in `on_value`.
    unsafe {
        let value = guest::word(addr);
        let next = match value {
            0 => 0,
            _ => guest::try_word(value).unwrap_or_else(|| {
                session::count_unreadable();
                0
            }),
        };
        let head = buffer(vcpu);
        let at = (*head).cursor;
        *at = word as u64;
        *at.add(1) = value;
        *at.add(2) = word as u64;
        *at.add(3) = next;
        (*head).cursor = at.add(4);
    }
}

/// A buffer that nobody reads, for threads that must not write anywhere else.
pub static SCRAP: AtomicPtr<BufferHead> = AtomicPtr::new(std::ptr::null_mut());
