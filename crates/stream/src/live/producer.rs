//! The feeder's end of the ring. No locks in here: the caller sees to it that one thread at a time
//! uses a [`Producer`].

use super::layout::{FULL_WORDS, SLOT_WORDS, SLOTS, Slot, SlotHead, SlotKind};
use super::layout::{ring_state, slot_state};
use super::map::Map;
use super::wire;
use crate::{BlockDef, StreamError};
use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

/// How long to sleep for a free slot before looking whether the consumer still lives.
const PATIENCE: Duration = Duration::from_millis(200);
/// Threads beyond this many fill memory of their own, so that slots are left to circulate.
const THREADS_IN_RING: u32 = SLOTS as u32 / 2;

/// The producer's end.
pub struct Producer {
    map: Map,
    /// The slot that collects block definitions.
    blocks: *mut Slot,
    scratch: Vec<u8>,
    threads: u32,
    first_image: bool,
}

// SAFETY: `blocks` points into the map or is null, and belongs to this object alone.
unsafe impl Send for Producer {}

impl Producer {
    /// Opens the ring at `path` and takes up where an earlier image of this process left off.
    pub fn attach(path: &Path) -> Result<Self, StreamError> {
        let map = Map::open(path)?;
        let head = &map.ring().head;
        let first_image = head.images.fetch_add(1, AcqRel) == 0;
        // SAFETY: the mapping is whole. A forked child has no business with it.
        unsafe {
            let ring: *const _ = map.ring();
            libc::madvise(ring.cast_mut().cast(), size_of_val(map.ring()), libc::MADV_DONTFORK);
        }
        for slot in map.orphans() {
            head.full.put(slot);
        }
        head.producer_pid.store(std::process::id(), Relaxed);
        head.state.store(ring_state::ATTACHED, Release);
        let scratch = Vec::with_capacity(4096);
        Ok(Self { map, blocks: std::ptr::null_mut(), scratch, threads: 0, first_image })
    }

    /// Whether this is the program's first image, not one it replaced itself with.
    pub fn is_first_image(&self) -> bool {
        self.first_image
    }

    /// Whether the program is not to see when files were last read.
    pub fn hides_access_times(&self) -> bool {
        self.map.ring().head.hide_access_times.load(Relaxed) != 0
    }

    /// Whether the consumer has left. The producer should stop then.
    pub fn detached(&self) -> bool {
        self.map.ring().head.detach.load(Relaxed) != 0
    }

    /// A number for a new thread.
    pub fn new_thread(&self) -> u32 {
        let next = &self.map.ring().head.next_thread;
        // The first thread of a new image goes on as thread 0.
        let first = !self.first_image && self.threads == 0 && next.load(Relaxed) > 0;
        if first { 0 } else { next.fetch_add(1, Relaxed) }
    }

    /// Counts second words of prefetch markers that could not be read.
    pub fn count_unreadable(&self) {
        self.map.ring().head.unreadable.fetch_add(1, Relaxed);
    }

    /// Counts carriers without their operand stores.
    pub fn count_broken_markers(&self, n: usize) {
        self.map.ring().head.broken_markers.fetch_add(n as u64, Relaxed);
    }

    /// A slot for a new thread to fill.
    pub fn first_slot(&mut self, thread: u32) -> *mut Slot {
        self.threads += 1;
        let slot = (self.threads <= THREADS_IN_RING).then(|| self.acquire()).flatten();
        let slot = slot.unwrap_or_else(private_slot);
        reset(slot, SlotKind::Events, thread);
        slot
    }

    /// Publishes what `slot` holds and gives back the slot to fill next, which may be the same.
    /// When the consumer has left, what `slot` holds is forgotten.
    ///
    /// # Safety
    /// `slot` came from this producer, and no other thread uses it.
    pub unsafe fn publish(&mut self, slot: *mut Slot) -> *mut Slot {
        // SAFETY: the caller owns the slot.
        let (thread, len) = unsafe {
            let head = &mut (*slot).head;
            (head.thread, head.cursor.offset_from(head.base) as usize)
        };
        if len == 0 {
            return slot;
        }
        if self.detached() {
            reset(slot, SlotKind::Events, thread);
            return slot;
        }
        self.publish_blocks();
        let ours = self.map.index_of(slot);
        let next = match self.acquire() {
            Some(next) => next,
            None => {
                reset(slot, SlotKind::Events, thread);
                return slot;
            }
        };
        let (send, keep) = if ours.is_some() {
            (slot, next)
        } else {
            // SAFETY: both slots are ours and differ; `len` words of `slot` are written.
            unsafe {
                let len = len.min(SLOT_WORDS);
                reset(next, SlotKind::Events, thread);
                let to = (&raw mut (*next).words).cast::<u64>();
                std::ptr::copy_nonoverlapping((&raw const (*slot).words).cast(), to, len);
            }
            (next, slot)
        };
        self.send(send, len as u32);
        reset(keep, SlotKind::Events, thread);
        keep
    }

