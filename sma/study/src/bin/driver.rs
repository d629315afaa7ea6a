//! Replays compiled subsets on one allocator in memory at a fixed address, with the markers of
//! `docs/markers.md` around every call: `mallacc-sma-driver KIND BASE BYTES FILE`.
//!
//! ```text
//! FILE ──> subsets ──> twice: a new heap for each, call by call; the second time in the region of
//!                      interest, so that predictors and the code's cache lines are warm
//! BASE ──> region of BYTES │ state          (the range that the machine calls scratch-pad)
//! ```
//! Pools of deferred regions lie on the stack: they belong to the core.
#![cfg(target_arch = "x86_64")]

use mallacc_study::compiled::{Compiled, read};
use rig::arena::Once;
use sma::{Arena, Cam, Deferred, Heap, Lm, PowerOfTwo, Unchecked, state_words};
use std::alloc::Layout;
use std::arch::asm;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::ptr::{NonNull, null_mut};

/// Room for state behind the region; `mallacc sma-study` declares the same to the machine.
const STATE_BYTES: usize = 16 << 10;

/// A marker with one operand.
macro_rules! mark {
    ($op:literal, $value:expr) => {{
        let mut value: u64 = $value;
        // SAFETY: a nop and a store below the red zone, on one line of code within an OS page.
        unsafe {
            asm!(
                ".p2align 12, , 15",
                concat!("nopl ", $op, "({0})"),
                "movq {0}, -136(%rsp)",
                inout(reg) value,
                options(att_syntax, preserves_flags),
            );
        }
        value
    }};
}

/// A marker without operands.
macro_rules! mark0 {
    ($op:literal) => {
        // SAFETY: a nop.
        unsafe { asm!(concat!("nopl ", $op, "(%rax)"), options(att_syntax, preserves_flags)) }
    };
}

trait Subject {
    fn alloc(&self, bytes: usize) -> *mut u8;
    fn free(&self, ptr: *mut u8, bytes: usize);
}

struct Ours<A>(A);

impl<A: Arena> Subject for Ours<A> {
    #[inline(always)]
    fn alloc(&self, bytes: usize) -> *mut u8 {
        self.0.alloc(bytes).map_or(null_mut(), NonNull::as_ptr)
    }

    #[inline(always)]
    fn free(&self, ptr: *mut u8, bytes: usize) {
        if let Some(ptr) = NonNull::new(ptr) {
            // SAFETY: the replay frees what it allocated, once, with its size.
            let _ = unsafe { self.0.free(ptr, bytes) };
        }
    }
}

/// The crate `dlmalloc`, with its own state in the scratch-pad.
struct Dl<'m>(&'m UnsafeCell<dlmalloc::Dlmalloc<Once>>);

impl Subject for Dl<'_> {
    #[inline(always)]
    fn alloc(&self, bytes: usize) -> *mut u8 {
        // SAFETY: one thread, no reference is kept.
        unsafe { (*self.0.get()).malloc(bytes, 8) }
    }

    #[inline(always)]
    fn free(&self, ptr: *mut u8, bytes: usize) {
        // SAFETY: one thread, no reference is kept; the replay frees what it allocated, once.
        unsafe { (*self.0.get()).free(ptr, bytes, 8) }
    }
}

/// The crate `talc`, with its own state in the scratch-pad and its bins in the region.
struct Talc<'m>(&'m UnsafeCell<talc::Talc<talc::ErrOnOom>>);

impl Talc<'_> {
    #[inline(always)]
    fn layout(bytes: usize) -> Layout {
        // SAFETY: the alignment is a power of two, and 32-bit sizes are far from overflowing.
        unsafe { Layout::from_size_align_unchecked(bytes, 8) }
    }
}

impl Subject for Talc<'_> {
    #[inline(always)]
    fn alloc(&self, bytes: usize) -> *mut u8 {
        // SAFETY: one thread, no reference is kept; the size is not zero.
        let ptr = unsafe { (*self.0.get()).malloc(Self::layout(bytes)) };
        ptr.map_or(null_mut(), NonNull::as_ptr)
    }

    #[inline(always)]
    fn free(&self, ptr: *mut u8, bytes: usize) {
        if let Some(ptr) = NonNull::new(ptr) {
            // SAFETY: one thread, no reference is kept; the replay frees what it allocated, once.
            unsafe { (*self.0.get()).free(ptr, Self::layout(bytes)) }
        }
    }
}

#[inline(never)]
fn marked_alloc(subject: &impl Subject, bytes: usize) -> *mut u8 {
    let bytes = mark!("0x4d614c20", bytes as u64) as usize;
    let ptr = subject.alloc(bytes);
    mark!("0x4d614c30", ptr as u64) as *mut u8
}

/// The same for a request that the first replay saw refused: it has another call kind, so that the
/// cycles of served requests can be told apart.
#[inline(never)]
fn marked_refusal(subject: &impl Subject, bytes: usize) -> *mut u8 {
    let bytes = mark!("0x4d614c27", bytes as u64) as usize;
    let ptr = subject.alloc(bytes);
    mark!("0x4d614c30", ptr as u64) as *mut u8
}

