//! Threads, system calls, forks and the end.

use crate::api::{Api, PluginId};
use crate::{guest, hot, session};
use std::cell::Cell;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use stream::event::{Control, control};

/// The thread that asked for the end and its exit code: bit 63 set, thread, low 8 bits code.
static EXIT: AtomicU64 = AtomicU64::new(0);
const EXIT_KNOWN: u64 = 1 << 63;

/// `CLONE_THREAD` of clone(2).
const CLONE_THREAD: u64 = 0x1_0000;

thread_local! {
    /// The first argument of the clone that is under way.
    static CLONE_FLAGS: Cell<u64> = const { Cell::new(0) };
}

/// Linux system calls, by their numbers in the kernel's `syscall_64.tbl`.
mod number {
    pub const CLONE: i64 = 56;
    pub const FORK: i64 = 57;
    pub const VFORK: i64 = 58;
    pub const EXECVE: i64 = 59;
    pub const EXIT: i64 = 60;
    pub const FUTEX: i64 = 202;
    pub const EXIT_GROUP: i64 = 231;
    pub const EXECVEAT: i64 = 322;
    pub const CLONE3: i64 = 435;

    /// Calls after which memory that was readable may not be: mmap, mprotect, munmap, brk,
    /// mremap, shmdt.
    pub const UNMAP: [i64; 6] = [9, 10, 11, 12, 25, 67];

    /// Calls that wait for someone else: read, poll, readv, select, sched_yield, pause,
    /// nanosleep, connect, accept, recvfrom, recvmsg, wait4, semop, msgrcv, fcntl, flock,
    /// rt_sigtimedwait, rt_sigsuspend, io_getevents, semtimedop, clock_nanosleep, epoll_wait,
    /// mq_timedreceive, waitid, pselect6, ppoll, epoll_pwait, accept4, recvmmsg.
    pub const BLOCKING: [i64; 29] = [
        0, 7, 19, 23, 24, 34, 35, 42, 43, 45, 47, 61, 65, 70, 72, 73, 128, 130, 208, 220, 230, 232,
        243, 247, 270, 271, 281, 288, 299,
    ];
}

/// Registers for all of these.
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
    if session::is_silent() {
        return;
    }
    // SAFETY: the thread makes this call.
    unsafe { hot::push(vcpu, &[control(Control::ThreadEnd, 0, 0)]) };
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
    _a5: u64,
    _a6: u64,
    _a7: u64,
    _a8: u64,
) {
    if session::is_silent() {
        return;
    }
    // SAFETY: the thread makes this call.
    unsafe { hot::push(vcpu, &[control(Control::Syscall, 4, num as u64), a1, a2, a3, a4]) };
    match num {
        number::CLONE => CLONE_FLAGS.set(a1),
        number::FORK | number::VFORK => CLONE_FLAGS.set(0),
        number::EXIT | number::EXIT_GROUP => {
            EXIT.store(EXIT_KNOWN | u64::from(vcpu) << 8 | (a1 & 0xff), Relaxed);
        }
        _ if number::UNMAP.contains(&num) => guest::mappings_changed(),
        _ => {}
    }
    let leaves = matches!(num, number::EXECVE | number::EXECVEAT);
    if leaves || (session::live_threads() > 1 && blocks(num, a2)) {
        // SAFETY: the thread makes this call.
        unsafe { session::flush(vcpu) };
    }
}

unsafe extern "C" fn on_syscall_ret(_id: PluginId, vcpu: c_uint, num: i64, ret: i64) {
    let forks = matches!(num, number::CLONE | number::FORK | number::VFORK | number::CLONE3);
    if forks && ret > 0 && !session::is_silent() && CLONE_FLAGS.get() & CLONE_THREAD == 0 {
        // SAFETY: the thread makes this call.
        unsafe { hot::push(vcpu, &[control(Control::Fork, 0, 0)]) };
    }
}

/// Whether a system call may wait for another thread.
fn blocks(num: i64, a2: u64) -> bool {
    // FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2; the others only wake.
    let waits = matches!(a2 & 0x7f, 0 | 6 | 9 | 11 | 13);
    if num == number::FUTEX { waits } else { number::BLOCKING.contains(&num) }
}

unsafe extern "C" fn on_exit(_id: PluginId, _data: *mut c_void) {
    let exit = EXIT.load(Relaxed);
    if exit & EXIT_KNOWN == 0 || session::is_silent() {
        // The consumer learns the end from the system.
        return;
    }
    let vcpu = ((exit & !EXIT_KNOWN) >> 8) as c_uint;
    // SAFETY: QEMU holds all threads at a standstill while it ends.
    unsafe {
        hot::push(vcpu, &[control(Control::Exit, 0, exit & 0xff)]);
        session::finish(vcpu);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_futex_blocks_when_it_waits_and_not_when_it_wakes() {
        const PRIVATE: u64 = 128;
        assert!(blocks(number::FUTEX, PRIVATE), "FUTEX_WAIT");
        assert!(blocks(number::FUTEX, PRIVATE | 9 | 256), "FUTEX_WAIT_BITSET, realtime clock");
        assert!(!blocks(number::FUTEX, PRIVATE | 1), "FUTEX_WAKE");
    }

    #[test]
    fn call_numbers_are_those_of_the_system() {
        let pairs = [
            (number::CLONE, libc::SYS_clone),
            (number::FORK, libc::SYS_fork),
            (number::VFORK, libc::SYS_vfork),
            (number::EXECVE, libc::SYS_execve),
            (number::EXECVEAT, libc::SYS_execveat),
            (number::EXIT, libc::SYS_exit),
            (number::EXIT_GROUP, libc::SYS_exit_group),
            (number::FUTEX, libc::SYS_futex),
            (number::CLONE3, libc::SYS_clone3),
        ];
        for (ours, theirs) in pairs {
            assert_eq!(ours, theirs);
        }
        for call in [libc::SYS_read, libc::SYS_ppoll, libc::SYS_epoll_wait, libc::SYS_wait4] {
            assert!(blocks(call, 0));
        }
        for call in [libc::SYS_write, libc::SYS_brk, libc::SYS_getpid] {
            assert!(!blocks(call, 0));
        }
    }
}
