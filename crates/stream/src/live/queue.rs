//! The queues that carry buffers in both directions.

use super::futex;
use super::layout::{BUFFERS, BufferQueue};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

impl BufferQueue {
    /// Puts a buffer. The queue can hold all buffers, so there is always room. One putter at a
    /// time.
    pub fn put(&self, buffer: u32) {
        let put = self.put.load(Relaxed);
        self.items[put as usize % BUFFERS].store(buffer, Relaxed);
        self.put.store(put.wrapping_add(1), SeqCst);
        if self.sleeping.load(SeqCst) != 0 {
            futex::wake(&self.put);
        }
    }

    /// Takes the oldest buffer, if there is one. One taker at a time. An invalid buffer number
    /// means that the guest wrote into the ring.
    pub fn take(&self) -> Option<u32> {
        let taken = self.taken.load(Relaxed);
        if taken == self.put.load(Acquire) {
            return None;
        }
        let buffer = self.items[taken as usize % BUFFERS].load(Relaxed);
        self.taken.store(taken.wrapping_add(1), Release);
        Some(buffer)
    }

    /// Sleeps until something is put, for at most `limit`; may return early.
    pub fn sleep(&self, limit: Duration) {
        self.sleeping.store(1, SeqCst);
        let put = self.put.load(SeqCst);
        if put == self.taken.load(Relaxed) {
            futex::wait(&self.put, put, limit);
        }
        self.sleeping.store(0, SeqCst);
    }

    /// Wakes the taker without putting a buffer.
    pub fn nudge(&self) {
        futex::wake(&self.put);
    }
}
