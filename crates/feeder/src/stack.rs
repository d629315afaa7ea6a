//! The guest's initial stack, made the same under every QEMU.
//!
//! From version 8.2 on, QEMU brings a vDSO and announces it in the auxiliary vector (see
//! getauxval(3)). Its functions only make the system calls that a C library without a vDSO makes
//! itself. So the entry is removed before the program sees it, and programs do the same as under an
//! older QEMU.
//!
//! The vector then ends 16 bytes earlier than QEMU made room for. In a deterministic run the
//! launcher has made the padding among the variables shorter by as much, so that the stack begins
//! where it does without the entry; here the padding gets its length back:
//!
//! ```text
//! argc, argv, envp, auxv   random bytes, argv's strings, variables   padding             …
//! argc, argv, envp, auxv  random bytes, argv's strings, variables   -padding             …
//! ```

use crate::guest;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Types of the auxiliary vector's entries, from the kernel's `linux/auxvec.h`: its end, QEMU's
/// vDSO, and the lowest of what the stack holds beside the strings.
const AT_NULL: u64 = 0;
const AT_RANDOM: u64 = 25;
const AT_SYSINFO_EHDR: u64 = 33;

const WORD: u64 = 8;
/// Size of an entry, and of what the padding is short of.
const ENTRY: u64 = 2 * WORD;
/// The beginning of the padding; it goes on with dashes.
pub const PADDING: &[u8] = b"~MALLACC_PAD=";
/// More words than any program's arguments and variables take (`MAX_ARG_STRINGS` in the kernel's
/// `linux/binfmts.h` has no such bound; the stack has).
const WORDS_MOST: u64 = 1 << 20;

static DONE: AtomicBool = AtomicBool::new(false);
/// The stack had a vDSO's entry.
static HAD_VDSO: AtomicBool = AtomicBool::new(false);

/// Bytes by which QEMU's stack is longer than the guest sees it.
pub fn surplus() -> u64 {
    if HAD_VDSO.load(Relaxed) { ENTRY } else { 0 }
}

/// The first access to memory of the first block: the program's entry reads the number of arguments
/// from its stack, or pushes a return address right below.
pub unsafe extern "C" fn on_first_access(_: c_uint, _: u32, addr: u64, _: *mut c_void) {
    if !DONE.swap(true, Relaxed)
        && let Some(stack) = Stack::found_by(addr)
    {
        // SAFETY: the stack is the program's, which has not read it yet.
        unsafe { stack.hide_vdso() };
    }
}

/// The words of an initial stack: their addresses.
struct Stack {
    /// Pointers to arguments and variables.
    strings: Vec<u64>,
    /// Types in the auxiliary vector, without its end.
    entries: Vec<u64>,
}

impl Stack {
    /// The stack of which `addr` is the first word, or right below it.
    fn found_by(addr: u64) -> Option<Self> {
        [addr, addr + WORD].into_iter().find_map(Self::at)
    }

    fn at(sp: u64) -> Option<Self> {
        let count = guest::try_word(sp).filter(|&count| count < WORDS_MOST)?;
        let arguments = sp + WORD..sp + WORD * (count + 1);
        let mut at = arguments.end;
        (guest::try_word(at)? == 0).then_some(())?;
        let mut strings: Vec<u64> = arguments.step_by(WORD as usize).collect();
        at += WORD;
        while guest::try_word(at)? != 0 {
            strings.push(at);
            at += WORD;
        }
        at += WORD;
        let mut entries = Vec::new();
        while guest::try_word(at)? != AT_NULL {
            entries.push(at);
            at += ENTRY;
        }
        Some(Self { strings, entries })
    }

    fn value(&self, kind: u64) -> Option<(usize, u64)> {
        let at = self.entries.iter().position(|&at| guest::try_word(at) == Some(kind))?;
        Some((at, guest::try_word(self.entries[at] + WORD)?))
    }

    /// # Safety
    /// The stack is the guest's, and nothing in it is used yet.
    unsafe fn hide_vdso(&self) {
        let Some((vdso, _)) = self.value(AT_SYSINFO_EHDR) else { return };
        HAD_VDSO.store(true, Relaxed);
        // SAFETY: words of the vector, and its end behind them.
        unsafe {
            for &at in &self.entries[vdso..] {
                guest::write_word(at, guest::word(at + ENTRY));
                guest::write_word(at + WORD, guest::word(at + ENTRY + WORD));
            }
        }
        let padding = self.strings.iter().filter_map(|&at| guest::try_word(at)).find(|&string| {
            guest::try_bytes(string, PADDING.len()).is_some_and(|bytes| bytes == PADDING)
        });
        if let (Some(padding), Some((_, lowest))) = (padding, self.value(AT_RANDOM)) {
            // SAFETY: from the vector's end to the padding there are strings alone.
            unsafe { self.lengthen(padding, lowest) };
        }
    }

