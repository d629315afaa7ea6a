//! The queues that carry slots to and fro.

use super::futex;
use super::layout::{SLOTS, SlotQueue};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::time::Duration;

impl SlotQueue {
    /// Puts a slot. The queue holds all slots, so there is always room. One putter at a time.
    pub fn put(&self, slot: u32) {
        let put = self.put.load(Relaxed);
        self.items[put as usize % SLOTS].store(slot, Relaxed);
        self.put.store(put.wrapping_add(1), SeqCst);
        if self.sleeping.load(SeqCst) != 0 {
            futex::wake(&self.put);
        }
    }

    /// Takes the oldest slot, if there is one. One taker at a time. A number that is no slot's
    /// means that the guest wrote into the ring.
    pub fn take(&self) -> Option<u32> {
        let taken = self.taken.load(Relaxed);
        if taken == self.put.load(Acquire) {
            return None;
        }
        let slot = self.items[taken as usize % SLOTS].load(Relaxed);
        self.taken.store(taken.wrapping_add(1), Release);
        Some(slot)
    }

    /// Sleeps until something is put, at most `limit`; returns early on a wake-up for any reason.
    pub fn sleep(&self, limit: Duration) {
        self.sleeping.store(1, SeqCst);
        let put = self.put.load(SeqCst);
        if put == self.taken.load(Relaxed) {
            futex::wait(&self.put, put, limit);
        }
        self.sleeping.store(0, SeqCst);
    }

    /// Wakes the taker without putting anything.
    pub fn nudge(&self) {
        futex::wake(&self.put);
    }
}
