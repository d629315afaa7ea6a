//! Begins and ends of calls.

use stream::CallKind;

use crate::code::Spot;
use crate::finding::{Findings, Kind};
use crate::frames::{Frames, is_over};

/// A call that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its entry point.
    pub kind: CallKind,
    /// Its argument: size or pointer.
    pub argument: u64,
    /// Where it began.
    pub begin: Spot,
    /// The call instruction in the program, if it is known.
    pub caller: Option<Spot>,
    /// Stack address of its return address; `None` if no call instruction was seen.
    slot: Option<u64>,
    /// Where its `CALL_END` executed.
    ended: Option<Spot>,
}

/// The calls of one thread.
#[derive(Default)]
pub struct Calls {
    /// All calls that have not returned, of the allocator or not.
    pub frames: Frames<Spot>,
    /// The allocator's, outermost first.
    open: Vec<Call>,
    /// Outermost calls that ended as they should.
    pub ended: u64,
}

impl Calls {
    /// The outermost call in progress.
    pub fn outermost(&self) -> Option<&Call> {
        self.open.first()
    }

    /// `CALL_BEGIN`; returns whether the call is an outermost one.
    pub fn begin(
        &mut self,
        kind: CallKind,
        argument: u64,
        at: Spot,
        findings: &mut Findings,
    ) -> bool {
        let frame = self.frames.innermost();
        let slot = frame.map(|frame| frame.slot);
        if let Some(same) = self.open.iter().find(|call| slot.is_some() && call.slot == slot) {
            findings.add(Kind::BeginTwice, at, Some(same.begin));
            return false;
        }
        let caller = frame.map(|frame| frame.call);
        self.open.push(Call { kind, argument, begin: at, caller, slot, ended: None });
        self.open.len() == 1
    }

    /// `CALL_END`; returns the call if it is an outermost one.
    pub fn end(&mut self, at: Spot, findings: &mut Findings) -> Option<Call> {
        let outermost = self.open.len() == 1;
        let Some(call) = self.open.last_mut() else {
            findings.add(Kind::EndWithoutBegin, at, None);
            return None;
        };
        call.ended = Some(at);
        outermost.then_some(*call)
    }

    /// A call instruction pushed its return address at `slot`.
    #[inline]
    pub fn call(&mut self, slot: u64, at: Spot, findings: &mut Findings) {
        if !self.open.is_empty() {
            self.left(slot, None, findings);
        }
        self.frames.call(slot, at);
    }

    /// A return took its address from `slot`.
    #[inline]
    pub fn ret(&mut self, slot: u64, at: Spot, findings: &mut Findings) -> Returned {
        let known = self.frames.ret(slot);
        if self.open.is_empty() || !known {
            Returned::Other
        } else {
            self.returned(slot, at, findings)
        }
    }

    fn returned(&mut self, slot: u64, at: Spot, findings: &mut Findings) -> Returned {
        if let Some(call) = self.open.last_mut()
            && call.slot.is_some_and(|own| own > slot)
            && let Some(end) = call.ended
        {
            // A function that the entry point had called returns: the machine ends the call here.
            findings.add(Kind::EndTooEarly, end, Some(call.begin));
            self.open.pop();
            return Returned::Incomplete;
        }
        self.left(slot, Some(at), findings)
    }

    /// Calls at or below a stack address are over. `at`: the return of the one whose slot it is.
    fn left(&mut self, slot: u64, at: Option<Spot>, findings: &mut Findings) -> Returned {
        let mut result = Returned::Other;
        while let Some(call) = self.open.last()
            && call.slot.is_some_and(|own| is_over(own, slot))
        {
            if call.ended.is_some() {
                self.ended += u64::from(self.open.len() == 1);
            } else {
                // One that was left by a jump shows only where it began.
                let here = at.filter(|_| call.slot == Some(slot)).unwrap_or(call.begin);
                findings.add(Kind::EndMissing, here, Some(call.begin));
                result = Returned::Incomplete;
            }
            self.open.pop();
        }
        result
    }

    /// A new image: nothing of the old one returns.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.open.clear();
    }
}

/// What a return meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// A call of the allocator whose result is not known.
    Incomplete,
    /// Anything else.
    Other,
}