    /// Publishes the last events of a thread and takes its slot back.
    ///
    /// # Safety
    /// As for [`Self::publish`]; `slot` must not be used again.
    pub unsafe fn retire(&mut self, slot: *mut Slot) {
        // SAFETY: passed on to the caller.
        let slot = unsafe { self.publish(slot) };
        self.threads = self.threads.saturating_sub(1);
        match self.map.index_of(slot) {
            Some(index) => {
                // SAFETY: the slot is ours. It goes straight back through the consumer, because
                // the queue of free slots has one putter.
                unsafe { (*slot).head.state.store(slot_state::IDLE, Relaxed) };
                self.send(self.map.slot(index), 0);
            }
            // SAFETY: made by `private_slot` and not used again.
            None => drop(unsafe { Box::from_raw(slot) }),
        }
    }

    /// Hands over a definition, before any use of it is published. Gives it its number.
    pub fn define(&mut self, block: &mut BlockDef) -> u32 {
        let id = self.map.ring().head.next_block.fetch_add(1, Relaxed);
        block.id = id;
        if self.detached() {
            return id;
        }
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        wire::encode(block, &mut bytes);
        let need = bytes.len();
        if !self.blocks.is_null() {
            // SAFETY: `blocks` is a slot of ours.
            let used = unsafe { (*self.blocks).head.len } as usize;
            if used + need > FULL_WORDS * 8 {
                self.publish_blocks();
            }
        }
        if self.blocks.is_null()
            && let Some(slot) = self.acquire()
        {
            reset(slot, SlotKind::Blocks, 0);
            self.blocks = slot;
        }
        if !self.blocks.is_null() {
            // SAFETY: the slot is ours and has room for `need` bytes after the first `len`.
            unsafe {
                let head = &mut (*self.blocks).head;
                let to = (&raw mut (*self.blocks).words).cast::<u8>().add(head.len as usize);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, need);
                head.len += need as u32;
            }
        }
        self.scratch = bytes;
        id
    }

    /// Says that the program has ended and everything is published.
    pub fn finish(&mut self) {
        let head = &self.map.ring().head;
        head.state.store(ring_state::FINISHED, Release);
        head.full.nudge();
    }

    fn publish_blocks(&mut self) {
        let slot = std::mem::replace(&mut self.blocks, std::ptr::null_mut());
        if !slot.is_null() {
            // SAFETY: the slot is ours.
            let len = unsafe { (*slot).head.len };
            self.send(slot, len);
        }
    }

    fn send(&self, slot: *mut Slot, len: u32) {
        if let Some(index) = self.map.index_of(slot) {
            // SAFETY: the slot is still ours; `put` hands it over.
            unsafe {
                (*slot).head.len = len;
                (*slot).head.state.store(slot_state::IDLE, Relaxed);
            }
            self.map.ring().head.full.put(index as u32);
        }
    }

    /// Waits for a free slot; `None` once the consumer has left or died.
    fn acquire(&self) -> Option<*mut Slot> {
        let head = &self.map.ring().head;
        loop {
            if self.detached() {
                return None;
            }
            match head.free.take() {
                Some(index) if (index as usize) < SLOTS => {
                    return Some(self.map.slot(index as usize));
                }
                Some(_) => head.detach.store(1, Relaxed),
                None => {
                    head.free.sleep(PATIENCE);
                    if head.free.put.load(Acquire) == head.free.taken.load(Relaxed)
                        && !is_alive(head.consumer_pid.load(Relaxed))
                    {
                        head.detach.store(1, Relaxed);
                    }
                }
            }
        }
    }
}

/// Empties a slot for filling.
fn reset(slot: *mut Slot, kind: SlotKind, thread: u32) {
    // SAFETY: callers own the slot.
    unsafe {
        let base = (&raw mut (*slot).words).cast::<u64>();
        let head = &raw mut (*slot).head;
        (*head).cursor = base;
        (*head).base = base;
        (*head).limit = base.add(FULL_WORDS);
        (*head).rep_word = 0;
        (*head).rep_at = base;
        (*head).kind = kind as u32;
        (*head).thread = thread;
        (*head).len = 0;
        (*head).state.store(slot_state::ACTIVE, Release);
    }
}

/// A slot outside the ring, emptied: for a thread too many, or for a forked child.
pub fn private_slot() -> *mut Slot {
    let layout = std::alloc::Layout::new::<Slot>();
    // SAFETY: a slot is not of size 0; zeroes are a valid one: null pointers, zero counters.
    let slot = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<Slot>();
    if slot.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    reset(slot, SlotKind::Events, 0);
    slot
}

/// Empties a slot and forgets what it held.
///
/// # Safety
/// The caller owns the slot.
pub unsafe fn discard(slot: *mut Slot) {
    // SAFETY: passed on to the caller.
    let thread = unsafe { (*slot).head.thread };
    reset(slot, SlotKind::Events, thread);
}

/// The head of a slot, where the fast path writes.
pub fn head_of(slot: *mut Slot) -> *mut SlotHead {
    slot.cast()
}

/// Whether a process exists and is not a zombie.
fn is_alive(pid: u32) -> bool {
    // SAFETY: signal 0 only asks.
    let gone = unsafe { libc::kill(pid as i32, 0) } != 0
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    if gone {
        return false;
    }
    // The state follows the name, which is in parentheses and may hold anything.
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(") ").next().is_some_and(|s| s.starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}
