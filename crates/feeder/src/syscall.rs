//! The few facts about Linux system calls on x86-64 that the feeder needs.
//!
//! Numbers: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl`. Arguments: the calls' manual
//! pages, section 2.

const MMAP: i64 = 9;
const MUNMAP: i64 = 11;
const MREMAP: i64 = 25;
pub const CLONE: i64 = 56;
pub const FORK: i64 = 57;
pub const VFORK: i64 = 58;
pub const EXECVE: i64 = 59;
pub const EXIT: i64 = 60;
const FCNTL: i64 = 72;
const FUTEX: i64 = 202;
pub const EXIT_GROUP: i64 = 231;
pub const EXECVEAT: i64 = 322;
pub const CLONE3: i64 = 435;

/// Calls after which readable memory may no longer be readable: mmap, mprotect, munmap, brk,
/// mremap, shmdt.
const UNMAP: [i64; 6] = [9, 10, 11, 12, 25, 67];

/// Calls that may block: read, poll, readv, select, sched_yield, pause, nanosleep,
/// connect, accept, recvfrom, recvmsg, wait4, semop, msgrcv, fcntl, flock, rt_sigtimedwait,
/// rt_sigsuspend, io_getevents, semtimedop, clock_nanosleep, epoll_wait, mq_timedreceive, waitid,
/// pselect6, ppoll, epoll_pwait, accept4, recvmmsg.
const BLOCKING: [i64; 29] = [
    0, 7, 19, 23, 24, 34, 35, 42, 43, 45, 47, 61, 65, 70, 72, 73, 128, 130, 208, 220, 230, 232,
    243, 247, 270, 271, 281, 288, 299,
];

/// Number of arguments of each call, at most 4: one digit per call, ten calls per group.
const ARGUMENTS: [&[u8; 10]; 34] = [
    b"3331222334", // read
    b"3214403443", // mprotect
    b"3214043333", // writev
    b"3312022130", // shmat
    b"4333443323", // sendfile
    b"2334444003", // listen
    b"1421334124", // exit
    b"4332112232", // msgrcv
    b"1122121223", // chdir
    b"2233312221", // chmod
    b"1403011002", // times
    b"0002222333", // getppid
    b"3111122243", // getresgid
    b"2223112223", // rt_sigsuspend
    b"2322311122", // getpriority
    b"2100321421", // munlock
    b"2101242214", // setrlimit
    b"2213432444", // sethostname
    b"4444440344", // get_kernel_syms
    b"4444333222", // fsetxattr
    b"2143312143", // tkill
    b"3131444310", // io_cancel
    b"4434211222", // semtimedop
    b"4144324434", // clock_nanosleep
    b"4144234444", // mq_open
    b"4320324434", // keyctl
    b"4343443433", // fchownat
    b"4412344444", // pselect6
    b"4432144244", // utimensat
    b"2132144444", // eventfd2
    b"2444321423", // fanotify_init
    b"4443344332", // process_vm_readv
    b"4341334444", // kexec_file_load
    b"2144444444", // pkey_alloc
];

/// Number of arguments of a call, at most 4.
fn arguments(num: i64) -> usize {
    match num {
        CLONE3 | 434 => 2, // and pidfd_open
        436 | 438 => 3,    // close_range, pidfd_getfd
        _ => match usize::try_from(num).ok().and_then(|n| Some(ARGUMENTS.get(n / 10)?[n % 10])) {
            Some(digit) => usize::from(digit - b'0'),
            None => 4,
        },
    }
}

/// The arguments of a call, with 0 for those that it does not take: their registers may hold the
/// time or a random number, which would make every recording differ.
pub fn effective(num: i64, mut args: [u64; 4]) -> [u64; 4] {
    let mut count = arguments(num);
    // F_GETFD, F_GETFL, F_GETOWN, F_GETSIG, F_GETLEASE, F_GETPIPE_SZ, F_GET_SEALS take no argument.
    if num == FCNTL && matches!(args[1], 1 | 3 | 9 | 11 | 1025 | 1032 | 1034) {
        count = 2;
    }
    args[count..].fill(0);
    args
}

/// Whether a call may wait for another thread.
pub fn blocks(num: i64, args: [u64; 4]) -> bool {
    // FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2; other operations only wake.
    let waits = matches!(args[1] & 0x7f, 0 | 6 | 9 | 11 | 13);
    if num == FUTEX { waits } else { BLOCKING.contains(&num) }
}

/// The range of addresses that a call, which may fail, takes away or maps anew: `mmap` with
/// `MAP_FIXED`, `munmap`, `mremap`.
pub fn remaps(num: i64, args: [u64; 4]) -> Option<(u64, u64)> {
    const MAP_FIXED: u64 = 0x10;
    let [addr, len, _, flags] = args;
    let remaps = match num {
        MMAP => flags & MAP_FIXED != 0,
        MUNMAP | MREMAP => true,
        _ => false,
    };
    remaps.then_some((addr, len))
}

