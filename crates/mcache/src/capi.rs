//! C interface, declared in `include/mcache.h`; the RTL test bench links against it.
//!
//! One call executes one operation of the hardware's request port and returns what the response
//! port shows, so that the bench can compare field by field.

use crate::{
    Config, Fill, Issue, MallocCache, Pop, Push, Returned, Sampler, Speculative, Ticket, Update,
};

/// A malloc cache with its sampling counter.
#[derive(Debug)]
pub struct McacheHandle {
    cache: MallocCache,
    sampler: Sampler,
}

/// What an operation returns; the fields that an operation does not mention in `mcache.h` are 0.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McacheResult {
    /// First result.
    pub a: u64,
    /// Second result.
    pub b: u64,
    /// The zero flag of the instruction.
    pub hit: u8,
    /// Nothing changed; repeat the operation later.
    pub wait: u8,
    /// The operands violate the contract.
    pub violation: u8,
    /// Of a prefetch that was issued: its ticket plus 1. Of a return: 1 filled Head, 2 Next, 3
    /// nothing.
    pub fill: u8,
}

/// Operation codes of [`mcache_op`]; the same as `malloc_cache_pkg::op_e` in the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum OpCode {
    Lookup = 0,
    Update = 1,
    Pop = 2,
    Push = 3,
    PrefetchNext = 4,
    PrefetchHead = 5,
    Invalidate = 6,
    Flush = 7,
    FlushLists = 8,
    SquashList = 9,
    SquashPrefetch = 10,
    SquashUpdate = 11,
    Return = 12,
    Sample = 13,
    SampleSet = 14,
}

impl OpCode {
    const ALL: [Self; 15] = [
        Self::Lookup,
        Self::Update,
        Self::Pop,
        Self::Push,
        Self::PrefetchNext,
        Self::PrefetchHead,
        Self::Invalidate,
        Self::Flush,
        Self::FlushLists,
        Self::SquashList,
        Self::SquashPrefetch,
        Self::SquashUpdate,
        Self::Return,
        Self::Sample,
        Self::SampleSet,
    ];
}

/// A new cache, or null if a parameter is out of range. Release it with `mcache_free`.
#[unsafe(no_mangle)]
pub extern "C" fn mcache_new(
    entries: u8,
    index: u8,
    key_bits: u8,
    pointer_bits: u8,
) -> *mut McacheHandle {
    let config = Config { entries, index: index != 0, key_bits, pointer_bits };
    match MallocCache::new(config) {
        Ok(cache) => Box::into_raw(Box::new(McacheHandle { cache, sampler: Sampler::default() })),
        Err(_) => core::ptr::null_mut(),
    }
}

/// Frees a cache; null is allowed.
///
/// # Safety
/// `handle` is null or came from [`mcache_new`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcache_free(handle: *mut McacheHandle) {
    if !handle.is_null() {
        // SAFETY: the caller promises that it came from `mcache_new`, which created it from a box.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// Switches the class index; a change flushes.
///
/// # Safety
/// `handle` came from [`mcache_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcache_set_index(handle: *mut McacheHandle, on: u8) {
    // SAFETY: the caller promises a live handle and uses it from one thread at a time.
    unsafe { &mut *handle }.cache.set_index(on != 0);
}

/// Executes operation `code` on operands `a`, `b`, `c`; an unknown code does nothing.
///
/// # Safety
/// `handle` came from [`mcache_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcache_op(
    handle: *mut McacheHandle,
    code: u8,
    a: u64,
    b: u64,
    c: u64,
) -> McacheResult {
    // SAFETY: the caller promises a live handle and uses it from one thread at a time.
    let handle = unsafe { &mut *handle };
    OpCode::ALL
        .get(usize::from(code))
        .map_or_else(McacheResult::default, |&op| handle.op(op, [a, b, c]))
}

