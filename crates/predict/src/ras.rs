//! Return address stack: a ring that overwrites its oldest entry when full.

/// The stack.
#[derive(Clone, Debug)]
pub(crate) struct ReturnStack {
    addresses: Vec<u64>,
    top: usize,
    depth: usize,
}

impl ReturnStack {
    pub(crate) fn new(entries: u32) -> Self {
        Self { addresses: vec![0; entries as usize], top: 0, depth: 0 }
    }

    /// A call.
    #[inline]
    pub(crate) fn push(&mut self, address: u64) {
        self.top = if self.top + 1 == self.addresses.len() { 0 } else { self.top + 1 };
        self.addresses[self.top] = address;
        self.depth = (self.depth + 1).min(self.addresses.len());
    }

    /// A return: its predicted target, or `None` when the stack is empty.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<u64> {
        self.depth = self.depth.checked_sub(1)?;
        let address = self.addresses[self.top];
        self.top = if self.top == 0 { self.addresses.len() - 1 } else { self.top - 1 };
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_returns_its_size_in_calls_and_forgets_older_ones() {
        for entries in [1, 2, 16] {
            for calls in 0..3 * u64::from(entries) {
                let mut stack = ReturnStack::new(entries);
                (0..calls).for_each(|n| stack.push(n));
                for n in (0..calls).rev() {
                    let held = calls - n <= u64::from(entries);
                    assert_eq!(stack.pop(), held.then_some(n));
                }
                assert_eq!(stack.pop(), None);
            }
        }
    }
}
