//! The feeder's end of the ring. It takes no locks: the caller ensures that only one thread at a
//! time uses a [`Producer`].

use super::layout::{BUFFER_WORDS, BUFFERS, Buffer, BufferHead, BufferKind, FULL_WORDS};
use super::layout::{buffer_state, ring_state};
use super::map::Map;
use super::wire;
use crate::{BlockDef, ObjectDef, StreamError};
use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::Duration;

/// How long to sleep for a free buffer before checking that the consumer is alive.
const PATIENCE: Duration = Duration::from_millis(200);
/// Threads beyond this number fill private memory, so that enough buffers are left to circulate.
const THREADS_IN_RING: u32 = BUFFERS as u32 / 2;

/// The producer's end.
pub struct Producer {
    map: Map,
    /// The buffer that collects block definitions.
    blocks: *mut Buffer,
    scratch: Vec<u8>,
    threads: u32,
    first_image: bool,
}

// SAFETY: `blocks` points into the map or is null, and belongs to this object alone.
unsafe impl Send for Producer {}

impl Producer {
    /// Opens the ring at `path` and continues where an earlier image of this process stopped.
    pub fn attach(path: &Path) -> Result<Self, StreamError> {
        let map = Map::open(path)?;
        let head = &map.ring().head;
        let first_image = head.images.fetch_add(1, AcqRel) == 0;
        // SAFETY: the mapping is whole. A forked child must not use it.
        unsafe {
            let ring: *const _ = map.ring();
            libc::madvise(ring.cast_mut().cast(), size_of_val(map.ring()), libc::MADV_DONTFORK);
        }
        for buffer in map.orphans() {
            head.full.put(buffer);
        }
        head.producer_pid.store(std::process::id(), Relaxed);
        head.state.store(ring_state::ATTACHED, Release);
        let scratch = Vec::with_capacity(4096);
        Ok(Self { map, blocks: std::ptr::null_mut(), scratch, threads: 0, first_image })
    }

    /// Whether this is the program's first image, as opposed to one started by exec.
    pub fn is_first_image(&self) -> bool {
        self.first_image
    }

    /// Whether to hide from the program when files were last read.
    pub fn hides_access_times(&self) -> bool {
        self.map.ring().head.hide_access_times.load(Relaxed) != 0
    }

    /// Whether the consumer has left, in which case the producer should stop.
    pub fn detached(&self) -> bool {
        self.map.ring().head.detach.load(Relaxed) != 0
    }

    /// A number for a new thread.
    pub fn new_thread(&self) -> u32 {
        let next = &self.map.ring().head.next_thread;
        // The first thread of a new image continues as thread 0.
        let first = !self.first_image && self.threads == 0 && next.load(Relaxed) > 0;
        if first { 0 } else { next.fetch_add(1, Relaxed) }
    }

    /// Counts a word at `next` of a prefetch marker that could not be read.
    pub fn count_unreadable(&self) {
        self.map.ring().head.unreadable.fetch_add(1, Relaxed);
    }

    /// Counts carriers that lack their operand stores.
    pub fn count_broken_markers(&self, n: usize) {
        self.map.ring().head.broken_markers.fetch_add(n as u64, Relaxed);
    }

    /// A buffer for a new thread to fill.
    pub fn first_buffer(&mut self, thread: u32) -> *mut Buffer {
        self.threads += 1;
        let buffer = (self.threads <= THREADS_IN_RING).then(|| self.acquire()).flatten();
        let buffer = buffer.unwrap_or_else(private_buffer);
        reset(buffer, BufferKind::Events, thread);
        buffer
    }

    /// Publishes the contents of `buffer` and returns the buffer to fill next, which may be the
    /// same. If the consumer has left, the contents are discarded.
    ///
    /// # Safety
    /// `buffer` came from this producer, and no other thread uses it.
    pub unsafe fn publish(&mut self, buffer: *mut Buffer) -> *mut Buffer {
        // SAFETY: the caller owns the buffer.
        let (thread, len) = unsafe {
            let head = &mut (*buffer).head;
            (head.thread, head.cursor.offset_from(head.base) as usize)
        };
        if len == 0 {
            return buffer;
        }
        if self.detached() {
            reset(buffer, BufferKind::Events, thread);
            return buffer;
        }
        self.publish_blocks();
        let ours = self.map.index_of(buffer);
        let next = match self.acquire() {
            Some(next) => next,
            None => {
                reset(buffer, BufferKind::Events, thread);
                return buffer;
            }
        };
        let (send, keep) = if ours.is_some() {
            (buffer, next)
        } else {
            // SAFETY: both buffers are ours and differ; `len` words of `buffer` are written.
            unsafe {
                let len = len.min(BUFFER_WORDS);
                reset(next, BufferKind::Events, thread);
                let to = (&raw mut (*next).words).cast::<u64>();
                std::ptr::copy_nonoverlapping((&raw const (*buffer).words).cast(), to, len);
            }
            (next, buffer)
        };
        self.send(send, len as u32);
        reset(keep, BufferKind::Events, thread);
        keep
    }

    /// Publishes the last events of a thread and takes its buffer back.
    ///
    /// # Safety
    /// As for [`Self::publish`]; `buffer` must not be used again.
    pub unsafe fn retire(&mut self, buffer: *mut Buffer) {
        // SAFETY: passed on to the caller.
        let buffer = unsafe { self.publish(buffer) };
        self.threads = self.threads.saturating_sub(1);
        match self.map.index_of(buffer) {
            Some(index) => {
                // SAFETY: the buffer is ours. It returns through the consumer, because the queue of
                // free buffers allows only one putter.
                unsafe { (*buffer).head.state.store(buffer_state::IDLE, Relaxed) };
                self.send(self.map.buffer(index), 0);
            }
            // SAFETY: made by `private_buffer` and not used again.
            None => drop(unsafe { Box::from_raw(buffer) }),
        }
    }

