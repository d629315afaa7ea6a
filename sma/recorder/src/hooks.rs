//! The functions that programs call instead of the C library's.

use crate::log::{failed, record};
use libc::{c_int, c_void, size_t};
use std::ptr::null_mut;
use traces::raw::Kind;

unsafe extern "C" {
    fn __libc_malloc(bytes: size_t) -> *mut c_void;
    fn __libc_free(ptr: *mut c_void);
    fn __libc_calloc(count: size_t, bytes: size_t) -> *mut c_void;
    fn __libc_realloc(ptr: *mut c_void, bytes: size_t) -> *mut c_void;
    fn __libc_memalign(align: size_t, bytes: size_t) -> *mut c_void;
    fn __libc_valloc(bytes: size_t) -> *mut c_void;
    fn __libc_pvalloc(bytes: size_t) -> *mut c_void;
}

/// Records what an allocation returned.
#[inline]
fn allocated(kind: Kind, align: size_t, ptr: *mut c_void, bytes: size_t) -> *mut c_void {
    if ptr.is_null() {
        failed();
    } else {
        record(kind, align.checked_ilog2().unwrap_or(0) as u8, ptr as usize, bytes);
    }
    ptr
}

/// malloc(3), also called by `operator new`.
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(bytes: size_t) -> *mut c_void {
    // SAFETY: malloc(3) takes any size.
    allocated(Kind::Malloc, 0, unsafe { __libc_malloc(bytes) }, bytes)
}

/// free(3).
///
/// # Safety
/// As free(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(ptr: *mut c_void) {
    if !ptr.is_null() {
        record(Kind::Free, 0, ptr as usize, 0);
        // SAFETY: the caller's promise.
        unsafe { __libc_free(ptr) };
    }
}

/// calloc(3).
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: size_t, bytes: size_t) -> *mut c_void {
    // SAFETY: calloc(3) takes any sizes.
    let ptr = unsafe { __libc_calloc(count, bytes) };
    allocated(Kind::Calloc, 0, ptr, count.saturating_mul(bytes))
}

/// realloc(3).
///
/// # Safety
/// As realloc(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(ptr: *mut c_void, bytes: size_t) -> *mut c_void {
    if ptr.is_null() {
        // SAFETY: malloc(3) takes any size.
        return unsafe { malloc(bytes) };
    }
    if bytes == 0 {
        // The C library frees it and returns null.
        record(Kind::Free, 0, ptr as usize, 0);
        // SAFETY: the caller's promise.
        return unsafe { __libc_realloc(ptr, 0) };
    }
    record(Kind::ReallocBegin, 0, ptr as usize, 0);
    // SAFETY: the caller's promise.
    let new = unsafe { __libc_realloc(ptr, bytes) };
    record(Kind::ReallocEnd, 0, new as usize, bytes);
    if new.is_null() {
        failed();
    }
    new
}

/// reallocarray(3).
///
/// # Safety
/// As reallocarray(3).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(
    ptr: *mut c_void,
    count: size_t,
    bytes: size_t,
) -> *mut c_void {
    let Some(bytes) = count.checked_mul(bytes) else {
        // SAFETY: the C library's own location, valid for this thread.
        unsafe { *libc::__errno_location() = libc::ENOMEM };
        return null_mut();
    };
    // SAFETY: the caller's promise.
    unsafe { realloc(ptr, bytes) }
}

/// memalign(3).
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(align: size_t, bytes: size_t) -> *mut c_void {
    // SAFETY: memalign(3) takes any numbers.
    allocated(Kind::Aligned, align, unsafe { __libc_memalign(align, bytes) }, bytes)
}

/// aligned_alloc(3), which this C library treats as memalign(3).
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(align: size_t, bytes: size_t) -> *mut c_void {
    // SAFETY: memalign(3) takes any numbers.
    unsafe { memalign(align, bytes) }
}

/// posix_memalign(3).
///
/// # Safety
/// `place` must be valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    align: size_t,
    bytes: size_t,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<*mut c_void>()) {
        return libc::EINVAL;
    }
    // SAFETY: memalign(3) takes any numbers.
    let ptr = unsafe { memalign(align, bytes) };
    if ptr.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller's promise.
    unsafe { place.write(ptr) };
    0
}

/// valloc(3).
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(bytes: size_t) -> *mut c_void {
    // SAFETY: valloc(3) takes any size.
    allocated(Kind::Aligned, OS_PAGE_BYTES, unsafe { __libc_valloc(bytes) }, bytes)
}

/// pvalloc(3).
///
/// # Safety
/// None beyond the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(bytes: size_t) -> *mut c_void {
    // SAFETY: pvalloc(3) takes any size.
    allocated(Kind::Aligned, OS_PAGE_BYTES, unsafe { __libc_pvalloc(bytes) }, bytes)
}

/// Bytes of an OS page of x86-64.
const OS_PAGE_BYTES: size_t = 4096;
