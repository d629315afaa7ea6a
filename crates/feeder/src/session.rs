//! State shared by all threads: the ring's producer, the live threads, and whether we still feed.

use crate::api::{Api, PluginId};
use crate::{access_times, hot};
use std::ffi::c_uint;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use stream::live::layout::{Buffer, BufferHead};
use stream::live::producer::{discard, head_of, private_buffer};
use stream::{StreamError, live};

/// The one session of this process.
static SESSION: OnceLock<Session> = OnceLock::new();
/// Set in a forked child: it must stay silent.
static CHILD: AtomicBool = AtomicBool::new(false);
/// Set once the consumer has left: words written into the buffers are discarded.
static LEFT: AtomicBool = AtomicBool::new(false);
/// Set once the callbacks are being removed.
static REMOVED: AtomicBool = AtomicBool::new(false);
/// Number of live threads.
static LIVE: AtomicU32 = AtomicU32::new(0);
/// Highest thread number that QEMU has used.
static HIGHEST: AtomicU32 = AtomicU32::new(0);

struct Session {
    id: PluginId,
    api: Api,
    inner: Mutex<Inner>,
}

/// The state behind the lock.
pub struct Inner {
    /// The ring.
    pub producer: live::Producer,
    /// QEMU's numbers of the live threads, with ours.
    pub threads: Vec<(c_uint, u32)>,
}

/// Attaches to the ring and prepares for forks.
pub fn start(id: PluginId, api: Api, ring: &Path) -> Result<(), StreamError> {
    let producer = live::Producer::attach(ring)?;
    access_times::set_hidden(producer.hides_access_times());
    hot::SCRAP.store(head_of(private_buffer()), Relaxed);
    hot::init(api);
    let inner = Mutex::new(Inner { producer, threads: Vec::new() });
    let _ = SESSION.set(Session { id, api, inner });
    // SAFETY: the handler is a plain function that stays loaded.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    Ok(())
}

/// The shared state; `None` if nothing may be fed: in a forked child, or after detaching.
pub fn lock() -> Option<MutexGuard<'static, Inner>> {
    if is_silent() {
        return None;
    }
    let session = SESSION.get()?;
    Some(session.inner.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether nothing may be fed.
pub fn is_silent() -> bool {
    CHILD.load(Relaxed) || LEFT.load(Relaxed)
}

/// Whether this process was forked from the traced one.
pub fn is_child() -> bool {
    CHILD.load(Relaxed)
}

/// Number of live threads.
pub fn live_threads() -> u32 {
    LIVE.load(Relaxed)
}

/// Adds a new thread.
pub fn add_thread(vcpu: c_uint) {
    HIGHEST.fetch_max(vcpu, Relaxed);
    LIVE.fetch_add(1, Relaxed);
    let Some(mut inner) = lock() else {
        // SAFETY: the thread does not run yet.
        unsafe { hot::set_buffer(vcpu, head_of(private_buffer())) };
        return;
    };
    let thread = inner.producer.new_thread();
    let buffer = inner.producer.first_buffer(thread);
    inner.threads.push((vcpu, thread));
    // SAFETY: the thread does not run yet.
    unsafe { hot::set_buffer(vcpu, head_of(buffer)) };
}

/// Publishes a thread's last events and removes it.
pub fn remove_thread(vcpu: c_uint) {
    LIVE.fetch_sub(1, Relaxed);
    let Some(mut inner) = lock() else { return };
    let Some(at) = inner.threads.iter().position(|&(v, _)| v == vcpu) else { return };
    inner.threads.remove(at);
    // SAFETY: the thread makes this call and executes no guest code any more.
    unsafe {
        let buffer = hot::buffer(vcpu);
        hot::set_buffer(vcpu, hot::SCRAP.load(Relaxed));
        inner.producer.retire(buffer.cast::<Buffer>());
    }
}

/// Publishes a thread's buffer and returns the one to continue with.
///
/// # Safety
/// Called by the thread itself or while it does not run.
#[cold]
#[inline(never)]
pub unsafe fn flush(vcpu: c_uint) -> *mut BufferHead {
    // SAFETY: passed on to the caller.
    unsafe {
        let buffer = hot::buffer(vcpu);
        let Some(mut inner) = lock() else {
            discard(buffer.cast());
            return buffer;
        };
        let next = head_of(inner.producer.publish(buffer.cast::<Buffer>()));
        hot::set_buffer(vcpu, next);
        if inner.producer.detached() {
            LEFT.store(true, Relaxed);
        }
        next
    }
}

/// Publishes the events of all threads, `last` last, and marks the stream as finished.
///
/// # Safety
/// No thread executes guest code.
pub unsafe fn finish(last: c_uint) {
    let Some(mut inner) = lock() else { return };
    let mut threads = std::mem::take(&mut inner.threads);
    threads.sort_by_key(|&(vcpu, thread)| (vcpu == last, thread));
    for (vcpu, _) in threads {
        // SAFETY: passed on to the caller.
        unsafe {
            let buffer = hot::buffer(vcpu);
            let next = inner.producer.publish(buffer.cast::<Buffer>());
            hot::set_buffer(vcpu, head_of(next));
        }
    }
    inner.producer.finish();
}

/// Counts a word that a prefetch marker points to and that could not be read.
#[cold]
pub fn count_unreadable() {
    if let Some(inner) = lock() {
        inner.producer.count_unreadable();
    }
}

/// Removes the callbacks once nothing is fed, so that the guest continues at QEMU's own speed.
///
/// This is done only within a system call of a process with one thread: QEMU 7.2 frees the
/// callbacks but keeps using those of the last instruction that accessed memory from a helper,
/// unless the thread has since left the translated code for a system call (fixed in QEMU 8.0, "tcg:
/// Clear plugin_mem_cbs on TB exit"). Until then, and with several threads, the callbacks write
/// into buffers that are discarded when full.
pub fn remove_callbacks_if_silent() {
    let alone = is_child() || live_threads() == 1;
    if !is_silent() || !alone || REMOVED.swap(true, Relaxed) {
        return;
    }
    if let Some(session) = SESSION.get() {
        unsafe extern "C" fn gone(_: PluginId) {}
        // SAFETY: called on one of QEMU's threads, while we hold no lock.
        unsafe { (session.api.reset)(session.id, gone) };
    }
}

/// Runs in a forked child: only the forking thread exists there, and the ring is not mapped.
unsafe extern "C" fn in_child() {
    CHILD.store(true, Relaxed);
    let scrap = hot::SCRAP.load(Relaxed);
    // A few more than exist, in case QEMU does not announce the child's own threads.
    for vcpu in 0..=HIGHEST.load(Relaxed).saturating_add(64) {
        // SAFETY: no other thread exists.
        unsafe { hot::set_buffer(vcpu, scrap) };
    }
}
