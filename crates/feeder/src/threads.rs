//! Threads, system calls, forks and the end of the program.

use crate::api::{Api, PluginId};
use crate::{access_times, guest, handover, hot, placement, session, syscall, translate};
use std::cell::Cell;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use stream::event::{Control, control};

/// The thread that requested the exit, and its exit code: bit 63 set, thread, low 8 bits code.
static EXIT: AtomicU64 = AtomicU64::new(0);
const EXIT_KNOWN: u64 = 1 << 63;

/// `CLONE_THREAD` of clone(2).
const CLONE_THREAD: u64 = 0x1_0000;

thread_local! {
    /// The first argument of the clone call in progress.
    static CLONE_FLAGS: Cell<u64> = const { Cell::new(0) };
}

/// Registers the callbacks for all of these.
pub fn register(id: PluginId, api: &Api) {
    // SAFETY: the callbacks have the types that QEMU expects.
    unsafe {
        (api.on_vcpu_init)(id, on_start);
        (api.on_vcpu_exit)(id, on_end);
        (api.on_syscall)(id, on_syscall);
        (api.on_syscall_ret)(id, on_syscall_ret);
        (api.on_exit)(id, on_exit, std::ptr::null_mut());
    }
}

unsafe extern "C" fn on_start(_id: PluginId, vcpu: c_uint) {
    let replaced = session::lock()
        .is_some_and(|inner| inner.threads.is_empty() && !inner.producer.is_first_image());
    session::add_thread(vcpu);
    let kind = if replaced { Control::Exec } else { Control::ThreadStart };
    // SAFETY: the thread does not run yet.
    unsafe { hot::push(vcpu, &[control(kind, 0, 0)]) };
}

unsafe extern "C" fn on_end(_id: PluginId, vcpu: c_uint) {
    if !session::is_silent() {
        // SAFETY: the thread makes this call.
        unsafe { hot::push(vcpu, &[control(Control::ThreadEnd, 0, 0)]) };
    }
    session::remove_thread(vcpu);
}

unsafe extern "C" fn on_syscall(
    _id: PluginId,
    vcpu: c_uint,
    num: i64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    _a6: u64,
    _a7: u64,
    _a8: u64,
) {
    if session::is_silent() {
        return;
    }
    let args = syscall::effective(num, [a1, a2, a3, a4]);
    let [w1, w2, w3, w4] = args;
    // SAFETY: the thread makes this call.
    unsafe { hot::push(vcpu, &[control(Control::Syscall, 4, num as u64), w1, w2, w3, w4]) };
    access_times::before(num, [a2, a3, a5]);
    placement::before(num, [a1, a2, a3, a4]);
    if let Some((addr, len)) = syscall::remaps(num, args) {
        translate::remapped(addr, len);
    }
    match num {
        syscall::CLONE => CLONE_FLAGS.set(a1),
        syscall::FORK | syscall::VFORK => CLONE_FLAGS.set(0),
        syscall::EXIT | syscall::EXIT_GROUP => {
            EXIT.store(EXIT_KNOWN | u64::from(vcpu) << 8 | (a1 & 0xff), Relaxed);
        }
        syscall::EXECVE => handover::before(a1, a3),
        _ if syscall::unmaps(num) => guest::mappings_changed(),
        _ => {}
    }
    let leaves = matches!(num, syscall::EXECVE | syscall::EXECVEAT);
    if leaves || (session::live_threads() > 1 && syscall::blocks(num, args)) {
        // SAFETY: the thread makes this call.
        unsafe { session::flush(vcpu) };
    }
}

unsafe extern "C" fn on_syscall_ret(_id: PluginId, vcpu: c_uint, num: i64, ret: i64) {
    if session::is_silent() {
        session::remove_callbacks_if_silent();
        return;
    }
    access_times::after(num, ret);
    placement::after();
    handover::after();
    let forks = matches!(num, syscall::CLONE | syscall::FORK | syscall::VFORK | syscall::CLONE3);
    if forks && ret > 0 && CLONE_FLAGS.get() & CLONE_THREAD == 0 {
        // SAFETY: the thread makes this call.
        unsafe { hot::push(vcpu, &[control(Control::Fork, 0, 0)]) };
    }
}

unsafe extern "C" fn on_exit(_id: PluginId, _data: *mut c_void) {
    let exit = EXIT.load(Relaxed);
    if exit & EXIT_KNOWN == 0 || session::is_silent() {
        // The consumer learns about the end from the operating system.
        return;
    }
    let vcpu = ((exit & !EXIT_KNOWN) >> 8) as c_uint;
    // SAFETY: QEMU has stopped all threads while it exits.
    unsafe {
        hot::push(vcpu, &[control(Control::Exit, 0, exit & 0xff)]);
        session::finish(vcpu);
    }
}
