//! Reading the guest's memory from within a callback.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Host address of guest address 0.
static BASE: AtomicU64 = AtomicU64::new(0);
/// Incremented when the guest unmaps or protects memory: readable pages may no longer be readable.
static EPOCH: AtomicU64 = AtomicU64::new(1);

const PAGE_BITS: u32 = 12;
const PAGE_SIZE: u64 = 1 << PAGE_BITS;
const KNOWN: usize = 64;

thread_local! {
    /// Pages known to be readable: page number and epoch, indexed by the low bits of the number.
    static PAGES: [Cell<(u64, u64)>; KNOWN] = const { [const { Cell::new((0, 0)) }; KNOWN] };
}

/// Derives the base from the host and guest addresses of an instruction.
pub fn set_base(host: u64, guest: u64) {
    BASE.store(host.wrapping_sub(guest), Relaxed);
}

/// The host address of a guest address.
pub fn host(addr: u64) -> u64 {
    addr.wrapping_add(BASE.load(Relaxed))
}

/// The word at `addr`, which the guest has just written.
///
/// # Safety
/// The guest has just accessed the 8 bytes at `addr`.
#[inline(always)]
pub unsafe fn word(addr: u64) -> u64 {
    // SAFETY: mapped, as the caller guarantees; any alignment.
    unsafe { (addr.wrapping_add(BASE.load(Relaxed)) as *const u64).read_unaligned() }
}

/// Writes the word at `addr`.
///
/// # Safety
/// The guest may write there, and does not rely on what is there.
pub unsafe fn write_word(addr: u64, value: u64) {
    // SAFETY: mapped, as the caller guarantees; any alignment.
    unsafe { (host(addr) as *mut u64).write_unaligned(value) };
}

/// Writes the byte at `addr`.
///
/// # Safety
/// As for [`write_word`].
pub unsafe fn write_byte(addr: u64, value: u8) {
    // SAFETY: as the caller guarantees.
    unsafe { (host(addr) as *mut u8).write(value) };
}

/// The length of the C string at `addr`; `None` if it cannot be read.
pub fn length(addr: u64) -> Option<u64> {
    let mut at = addr;
    loop {
        let here = PAGE_SIZE - at % PAGE_SIZE;
        let bytes = try_bytes(at, here as usize)?;
        match bytes.iter().position(|&byte| byte == 0) {
            Some(end) => return Some(at + end as u64 - addr),
            None => at += here,
        }
    }
}

/// The C string at `addr`, which is no longer than a page.
pub fn text(addr: u64) -> Option<Vec<u8>> {
    try_bytes(addr, length(addr).filter(|&length| length < PAGE_SIZE)? as usize)
}

/// The word at any address; `None` if it cannot be read.
pub fn try_word(addr: u64) -> Option<u64> {
    let last = addr.checked_add(7)?;
    if known(addr) && known(last) {
        // SAFETY: both of the pages it can lie on are readable.
        Some(unsafe { word(addr) })
    } else {
        None
    }
}

/// `len` bytes (at most a page) of guest memory; `None` if they cannot be read.
pub fn try_bytes(addr: u64, len: usize) -> Option<Vec<u8>> {
    if len == 0 {
        return Some(Vec::new());
    }
    let last = addr.checked_add(len as u64)?.checked_sub(1)?;
    if !known(addr) || !known(last) {
        return None;
    }
    let from = addr.wrapping_add(BASE.load(Relaxed)) as *const u8;
    // SAFETY: both of the pages they can lie on are readable.
    Some(unsafe { std::slice::from_raw_parts(from, len) }.to_vec())
}

/// Copies `len` bytes (at most a page) within the guest's memory; returns whether they were
/// readable.
///
/// # Safety
/// The guest may write the bytes at `to`: the kernel has just written them on its behalf.
pub unsafe fn copy(from: u64, to: u64, len: usize) -> bool {
    let Some(bytes) = try_bytes(from, len) else { return false };
    let to = to.wrapping_add(BASE.load(Relaxed)) as *mut u8;
    // SAFETY: writable, as the caller guarantees; `bytes` is a copy, so nothing overlaps.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, len) };
    true
}

/// Forgets which pages are readable.
pub fn mappings_changed() {
    EPOCH.fetch_add(1, Relaxed);
}

fn known(addr: u64) -> bool {
    let page = addr >> PAGE_BITS;
    let now = (page, EPOCH.load(Relaxed));
    let index = page as usize % KNOWN;
    PAGES.with(|pages| {
        if pages[index].get() == now {
            return true;
        }
        let found = readable(addr.wrapping_add(BASE.load(Relaxed)));
        if found {
            pages[index].set(now);
        }
        found
    })
}

/// Whether the page of a host address can be read. Passes the address to the kernel as a signal set
/// for an invalid operation: the kernel returns EFAULT if it cannot read the set, else EINVAL.
/// (Address 0 would mean "no set", for which it returns neither.) Unlike reading with
/// `process_vm_readv`, this works in every sandbox.
fn readable(host: u64) -> bool {
    let aligned = host & !7;
    // SAFETY: the kernel checks the address, and the operation is invalid, so nothing changes.
    let result = unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, -1i32, aligned, std::ptr::null::<u8>(), 8usize)
    };
    result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> *mut u8 {
        // SAFETY: a fresh mapping of two pages.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                2 << PAGE_BITS,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(at, libc::MAP_FAILED);
        at.cast()
    }

    #[test]
    fn mapped_memory_is_read_and_unmapped_memory_is_not() {
        let at = page();
        // SAFETY: within the mapping.
        unsafe { at.cast::<u64>().write(0x1234_5678_9abc_def0) };
        assert_eq!(try_word(at as u64), Some(0x1234_5678_9abc_def0));
        // SAFETY: ours; a guard page makes sure that the page after `first` is not readable.
        unsafe { libc::mprotect(at.add(1 << PAGE_BITS).cast(), 1 << PAGE_BITS, libc::PROT_NONE) };
        let second = at as u64 + (1 << PAGE_BITS);
        assert_eq!(try_word(second), None);
        assert_eq!(try_word(second - 4), None, "reaches into the second page");
        assert_eq!(try_bytes(second - 4, 4), Some(vec![0; 4]));
        // SAFETY: ours.
        unsafe { libc::munmap(at.cast(), 2 << PAGE_BITS) };
        mappings_changed();
        assert_eq!(try_word(at as u64), None);
    }

    #[test]
    fn addresses_that_cannot_be_are_not_read() {
        for addr in [1, 0x10, u64::MAX, u64::MAX - 7, 1 << 63, 0x8000_0000_0000] {
            assert_eq!(try_word(addr), None, "{addr:#x}");
        }
    }
}