    /// Moves everything from `lowest` to the padding down, into the room that the vector has left.
    ///
    /// # Safety
    /// As for [`Stack::hide_vdso`]; there is room.
    unsafe fn lengthen(&self, padding: u64, lowest: u64) {
        let values = self.entries.iter().map(|at| at + WORD);
        for at in self.strings.iter().copied().chain(values) {
            // SAFETY: a word of the stack.
            unsafe {
                let value = guest::word(at);
                if (lowest..=padding).contains(&value) {
                    guest::write_word(at, value - ENTRY);
                }
            }
        }
        // SAFETY: as the caller guarantees.
        unsafe {
            let begin = guest::host(lowest) as *mut u8;
            let len = (padding - lowest) as usize;
            std::ptr::copy(begin, begin.sub(ENTRY as usize), len);
            let dashes = PADDING.len() + ENTRY as usize;
            let padding = guest::host(padding - ENTRY) as *mut u8;
            padding.write_bytes(b'-', dashes);
            std::ptr::copy_nonoverlapping(PADDING.as_ptr(), padding, PADDING.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stack as QEMU makes it, in memory of its own.
    struct Made {
        words: Vec<u64>,
        /// Index of the vector's first word.
        vector: usize,
        /// What lies above it: random bytes, an argument, a variable, the padding, a variable.
        above: String,
    }

    const RANDOM: &str = "0123456789abcdef";
    const AT_UID: u64 = 11;

    /// The addresses of the strings above the vector, in order.
    fn strings(above: &str, begin: u64) -> Vec<u64> {
        let argument = begin + RANDOM.len() as u64;
        let ends =
            above[RANDOM.len()..].match_indices('\0').map(|(at, _)| argument + at as u64 + 1);
        std::iter::once(argument).chain(ends).collect()
    }

    fn made(vdso: bool, dashes: usize) -> Made {
        let padding = format!("~MALLACC_PAD={}", "-".repeat(dashes));
        let above = format!("{RANDOM}prog\0A=1\0{padding}\0B=2\0");
        let entries = if vdso { 4 } else { 3 };
        let mut words = vec![0; 1 + 2 + 4 + 2 * entries + above.len().div_ceil(8)];
        let begin = words.as_ptr() as u64 + 8 * (7 + 2 * entries) as u64;
        let at = strings(&above, begin);
        words[..7].copy_from_slice(&[1, at[0], 0, at[1], at[2], at[3], 0]);
        let mut vector = vec![AT_UID, 7, AT_RANDOM, begin];
        if vdso {
            vector.extend([AT_SYSINFO_EHDR, 0x1000]);
        }
        vector.extend([AT_NULL, 0]);
        words[7..7 + vector.len()].copy_from_slice(&vector);
        let place = (begin as usize - words.as_ptr() as usize) / 8;
        for (word, bytes) in words[place..].iter_mut().zip(above.as_bytes().chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        Made { words, vector: 7, above }
    }

    #[test]
    fn a_stack_is_found_by_the_first_access_of_either_entry() {
        let mut made = made(true, 40);
        let return_address = made.words.as_ptr() as u64;
        made.words.insert(0, return_address);
        let below = made.words.as_ptr() as u64;
        for addr in [below, below + WORD] {
            let stack = Stack::found_by(addr).unwrap();
            assert_eq!((stack.strings.len(), stack.entries.len()), (4, 3));
        }
        assert!(Stack::found_by(below + 2 * WORD).is_none());
    }

    #[test]
    fn without_the_vdso_all_is_where_it_would_be_without_its_entry() {
        let with = made(true, 40);
        let without = made(false, 40 + ENTRY as usize);
        let sp = with.words.as_ptr() as u64;
        // SAFETY: the stack is ours.
        unsafe { Stack::at(sp).unwrap().hide_vdso() };
        let bytes = |made: &Made, from: usize| -> Vec<u8> {
            made.words[from..].iter().flat_map(|word| word.to_le_bytes()).collect()
        };
        let end = without.vector + 6;
        let (found, expected) = (bytes(&with, end), bytes(&without, end));
        assert_eq!(found[..without.above.len()], expected[..without.above.len()]);
        let relative = |made: &Made| -> Vec<u64> {
            let base = made.words.as_ptr() as u64;
            made.words[..end].iter().map(|&w| if w > 4096 { w - base } else { w }).collect()
        };
        assert_eq!(relative(&with), relative(&without));
    }

    #[test]
    fn a_stack_without_a_vdso_stays_as_it_is() {
        let made = made(false, 40);
        let before = made.words.clone();
        // SAFETY: the stack is ours.
        unsafe { Stack::at(made.words.as_ptr() as u64).unwrap().hide_vdso() };
        assert_eq!(made.words, before);
    }
}
