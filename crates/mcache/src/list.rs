//! The free-list part: pop, push, prefetch, invalidate and squash.

use crate::cache::MallocCache;
use crate::config::CLASS_MAX;
use crate::outcome::{Fill, Issue, Pop, Push, Returned, Speculative, Ticket, Violation};

impl MallocCache {
    /// `mchdpop`: the first two objects of the class's list if both are known; otherwise what is
    /// known is dropped, because software pops now.
    #[inline]
    pub fn pop(&mut self, class: u32) -> Pop {
        let Some(number) = self.number_of_class(class) else { return Pop::Miss };
        if self.blocked >> number & 1 != 0 {
            return Pop::Wait;
        }
        self.touch(number);
        let (head, next) = (self.head[number], self.next[number]);
        let hit = head != 0 && next != 0;
        (self.head[number], self.next[number]) = (if hit { next } else { 0 }, 0);
        if hit { Pop::Hit { head, next } } else { Pop::Miss }
    }

    /// `mchdpush`: `pointer` becomes the head of the class's list.
    #[inline]
    pub fn push(&mut self, class: u32, pointer: u64) -> Push {
        if class > CLASS_MAX {
            return Push::Rejected(Violation::Class);
        }
        let Some(number) = self.number_of_class(class) else { return Push::Absent };
        if self.blocked >> number & 1 != 0 {
            return Push::Wait;
        }
        self.touch(number);
        let broken = if pointer == 0 {
            Some(Violation::Null)
        } else if !self.config.fits(pointer) {
            Some(Violation::WidePointer)
        } else if pointer == self.head[number] {
            Some(Violation::PushOfHead)
        } else {
            None
        };
        if let Some(violation) = broken {
            self.drop_list(number);
            return Push::Rejected(violation);
        }
        (self.head[number], self.next[number]) = (pointer, self.head[number]);
        Push::Done
    }

    /// First half of `mcnxtprefetch` and `mchdprefetch`: whether to load the word at `address`.
    ///
    /// [`Fill::Next`] expects the cached Head as its address: only the word at the true head can be
    /// Next. If Head was dropped since the pop (an interrupt, a squash), the load could not restore
    /// Head, so none is issued. [`Fill::Head`] expects the object that software just popped.
    #[inline]
    pub fn prefetch_issue(&mut self, class: u32, fill: Fill, address: u64) -> Issue {
        let Some(number) = self.number_of_class(class) else { return Issue::Absent };
        if self.pending >> number & 1 != 0 {
            return Issue::Wait;
        }
        self.touch(number);
        let wanted = address != 0
            && self.config.fits(address)
            && match fill {
                Fill::Head => self.head[number] == 0,
                Fill::Next => self.head[number] == address && self.next[number] == 0,
            };
        if !wanted {
            return Issue::Ignored;
        }
        self.pending |= 1 << number;
        self.blocked |= 1 << number;
        Issue::Issued(Ticket(number as u8))
    }

    /// Second half of both prefetches: the word has arrived. It becomes Head if there is none,
    /// otherwise Next; every issued prefetch must return once (with 0 after a fault).
    #[inline]
    pub fn prefetch_return(&mut self, ticket: Ticket, value: u64) -> Returned {
        let number = usize::from(ticket.0);
        if number >= usize::from(self.config.entries) || self.blocked >> number & 1 == 0 {
            if number < 64 {
                self.pending &= !(1 << number);
            }
            return Returned::Ignored;
        }
        self.pending &= !(1 << number);
        self.blocked &= !(1 << number);
        if value == 0 || !self.config.fits(value) || value == self.head[number] {
            Returned::Nothing
        } else if self.head[number] == 0 {
            self.head[number] = value;
            Returned::Head
        } else {
            self.next[number] = value;
            Returned::Next
        }
    }

    /// Issue and return in one step, for users that handle everything in program order.
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
        if let Some(number) = self.number_of_class(class) {
            self.drop_list(number);
        }
    }

    /// `mcflushl`: every class's list changed, but the size classes did not.
    pub fn flush_lists(&mut self) {
        for number in 0..usize::from(self.config.entries) {
            self.drop_list(number);
        }
    }

    /// Undoes an operation that was executed and is squashed, without an undo log: everything that
    /// it may have corrupted is dropped. Lookups leave nothing to undo.
    pub fn squash(&mut self, kind: Speculative, class: u32) {
        let Some(number) = self.number_of_class(class) else { return };
        match kind {
            Speculative::List => self.drop_list(number),
            Speculative::Update => self.remove(number),
            Speculative::Prefetch if self.blocked >> number & 1 != 0 => {
                self.blocked &= !(1 << number)
            }
            // It filled Next if there is one, otherwise Head: younger list operations are squashed
            // too, and each drops both.
            Speculative::Prefetch if self.next[number] != 0 => self.next[number] = 0,
            Speculative::Prefetch => self.head[number] = 0,
        }
    }
}
