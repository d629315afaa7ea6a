//! Allocator calls: from the retirement of an entry point's first instruction to that of its `ret`.

use stream::CallKind;

/// A size class of the program's allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Its number.
    pub number: u8,
    /// Bytes of each of its blocks.
    pub bytes: u64,
}

/// A finished call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its entry point.
    pub kind: CallKind,
    /// Retire-to-retire cycles.
    pub cycles: u64,
    /// Size class that it computed, if any.
    pub class: Option<SizeClass>,
    /// Its argument: size or pointer.
    pub argument: u64,
    /// Who made it ([`CallTracker::caller`]).
    pub caller: u32,
}

#[derive(Clone, Copy)]
struct Open {
    kind: CallKind,
    start: u64,
    class: Option<SizeClass>,
    argument: u64,
    caller: u32,
}

/// Follows calls in one thread's instruction stream.
#[derive(Default)]
pub struct CallTracker {
    open: Option<Open>,
    depth: u32,
    /// `CALL_END` was seen; the next return ends the innermost call.
    ending: bool,
    /// Who makes the outermost calls that begin from now on: a number of the owner's.
    pub caller: u32,
    /// Finished calls, oldest first; the owner drains them.
    pub finished: Vec<Call>,
    /// Outermost calls that began.
    pub begun: u64,
    /// Outermost calls that ended.
    pub ended: u64,
    /// Calls abandoned because their end never came (a jump out of the allocator, or the
    /// measurement began or ended within them).
    pub abandoned: u64,
}

impl CallTracker {
    /// A call begins; the first instruction of the entry point's first block retired at cycle
    /// `start`, or is the next one to retire if that is 0.
    pub fn begin(&mut self, kind: CallKind, argument: u64, start: u64) {
        if self.depth == 0 {
            self.open = Some(Open { kind, start, class: None, argument, caller: self.caller });
            self.begun += 1;
        }
        self.depth += 1;
        self.ending = false;
    }

    /// The first instruction of a block retired at `cycle`.
    #[inline(always)]
    pub fn first_instruction(&mut self, cycle: u64) {
        if let Some(open) = &mut self.open
            && open.start == 0
        {
            open.start = cycle;
        }
    }

    /// The size class of the current call is known now.
    pub fn class(&mut self, class: SizeClass) {
        if let Some(open) = &mut self.open {
            open.class.get_or_insert(class);
        }
    }

    /// The innermost call is about to return.
    pub fn end(&mut self) {
        self.ending = self.depth > 0;
    }

    /// A return instruction retired at `cycle`.
    #[inline(always)]
    pub fn returned(&mut self, cycle: u64) {
        if !self.ending {
            return;
        }
        self.ending = false;
        self.depth -= 1;
        if self.depth == 0
            && let Some(open) = self.open.take()
        {
            self.ended += 1;
            self.finished.push(Call {
                kind: open.kind,
                cycles: cycle - open.start,
                class: open.class,
                argument: open.argument,
                caller: open.caller,
            });
        }
    }

    /// Drops an open call (timing starts or stops here, or another thread runs).
    pub fn abandon(&mut self) {
        self.abandoned += u64::from(self.open.is_some());
        self.open = None;
        self.depth = 0;
        self.ending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_inside_another_belongs_to_the_outer_one() {
        let mut calls = CallTracker { caller: 7, ..CallTracker::default() };
        calls.begin(CallKind::Realloc, 64, 100);
        calls.returned(110); // a helper's return: no CALL_END before it
        calls.caller = 8; // of the inner call
        calls.begin(CallKind::Malloc, 64, 120);
        let class = SizeClass { number: 5, bytes: 64 };
        calls.class(class);
        calls.class(SizeClass { number: 7, bytes: 96 }); // of a call inside it
        calls.end();
        calls.returned(150);
        assert!(calls.finished.is_empty() && calls.depth == 1);
        calls.end();
        calls.returned(180);
        let call = Call {
            kind: CallKind::Realloc,
            cycles: 80,
            class: Some(class),
            argument: 64,
            caller: 7,
        };
        assert_eq!(calls.finished, [call]);
        assert_eq!((calls.begun, calls.ended, calls.abandoned), (1, 1, 0));
    }

    #[test]
    fn calls_in_equal_calls_out_plus_abandoned() {
        let mut calls = CallTracker::default();
        calls.begin(CallKind::Free, 0, 1);
        calls.abandon();
        calls.end();
        calls.returned(9);
        assert_eq!((calls.begun, calls.ended, calls.abandoned), (1, 0, 1));
        assert!(calls.finished.is_empty());
    }
}