    /// Numbers a block definition and queues it before any event that uses it is published.
    pub fn define(&mut self, block: &mut BlockDef) -> u32 {
        let id = self.map.ring().head.next_block.fetch_add(1, Relaxed);
        block.id = id;
        if self.detached() {
            return id;
        }
        self.queue(|bytes| wire::encode(block, bytes));
        id
    }

    /// Queues an object: it holds for the blocks that are defined from now on.
    pub fn define_object(&mut self, object: &mut ObjectDef) {
        object.first_block = self.map.ring().head.next_block.load(Relaxed);
        if !self.detached() {
            self.queue(|bytes| wire::encode_object(object, bytes));
        }
    }

    /// Appends what `encode` writes to the buffer of definitions.
    fn queue(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::mem::take(&mut self.scratch);
        bytes.clear();
        encode(&mut bytes);
        let need = bytes.len();
        if !self.blocks.is_null() {
            // SAFETY: `blocks` is a buffer of ours.
            let used = unsafe { (*self.blocks).head.len } as usize;
            if used + need > FULL_WORDS * 8 {
                self.publish_blocks();
            }
        }
        if self.blocks.is_null()
            && let Some(buffer) = self.acquire()
        {
            reset(buffer, BufferKind::Blocks, 0);
            self.blocks = buffer;
        }
        if !self.blocks.is_null() {
            // SAFETY: the buffer is ours and has room for `need` bytes after the first `len`.
            unsafe {
                let head = &mut (*self.blocks).head;
                let to = (&raw mut (*self.blocks).words).cast::<u8>().add(head.len as usize);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, need);
                head.len += need as u32;
            }
        }
        self.scratch = bytes;
    }

    /// Marks the stream as finished: the program has ended and everything is published.
    pub fn finish(&mut self) {
        let head = &self.map.ring().head;
        head.state.store(ring_state::FINISHED, Release);
        head.full.nudge();
    }

    fn publish_blocks(&mut self) {
        let buffer = std::mem::replace(&mut self.blocks, std::ptr::null_mut());
        if !buffer.is_null() {
            // SAFETY: the buffer is ours.
            let len = unsafe { (*buffer).head.len };
            self.send(buffer, len);
        }
    }

    fn send(&self, buffer: *mut Buffer, len: u32) {
        if let Some(index) = self.map.index_of(buffer) {
            // SAFETY: the buffer is still ours; `put` hands it over.
            unsafe {
                (*buffer).head.len = len;
                (*buffer).head.state.store(buffer_state::IDLE, Relaxed);
            }
            self.map.ring().head.full.put(index as u32);
        }
    }

    /// Waits for a free buffer; `None` once the consumer has left or died.
    fn acquire(&self) -> Option<*mut Buffer> {
        let head = &self.map.ring().head;
        loop {
            if self.detached() {
                return None;
            }
            match head.free.take() {
                Some(index) if (index as usize) < BUFFERS => {
                    return Some(self.map.buffer(index as usize));
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

/// Empties a buffer for filling.
fn reset(buffer: *mut Buffer, kind: BufferKind, thread: u32) {
    // SAFETY: callers own the buffer.
    unsafe {
        let base = (&raw mut (*buffer).words).cast::<u64>();
        let head = &raw mut (*buffer).head;
        (*head).cursor = base;
        (*head).base = base;
        (*head).limit = base.add(FULL_WORDS);
        (*head).rep_word = 0;
        (*head).rep_at = base;
        (*head).kind = kind as u32;
        (*head).thread = thread;
        (*head).len = 0;
        (*head).state.store(buffer_state::ACTIVE, Release);
    }
}

/// An empty buffer outside the ring, for a thread beyond the limit or a forked child.
pub fn private_buffer() -> *mut Buffer {
    let layout = std::alloc::Layout::new::<Buffer>();
    // SAFETY: a buffer has a non-zero size, and all zeroes are valid: null pointers, zero counters.
    let buffer = unsafe { std::alloc::alloc_zeroed(layout) }.cast::<Buffer>();
    if buffer.is_null() {
        std::alloc::handle_alloc_error(layout);
    }
    reset(buffer, BufferKind::Events, 0);
    buffer
}

/// Empties a buffer and discards its contents.
///
/// # Safety
/// The caller owns the buffer.
pub unsafe fn discard(buffer: *mut Buffer) {
    // SAFETY: passed on to the caller.
    let thread = unsafe { (*buffer).head.thread };
    reset(buffer, BufferKind::Events, thread);
}

/// The head of a buffer, which the hot callbacks write to.
pub fn head_of(buffer: *mut Buffer) -> *mut BufferHead {
    buffer.cast()
}

/// Whether a process exists and is not a zombie.
fn is_alive(pid: u32) -> bool {
    // SAFETY: signal 0 only tests whether the process exists.
    let gone = unsafe { libc::kill(pid as i32, 0) } != 0
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    if gone {
        return false;
    }
    // The state follows the name, which is in parentheses and may contain any characters.
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(") ").next().is_some_and(|s| s.starts_with(['Z', 'X'])),
        Err(_) => true,
    }
}