#[inline(never)]
fn marked_free(subject: &impl Subject, ptr: *mut u8, bytes: usize) {
    let ptr = mark!("0x4d614c21", ptr as u64) as *mut u8;
    subject.free(ptr, bytes);
    mark!("0x4d614c30", ptr as u64);
}

/// What a replay records: pointers by slot, and for each operation whether it was refused.
struct Notes<'n> {
    slots: &'n mut [(*mut u8, u32)],
    refused: &'n mut [bool],
}

fn replay(subject: &impl Subject, subset: &Compiled, notes: &mut Notes<'_>) {
    for (&(slot, bytes), refused) in subset.ops.iter().zip(notes.refused.iter_mut()) {
        let place = &mut notes.slots[slot as usize];
        if bytes > 0 {
            let ptr = match *refused {
                true => marked_refusal(subject, bytes as usize),
                false => marked_alloc(subject, bytes as usize),
            };
            *place = (ptr, bytes);
            *refused = place.0.is_null();
        } else if !place.0.is_null() {
            marked_free(subject, place.0, place.1 as usize);
            place.0 = null_mut();
        }
    }
}

/// Memory at the address that the machine declares as its scratch-pad.
struct Memory {
    base: NonNull<u8>,
    bytes: usize,
}

impl Memory {
    fn map(address: usize, bytes: usize) -> Option<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a new mapping that does not replace another.
        let at =
            unsafe { libc::mmap(address as *mut _, bytes + STATE_BYTES, access, flags, -1, 0) };
        let base = NonNull::new(at.cast::<u8>()).filter(|_| at as usize == address)?;
        Some(Self { base, bytes })
    }

    fn state(&self) -> *mut u8 {
        // SAFETY: the mapping continues behind the region.
        unsafe { self.base.as_ptr().add(self.bytes) }
    }

    /// Region and state for a heap; any previous user is gone.
    fn parts(&mut self) -> (&mut [MaybeUninit<u8>], &mut [MaybeUninit<u32>]) {
        let words = state_words::<128, Unchecked>(self.bytes);
        // SAFETY: mapped, aligned, disjoint, and borrowed for the slices' lifetime.
        unsafe {
            let region = std::slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.bytes);
            (region, std::slice::from_raw_parts_mut(self.state().cast(), words))
        }
    }

    /// Puts an allocator's own state behind the region; the previous contents need no drop.
    fn keep<T>(&mut self, heap: T) -> &UnsafeCell<T> {
        const { assert!(size_of::<T>() <= STATE_BYTES && align_of::<T>() <= 4096) };
        let place = self.state().cast::<UnsafeCell<T>>();
        // SAFETY: the location is mapped, large enough, and aligned to an OS page, as region sizes
        // are; borrowed for the memory's lifetime.
        unsafe {
            place.write(UnsafeCell::new(heap));
            &*place
        }
    }

    fn run(&mut self, kind: &str, subset: &Compiled, notes: &mut Notes<'_>) -> Option<()> {
        let (base, bytes) = (self.base.as_ptr(), self.bytes);
        if kind == "dlmalloc" {
            let heap = dlmalloc::Dlmalloc::new_with_allocator(Once::new(base, bytes));
            replay(&Dl(self.keep(heap)), subset, notes);
            return Some(());
        }
        if kind == "talc" {
            let mut heap = talc::Talc::new(talc::ErrOnOom);
            // SAFETY: mapped, and used by this heap alone; any previous user is gone.
            unsafe { heap.claim(talc::Span::from_base_size(base, bytes)) }.ok()?;
            replay(&Talc(self.keep(heap)), subset, notes);
            return Some(());
        }
        let (region, state) = self.parts();
        let heap = Heap::<128, PowerOfTwo, Unchecked>::new(region, state).ok()?;
        match kind {
            "sma" => replay(&Ours(&heap), subset, notes),
            "lm" => replay(&Ours(Deferred::<_, Lm>::new(&heap).ok()?), subset, notes),
            "cam" => replay(&Ours(Deferred::<_, Cam>::new(&heap).ok()?), subset, notes),
            _ => return None,
        }
        Some(())
    }
}

fn run() -> Option<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, kind, base, bytes, file] = args.as_slice() else { return None };
    let subsets = read(&std::fs::read(file).ok()?)?;
    let most = subsets.iter().map(|subset| subset.slots).max()?;
    let mut slots = vec![(null_mut(), 0); most as usize];
    let mut refused: Vec<Vec<bool>> =
        subsets.iter().map(|subset| vec![false; subset.ops.len()]).collect();
    let base = usize::from_str_radix(base.strip_prefix("0x")?, 16).ok()?;
    let mut memory = Memory::map(base, bytes.parse().ok()?)?;
    for measured in [false, true] {
        if measured {
            mark0!("0x4d614c10");
        }
        for (subset, refused) in subsets.iter().zip(&mut refused) {
            memory.run(kind, subset, &mut Notes { slots: &mut slots, refused })?;
        }
    }
    mark0!("0x4d614c11");
    Some(())
}

fn main() -> ExitCode {
    if run().is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "usage: mallacc-sma-driver sma|lm|cam|dlmalloc|talc BASE BYTES FILE (see mallacc sma-study)"
    );
    ExitCode::FAILURE
}
