//! One family of functions per block size and kind.

use crate::Status;
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};
use sma::{
    Arena, Checked, Deferred, Exact, FreeError, Guard, HeadLocks, Headed, Heap, Lm, Local,
    PowerOfTwo, Short, Tagged, Unchecked, state_words,
};

/// `sma_heap` in C: the region's address, and room for the heap.
#[repr(C)]
pub struct CHeap {
    base: *mut u8,
    room: MaybeUninit<[usize; 6]>,
}

/// `sma_pool` in C: room for a pool in front of a heap.
#[repr(C)]
pub struct CPool(MaybeUninit<[u64; 16]>);

macro_rules! status {
    ($result:expr) => {
        match $result {
            Ok(()) => Status::Ok as c_int,
            Err(error) => Status::from(error) as c_int,
        }
    };
}

/// The status of a free. Freeing no allocation has no effect, like `free(NULL)`; its size, which no
/// allocation has, was refused before anything was touched.
fn freed(reference: u32, result: Result<(), FreeError>) -> c_int {
    match result {
        Err(_) if reference == 0 => Status::Ok as c_int,
        result => status!(result),
    }
}

macro_rules! family {
    ($module:ident, $name:literal, $block:literal, $classes:ty, $guard:ty, $sharing:ty) => {
        mod $module {
            use super::*;

            type H = Heap<'static, $block, $classes, $guard, Short, $sharing>;
            type P = Deferred<&'static H, Lm<$classes, u64>>;

            const _: () = assert!(size_of::<H>() <= size_of::<[usize; 6]>());
            const _: () = assert!(align_of::<H>() <= align_of::<CHeap>());
            const _: () = assert!(size_of::<P>() <= size_of::<CPool>());
            const _: () = assert!(align_of::<P>() <= align_of::<CPool>());

            /// The heap; none behind a null pointer, if this kind checks.
            ///
            /// # Safety
            /// `heap` was initialised by this family, or is null in a checked one.
            unsafe fn get(heap: *const CHeap) -> Option<&'static H> {
                if <$guard>::CHECKED && heap.is_null() {
                    return None;
                }
                // SAFETY: the caller's promise; `init` wrote an `H` there.
                Some(unsafe { &*(&raw const (*heap).room).cast::<H>() })
            }

            /// The pool; none behind a null pointer, if this kind checks.
            ///
            /// # Safety
            /// `pool` was initialised by this family, or is null in a checked one.
            unsafe fn get_pool<'a>(pool: *const CPool) -> Option<&'a P> {
                if <$guard>::CHECKED && pool.is_null() {
                    return None;
                }
                // SAFETY: the caller's promise; `pool_init` wrote a `P` there.
                Some(unsafe { &*pool.cast::<P>() })
            }

            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_state_words"))]
            extern "C" fn words(bytes: usize) -> usize {
                state_words::<$block, $guard>(bytes)
            }

            /// # Safety
            /// As sma.h says: memory of these sizes, used by this heap alone.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_init"))]
            unsafe extern "C" fn init(
                heap: *mut CHeap,
                region: *mut u8,
                bytes: usize,
                state: *mut u32,
                words: usize,
            ) -> c_int {
                let Some(region) = NonNull::new(region) else { return Status::Null as c_int };
                if heap.is_null() {
                    return Status::Null as c_int;
                }
                // SAFETY: the caller's promise.
                let made = unsafe {
                    match NonNull::new(state) {
                        Some(state) => H::from_raw_parts(region, bytes, state, words),
                        None => H::from_raw(region, bytes),
                    }
                };
                // SAFETY: `heap` is the caller's, and has room for an `H`.
                status!(made.map(|made| unsafe {
                    (*heap).base = sma::RawArena::base(&made).as_ptr();
                    (&raw mut (*heap).room).cast::<H>().write(made);
                }))
            }

            /// # Safety
            /// As sma.h says: memory of this size, used by this heap alone.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_init_for_headers"))]
            unsafe extern "C" fn init_for_headers(
                heap: *mut CHeap,
                region: *mut u8,
                bytes: usize,
            ) -> c_int {
                let Some(region) = NonNull::new(region) else { return Status::Null as c_int };
                if heap.is_null() {
                    return Status::Null as c_int;
                }
                // SAFETY: the caller's promise.
                let made = unsafe { H::from_raw_for_headers(region, bytes) };
                // SAFETY: `heap` is the caller's, and has room for an `H`.
                status!(made.map(|made| unsafe {
                    (*heap).base = sma::RawArena::base(&made).as_ptr();
                    (&raw mut (*heap).room).cast::<H>().write(made);
                }))
            }

            /// # Safety
            /// An initialised heap; `out` may be written.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_try_alloc"))]
            unsafe extern "C" fn try_alloc(heap: *mut CHeap, bytes: usize, out: *mut u32) -> c_int {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                if <$guard>::CHECKED && out.is_null() {
                    return Status::Null as c_int;
                }
                let got = Tagged::new(heap).alloc(bytes);
                // SAFETY: the caller's promise.
                status!(got.map(|handle| unsafe { *out = handle.into_raw() }))
            }

            /// # Safety
            /// An initialised heap.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_alloc"))]
            unsafe extern "C" fn alloc(heap: *mut CHeap, bytes: usize) -> u32 {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return 0 };
                Tagged::new(heap).alloc(bytes).map_or(0, |h| h.into_raw())
            }

            /// # Safety
            /// A live reference of this heap, unless the heap is checked.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_free"))]
            unsafe extern "C" fn free(heap: *mut CHeap, reference: u32) -> c_int {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                // SAFETY: the caller's promise.
                freed(reference, unsafe { Tagged::new(heap).free_bits(reference) })
            }

            /// # Safety
            /// An initialised heap.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_alloc_sized"))]
            unsafe extern "C" fn alloc_sized(heap: *mut CHeap, bytes: usize) -> *mut u8 {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return null_mut() };
                heap.alloc(bytes).map_or(null_mut(), NonNull::as_ptr)
            }

            /// # Safety
            /// A live allocation of this heap and size, unless the heap is checked.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_free_sized"))]
            unsafe extern "C" fn free_sized(heap: *mut CHeap, ptr: *mut u8, bytes: usize) -> c_int {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                let Some(ptr) = NonNull::new(ptr) else { return Status::Ok as c_int };
                // SAFETY: the caller's promise.
                status!(unsafe { heap.free(ptr, bytes) })
            }

            /// # Safety
            /// An initialised heap.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_malloc"))]
            unsafe extern "C" fn malloc(heap: *mut CHeap, bytes: usize) -> *mut u8 {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return null_mut() };
                Headed::new(heap).alloc(bytes).map_or(null_mut(), NonNull::as_ptr)
            }

            /// # Safety
            /// A live allocation of `malloc` of this heap, unless the heap is checked.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_mfree"))]
            unsafe extern "C" fn mfree(heap: *mut CHeap, ptr: *mut u8) -> c_int {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                let Some(ptr) = NonNull::new(ptr) else { return Status::Ok as c_int };
                // SAFETY: the caller's promise.
                status!(unsafe { Headed::new(heap).free(ptr) })
            }

            /// # Safety
            /// An initialised heap at rest.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_free_bytes"))]
            unsafe extern "C" fn free_bytes(heap: *const CHeap) -> usize {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return 0 };
                heap.survey().free_bytes() as usize
            }

            /// # Safety
            /// An initialised heap.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_state_bytes"))]
            unsafe extern "C" fn state_bytes(heap: *const CHeap) -> usize {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return 0 };
                heap.total_state_bytes()
            }

            /// # Safety
            /// An initialised heap at rest.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_check"))]
            unsafe extern "C" fn check(heap: *const CHeap) -> c_int {
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                let sound = heap.check().is_ok();
                (if sound { Status::Ok } else { Status::Corrupt }) as c_int
            }

            /// # Safety
            /// An initialised heap that outlives the pool and does not move.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_pool_init"))]
            unsafe extern "C" fn pool_init(pool: *mut CPool, heap: *mut CHeap) -> c_int {
                if pool.is_null() || heap.is_null() {
                    return Status::Null as c_int;
                }
                // SAFETY: the caller's promise.
                let Some(heap) = (unsafe { get(heap) }) else { return Status::Null as c_int };
                // SAFETY: the caller's promise.
                status!(P::new(heap).map(|made| unsafe {
                    pool.cast::<P>().write(made);
                }))
            }

            /// # Safety
            /// An initialised pool.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_pool_alloc"))]
            unsafe extern "C" fn pool_alloc(pool: *mut CPool, bytes: usize) -> u32 {
                // SAFETY: the caller's promise.
                let Some(pool) = (unsafe { get_pool(pool) }) else { return 0 };
                Tagged::new(pool).alloc(bytes).map_or(0, |handle| handle.into_raw())
            }

            /// # Safety
            /// An initialised pool, and a live reference of its heap, unless that is checked.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_pool_free"))]
            unsafe extern "C" fn pool_free(pool: *mut CPool, reference: u32) -> c_int {
                // SAFETY: the caller's promise.
                let Some(pool) = (unsafe { get_pool(pool) }) else { return Status::Null as c_int };
                // SAFETY: the caller's promise.
                freed(reference, unsafe { Tagged::new(pool).free_bits(reference) })
            }

            /// # Safety
            /// An initialised pool.
            #[unsafe(export_name = concat!("sma_", $block, "_", $name, "_pool_flush"))]
            unsafe extern "C" fn pool_flush(pool: *mut CPool) -> usize {
                // SAFETY: the caller's promise.
                let Some(pool) = (unsafe { get_pool(pool) }) else { return 0 };
                pool.flush()
            }
        }
    };
}

macro_rules! blocks {
    ($($block:literal $plain:ident $checked:ident $exact:ident $fine:ident)*) => {$(
        family!($plain, "plain", $block, PowerOfTwo, Unchecked, Local);
        family!($checked, "checked", $block, PowerOfTwo, Checked, Local);
        family!($exact, "exact", $block, Exact, Unchecked, Local);
        #[cfg(target_has_atomic = "32")]
        family!($fine, "fine", $block, PowerOfTwo, Unchecked, HeadLocks);
    )*};
}

blocks! {
    32 plain32 checked32 exact32 fine32
    64 plain64 checked64 exact64 fine64
    128 plain128 checked128 exact128 fine128
    256 plain256 checked256 exact256 fine256
    512 plain512 checked512 exact512 fine512
    1024 plain1024 checked1024 exact1024 fine1024
}
