//! The free-list part: pop, push, prefetch, invalidate and squash.

use crate::cache::MallocCache;
use crate::config::CLASS_MAX;
use crate::outcome::{Fill, Issue, Pop, Push, Returned, Speculative, Ticket, Violation};

impl MallocCache {
    /// `mchdpop`: the first two objects of the class's list if both are known; else what is known
    /// is dropped, because software pops now.
    #[inline]
    pub fn pop(&mut self, class: u32) -> Pop {
        let Some(slot) = self.slot_of_class(class) else { return Pop::Miss };
        if self.blocked >> slot & 1 != 0 {
            return Pop::Wait;
        }
        self.touch(slot);
        let (head, next) = (self.head[slot], self.next[slot]);
        let hit = head != 0 && next != 0;
        (self.head[slot], self.next[slot]) = (if hit { next } else { 0 }, 0);
        if hit { Pop::Hit { head, next } } else { Pop::Miss }
    }

    /// `mchdpush`: `pointer` becomes the head of the class's list.
    #[inline]
    pub fn push(&mut self, class: u32, pointer: u64) -> Push {
        if class > CLASS_MAX {
            return Push::Rejected(Violation::Class);
        }
        let Some(slot) = self.slot_of_class(class) else { return Push::Absent };
        if self.blocked >> slot & 1 != 0 {
            return Push::Wait;
        }
        self.touch(slot);
        let broken = if pointer == 0 {
            Some(Violation::Null)
        } else if !self.config.fits(pointer) {
            Some(Violation::WidePointer)
        } else if pointer == self.head[slot] {
            Some(Violation::PushOfHead)
        } else {
            None
        };
        if let Some(violation) = broken {
            self.drop_list(slot);
            return Push::Rejected(violation);
        }
        (self.head[slot], self.next[slot]) = (pointer, self.head[slot]);
        Push::Done
    }

    /// First half of `mcnxtprefetch`: whether to load the word at `address`.
    ///
    /// [`Fill::Next`] wants the cached Head as address: only the word at the true head can be
    /// Next. If Head was dropped since the pop (an interrupt, a squash), the load would not bring
    /// in the head, so there is none. [`Fill::Head`] wants the object that software just popped.
    #[inline]
    pub fn prefetch_issue(&mut self, class: u32, fill: Fill, address: u64) -> Issue {
        let Some(slot) = self.slot_of_class(class) else { return Issue::Absent };
        if self.pending >> slot & 1 != 0 {
            return Issue::Wait;
        }
        self.touch(slot);
        let wanted = address != 0
            && self.config.fits(address)
            && match fill {
                Fill::Head => self.head[slot] == 0,
                Fill::Next => self.head[slot] == address && self.next[slot] == 0,
            };
        if !wanted {
            return Issue::Ignored;
        }
        self.pending |= 1 << slot;
        self.blocked |= 1 << slot;
        Issue::Issued(Ticket(slot as u8))
    }

    /// Second half of `mcnxtprefetch`: the word has arrived. It becomes Head if there is none,
    /// else Next; every issued prefetch must return once (with 0 after a fault).
    #[inline]
    pub fn prefetch_return(&mut self, ticket: Ticket, value: u64) -> Returned {
        let slot = usize::from(ticket.0);
        if slot >= usize::from(self.config.entries) || self.blocked >> slot & 1 == 0 {
            if slot < 64 {
                self.pending &= !(1 << slot);
            }
            return Returned::Ignored;
        }
        self.pending &= !(1 << slot);
        self.blocked &= !(1 << slot);
        if value == 0 || !self.config.fits(value) || value == self.head[slot] {
            Returned::Nothing
        } else if self.head[slot] == 0 {
            self.head[slot] = value;
            Returned::Head
        } else {
            self.next[slot] = value;
            Returned::Next
        }
    }

    /// Issue and return in one step, for a user who handles everything in program order.
    #[inline]
    pub fn prefetch(&mut self, class: u32, fill: Fill, address: u64, value: u64) -> Returned {
        match self.prefetch_issue(class, fill, address) {
            Issue::Issued(ticket) => self.prefetch_return(ticket, value),
            Issue::Absent | Issue::Ignored | Issue::Wait => Returned::Ignored,
        }
    }

    /// `mcinval`: the class's list changed other than by the announced push or pop.
    #[inline]
    pub fn invalidate(&mut self, class: u32) {
        if let Some(slot) = self.slot_of_class(class) {
            self.drop_list(slot);
        }
    }

    /// `mcflush` of the list parts only: every class's list changed, the size classes did not.
    pub fn flush_lists(&mut self) {
        for slot in 0..usize::from(self.config.entries) {
            self.drop_list(slot);
        }
    }

    /// Takes back an operation that was executed and is squashed, without an undo log: what it
    /// may have spoiled is dropped. Lookups leave nothing to take back.
    pub fn squash(&mut self, kind: Speculative, class: u32) {
        let Some(slot) = self.slot_of_class(class) else { return };
        match kind {
            Speculative::List => self.drop_list(slot),
            Speculative::Update => self.remove(slot),
            Speculative::Prefetch if self.blocked >> slot & 1 != 0 => self.blocked &= !(1 << slot),
            // It filled Next if there is one, else Head: younger list operations are squashed
            // too, and each drops both.
            Speculative::Prefetch if self.next[slot] != 0 => self.next[slot] = 0,
            Speculative::Prefetch => self.head[slot] = 0,
        }
    }
}