/// Whether readable memory may no longer be readable after a call.
pub fn unmaps(num: i64) -> bool {
    UNMAP.contains(&num)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_futex_blocks_when_it_waits_and_not_when_it_wakes() {
        const PRIVATE: u64 = 128;
        assert!(blocks(FUTEX, [0, PRIVATE, 0, 0]), "FUTEX_WAIT");
        assert!(blocks(FUTEX, [0, PRIVATE | 9 | 256, 0, 0]), "FUTEX_WAIT_BITSET, realtime clock");
        assert!(!blocks(FUTEX, [0, PRIVATE | 1, 0, 0]), "FUTEX_WAKE");
    }

    #[test]
    fn a_mapping_takes_others_away_only_at_a_fixed_address() {
        let fixed = (libc::MAP_FIXED | libc::MAP_PRIVATE) as u64;
        assert_eq!(remaps(MMAP, [4096, 8192, 0, fixed]), Some((4096, 8192)));
        assert_eq!(remaps(MMAP, [4096, 8192, 0, libc::MAP_PRIVATE as u64]), None);
        assert_eq!(remaps(MUNMAP, [4096, 8192, 0, 0]), Some((4096, 8192)));
        assert_eq!(remaps(libc::SYS_read, [0, 4096, 8192, 0]), None);
    }

    #[test]
    fn call_numbers_are_those_of_the_system() {
        let pairs = [
            (MMAP, libc::SYS_mmap),
            (MUNMAP, libc::SYS_munmap),
            (MREMAP, libc::SYS_mremap),
            (CLONE, libc::SYS_clone),
            (FORK, libc::SYS_fork),
            (VFORK, libc::SYS_vfork),
            (EXECVE, libc::SYS_execve),
            (EXECVEAT, libc::SYS_execveat),
            (EXIT, libc::SYS_exit),
            (EXIT_GROUP, libc::SYS_exit_group),
            (FCNTL, libc::SYS_fcntl),
            (FUTEX, libc::SYS_futex),
            (CLONE3, libc::SYS_clone3),
        ];
        for (ours, theirs) in pairs {
            assert_eq!(ours, theirs);
        }
        for call in [libc::SYS_read, libc::SYS_ppoll, libc::SYS_epoll_wait, libc::SYS_wait4] {
            assert!(blocks(call, [0; 4]));
        }
        for call in [libc::SYS_write, libc::SYS_brk, libc::SYS_getpid] {
            assert!(!blocks(call, [0; 4]));
        }
        assert!(unmaps(libc::SYS_munmap) && unmaps(libc::SYS_mremap) && !unmaps(libc::SYS_read));
    }

    #[test]
    fn arguments_are_counted_as_the_manual_pages_have_them() {
        // At least one of every group, so that a missing or surplus digit is detected.
        for (call, count) in [
            (libc::SYS_close, 1),
            (libc::SYS_mmap, 4),
            (libc::SYS_brk, 1),
            (libc::SYS_rt_sigreturn, 0),
            (libc::SYS_access, 2),
            (libc::SYS_sched_yield, 0),
            (libc::SYS_getpid, 0),
            (libc::SYS_sendfile, 4),
            (libc::SYS_execve, 3),
            (libc::SYS_uname, 1),
            (libc::SYS_getcwd, 2),
            (libc::SYS_readlink, 3),
            (libc::SYS_umask, 1),
            (libc::SYS_getuid, 0),
            (libc::SYS_getegid, 0),
            (libc::SYS_setresuid, 3),
            (libc::SYS_getpgid, 1),
            (libc::SYS_sigaltstack, 2),
            (libc::SYS_sched_getscheduler, 1),
            (libc::SYS_arch_prctl, 2),
            (libc::SYS_sync, 0),
            (libc::SYS_reboot, 4),
            (libc::SYS_init_module, 3),
            (libc::SYS_gettid, 0),
            (libc::SYS_listxattr, 3),
            (libc::SYS_tkill, 2),
            (libc::SYS_futex, 4),
            (libc::SYS_set_tid_address, 1),
            (libc::SYS_clock_gettime, 2),
            (libc::SYS_tgkill, 3),
            (libc::SYS_mq_unlink, 1),
            (libc::SYS_openat, 4),
            (libc::SYS_newfstatat, 4),
            (libc::SYS_faccessat, 3),
            (libc::SYS_set_robust_list, 2),
            (libc::SYS_accept4, 4),
            (libc::SYS_pipe2, 2),
            (libc::SYS_prlimit64, 4),
            (libc::SYS_getcpu, 3),
            (libc::SYS_getrandom, 3),
            (libc::SYS_memfd_create, 2),
            (libc::SYS_membarrier, 3),
            (libc::SYS_statx, 4),
            (libc::SYS_rseq, 4),
            (libc::SYS_clone3, 2),
            (libc::SYS_close_range, 3),
            (libc::SYS_openat2, 4),
            (-1, 4),
        ] {
            assert_eq!(arguments(call), count, "call {call}");
        }
    }

    #[test]
    fn what_is_no_argument_is_zero() {
        assert_eq!(effective(libc::SYS_access, [1, 2, 3, 4]), [1, 2, 0, 0]);
        let get = libc::F_GETFD as u64;
        assert_eq!(effective(libc::SYS_fcntl, [3, get, 9, 9]), [3, get, 0, 0]);
        let set = libc::F_SETFD as u64;
        assert_eq!(effective(libc::SYS_fcntl, [3, set, 1, 9]), [3, set, 1, 0]);
    }
}
