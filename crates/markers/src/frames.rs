//! The calls that have not returned, from the stack addresses of their return addresses.

/// Addresses further apart than this are on different stacks (the usual limit of a stack's size).
const STACK_BYTES: u64 = 8 << 20;
/// Frames that are kept; a program that switches between stacks can leave any number behind.
const FRAMES_MAX: usize = 1 << 16;

/// A call that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<T> {
    /// The stack address of its return address.
    pub slot: u64,
    /// The call instruction, as the owner names it.
    pub call: T,
}

/// The calls of one thread that have not returned, outermost first.
///
/// Stacks grow downwards: what lies at or below the slot of a call or return is over, however it
/// was left (`longjmp` and exceptions return from many calls at once).
#[derive(Clone, Debug)]
pub struct Frames<T>(Vec<Frame<T>>);

impl<T> Default for Frames<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Frames<T> {
    /// A call pushed its return address at `slot`.
    #[inline]
    pub fn call(&mut self, slot: u64, call: T) {
        while self.innermost().is_some_and(|frame| is_over(frame.slot, slot)) {
            self.0.pop();
        }
        if self.0.len() == FRAMES_MAX {
            self.0.drain(..FRAMES_MAX / 2);
        }
        self.0.push(Frame { slot, call });
    }

    /// A return took its address from `slot`; returns whether a call had put it there.
    #[inline]
    pub fn ret(&mut self, slot: u64) -> bool {
        let mut found = false;
        while let Some(frame) = self.innermost().filter(|frame| is_over(frame.slot, slot)) {
            found = frame.slot == slot;
            self.0.pop();
        }
        found
    }

    /// The innermost call.
    #[inline]
    pub fn innermost(&self) -> Option<Frame<T>> {
        self.0.last().copied()
    }

    /// Forgets all calls.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Whether a frame is over when a call or return at `at` executes on its stack.
#[inline]
pub fn is_over(slot: u64, at: u64) -> bool {
    at.checked_sub(slot).is_some_and(|above| above < STACK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(frames: &Frames<char>) -> String {
        frames.0.iter().map(|frame| frame.call).collect()
    }

    #[test]
    fn calls_and_returns_match_by_their_slots() {
        let mut frames = Frames::default();
        frames.call(0x1000, 'a');
        frames.call(0xf00, 'b');
        assert!(frames.ret(0xf00));
        frames.call(0xf00, 'c');
        assert_eq!(calls(&frames), "ac");
        assert!(!frames.ret(0xe00), "an address that no call has pushed");
        assert!(frames.ret(0x1000), "c was left by a jump");
        assert_eq!(calls(&frames), "");
    }

    #[test]
    fn a_call_from_higher_up_ends_what_was_below() {
        let mut frames = Frames::default();
        for (slot, call) in [(0x1000, 'a'), (0xf00, 'b'), (0xe00, 'c'), (0xf80, 'd')] {
            frames.call(slot, call);
        }
        assert_eq!(calls(&frames), "ad");
    }

    #[test]
    fn another_stack_ends_nothing() {
        let mut frames = Frames::default();
        frames.call(0x1000, 'a');
        frames.call(0x1000 + STACK_BYTES, 'b');
        assert_eq!(calls(&frames), "ab");
        assert!(frames.ret(0x1000 + STACK_BYTES) && frames.ret(0x1000));
    }

    #[test]
    fn frames_that_nobody_returns_to_are_bounded() {
        let mut frames = Frames::default();
        for stack in 0..3 * FRAMES_MAX as u64 {
            frames.call(stack * STACK_BYTES, ());
        }
        assert!(frames.0.len() <= FRAMES_MAX);
        assert!(frames.ret((3 * FRAMES_MAX as u64 - 1) * STACK_BYTES), "the newest are kept");
    }
}