impl McacheHandle {
    /// Executes one operation as the hardware's port would.
    fn op(&mut self, op: OpCode, [a, b, c]: [u64; 3]) -> McacheResult {
        let cache = &mut self.cache;
        // A class wider than 32 bits is as invalid as one wider than 8.
        let class = u32::try_from(a).unwrap_or(u32::MAX);
        let mut result = McacheResult::default();
        match op {
            OpCode::Lookup => {
                if let Some(mapping) = cache.lookup(a) {
                    result.hit = 1;
                    (result.a, result.b) = (mapping.class.into(), mapping.alloc_size.into());
                }
            }
            OpCode::Update => {
                let class = u32::try_from(c).unwrap_or(u32::MAX);
                let updated = cache.update(a, b, class);
                result.violation = u8::from(matches!(updated.kind, Update::Rejected(_)));
            }
            OpCode::Pop => match cache.pop(class) {
                Pop::Hit { head, next } => {
                    (result.a, result.b, result.hit) = (head, next, 1);
                }
                Pop::Wait => result.wait = 1,
                Pop::Miss => {}
            },
            OpCode::Push => match cache.push(class, b) {
                Push::Done => result.hit = 1,
                Push::Wait => result.wait = 1,
                Push::Rejected(_) => result.violation = 1,
                Push::Absent => {}
            },
            OpCode::PrefetchNext | OpCode::PrefetchHead => {
                let fill = if op == OpCode::PrefetchNext { Fill::Next } else { Fill::Head };
                match cache.prefetch_issue(class, fill, b) {
                    Issue::Issued(ticket) => (result.hit, result.fill) = (1, ticket.0 + 1),
                    Issue::Wait => result.wait = 1,
                    Issue::Absent | Issue::Ignored => {}
                }
            }
            OpCode::Invalidate => cache.invalidate(class),
            OpCode::Flush => cache.flush(),
            OpCode::FlushLists => cache.flush_lists(),
            OpCode::SquashList => cache.squash(Speculative::List, class),
            OpCode::SquashPrefetch => cache.squash(Speculative::Prefetch, class),
            OpCode::SquashUpdate => cache.squash(Speculative::Update, class),
            OpCode::Return => {
                let ticket = Ticket(u8::try_from(a).unwrap_or(u8::MAX));
                result.fill = match cache.prefetch_return(ticket, b) {
                    Returned::Head => 1,
                    Returned::Next => 2,
                    Returned::Nothing => 3,
                    Returned::Ignored => 0,
                };
            }
            OpCode::Sample => result.hit = u8::from(self.sampler.add(a)),
            OpCode::SampleSet => self.sampler.set_period(u32::try_from(a).unwrap_or(u32::MAX)),
        }
        result
    }
}

/// Reads entry `number`: its fields into `out` (valid, class, size, lo, hi, head, next, blocked);
/// 0 if there is no such entry.
///
/// # Safety
/// `handle` came from [`mcache_new`]; `out` has room for 8 values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcache_entry(
    handle: *const McacheHandle,
    number: u8,
    out: *mut u64,
) -> u8 {
    // SAFETY: the caller promises a live handle that nothing changes meanwhile.
    let cache = unsafe { &(*handle).cache };
    let Some(e) = cache.entry(number) else { return 0 };
    let fields = [
        1,
        u64::from(e.class),
        u64::from(e.alloc_size),
        u64::from(e.lo),
        u64::from(e.hi),
        e.head,
        e.next,
        u64::from(e.blocked),
    ];
    // SAFETY: the caller promises room for eight values.
    unsafe { core::ptr::copy_nonoverlapping(fields.as_ptr(), out, fields.len()) };
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_positions_in_the_table() {
        for (position, op) in OpCode::ALL.iter().enumerate() {
            assert_eq!(*op as usize, position);
        }
    }

    #[test]
    fn a_round_of_operations_goes_through_the_c_interface() {
        assert!(mcache_new(0, 1, 20, 48).is_null());
        let handle = mcache_new(4, 1, 20, 48);
        // SAFETY: the handle is live until the `mcache_free` at the end.
        unsafe {
            let op = |code: OpCode, a, b, c| mcache_op(handle, code as u8, a, b, c);
            assert_eq!(op(OpCode::Update, 24, 32, 3), McacheResult::default());
            let hit = McacheResult { a: 3, b: 32, hit: 1, ..McacheResult::default() };
            assert_eq!(op(OpCode::Lookup, 30, 0, 0), hit);
            assert_eq!(op(OpCode::Push, 3, 0x10, 0).hit, 1);
            assert_eq!(op(OpCode::Push, 3, 0x10, 0).violation, 1);
            assert_eq!(op(OpCode::PrefetchHead, 3, 0x20, 0).fill, 1);
            assert_eq!(op(OpCode::Pop, 3, 0, 0).wait, 1);
            assert_eq!(op(OpCode::Return, 0, 0x30, 0).fill, 1);
            let mut fields = [0; 8];
            assert_eq!(mcache_entry(handle, 0, fields.as_mut_ptr()), 1);
            assert_eq!(fields, [1, 3, 32, 3, 4, 0x30, 0, 0]);
            assert_eq!(mcache_entry(handle, 1, fields.as_mut_ptr()), 0);
            assert_eq!(op(OpCode::Pop, 1 << 32, 0, 0), McacheResult::default());
            assert_eq!(mcache_op(handle, 200, 0, 0, 0), McacheResult::default());
            op(OpCode::SampleSet, 10, 0, 0);
            assert_eq!(op(OpCode::Sample, 10, 0, 0).hit, 1);
            mcache_free(handle);
            mcache_free(core::ptr::null_mut());
        }
    }
}
