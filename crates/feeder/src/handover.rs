//! Hands the environment to a program that replaces the guest and is followed, as the launcher does
//! for the first one.
//!
//! The guest library executes QEMU in place of the new program, with the variables in the order in
//! which the guest has them. QEMU up to version 8.0 reverses them. Later ones do not, so they are
//! reversed here, and programs see the same. Where the stack has a vDSO, the padding is made
//! shorter as [`crate::stack`] says. If the call fails, all is put back.

use crate::guest;
use crate::stack::{self, PADDING};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// QEMU keeps the order of variables.
static KEEPS_ORDER: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What has been changed for the call in progress.
    static CHANGED: RefCell<Option<Changed>> = const { RefCell::new(None) };
}

/// Changes of the guest's memory.
struct Changed {
    /// The list of variables, if it was reversed.
    reversed: Option<(u64, usize)>,
    /// The address and the byte where the padding was cut.
    cut: Option<(u64, u8)>,
}

/// Begins a variable that only a followed program has.
const FOLLOWED: &[u8] = b"MALLACC_FOLLOW=";
const WORD: u64 = 8;

/// Sets whether QEMU keeps the order of variables.
pub fn set_keeps_order(keeps: bool) {
    KEEPS_ORDER.store(keeps, Relaxed);
}

/// execve(2) with this path and environment begins.
pub fn before(path: u64, environment: u64) {
    let variables: Vec<u64> = (0..)
        .map_while(|at| guest::try_word(environment + at * WORD).filter(|&v| v != 0))
        .collect();
    let begins = |at: u64, with: &[u8]| guest::try_bytes(at, with.len()).is_some_and(|b| b == with);
    // The program is the first word of what follows it.
    let followed = variables.iter().any(|&at| {
        begins(at, FOLLOWED)
            && guest::text(path).is_some_and(|p| begins(at + FOLLOWED.len() as u64, &p))
    });
    if !followed {
        return;
    }
    let padding = variables.iter().copied().find(|&at| begins(at, PADDING));
    let cut = padding.and_then(|at| {
        let end = at + guest::length(at)?.checked_sub(stack::surplus())?;
        let byte = *guest::try_bytes(end, 1)?.first()?;
        // SAFETY: the environment is about to be given up, or is put back.
        unsafe { guest::write_byte(end, 0) };
        Some((end, byte))
    });
    let reversed = KEEPS_ORDER.load(Relaxed).then_some((environment, variables.len()));
    if let Some((at, count)) = reversed {
        // SAFETY: as above.
        unsafe { reverse(at, count) };
    }
    CHANGED.set(Some(Changed { reversed, cut }));
}

/// It has failed.
pub fn after() {
    let Some(changed) = CHANGED.take() else { return };
    // SAFETY: as it was before.
    unsafe {
        if let Some((at, count)) = changed.reversed {
            reverse(at, count);
        }
        if let Some((at, byte)) = changed.cut {
            guest::write_byte(at, byte);
        }
    }
}

/// # Safety
/// The guest may write `count` words at `at`.
unsafe fn reverse(at: u64, count: usize) {
    // SAFETY: as the caller guarantees; the list was read just before.
    unsafe { std::slice::from_raw_parts_mut(guest::host(at) as *mut u64, count) }.reverse();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// A list of variables, ended by a null.
    fn list(variables: &[&CString]) -> Vec<u64> {
        let addresses = variables.iter().map(|variable| variable.as_ptr() as u64);
        addresses.chain([0]).collect()
    }

    #[test]
    fn a_followed_program_gets_its_variables_in_reverse_and_a_failed_call_changes_nothing() {
        let text = |text: &str| CString::new(text).unwrap();
        let (path, a, b) = (text("/bin/qemu-x86_64"), text("A=1"), text("B=2"));
        let follow = text("MALLACC_FOLLOW=/bin/qemu-x86_64\u{1f}-cpu");
        let environment = list(&[&a, &b, &follow]);
        let (program, at) = (path.as_ptr() as u64, environment.as_ptr() as u64);
        set_keeps_order(true);
        before(program, at);
        assert_eq!(environment, list(&[&follow, &b, &a]));
        after();
        assert_eq!(environment, list(&[&a, &b, &follow]));
        before(a.as_ptr() as u64, at);
        assert_eq!(environment, list(&[&a, &b, &follow]), "another program is not followed");
        set_keeps_order(false);
        before(program, at);
        assert_eq!(environment, list(&[&a, &b, &follow]), "QEMU reverses them itself");
        after();
    }
}
