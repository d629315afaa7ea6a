//! What the system allows.

use super::finding::{Finding, Group, State, shown};
use crate::space::{self, MB, NEEDED};
use launch::{Qemu, qemu};
use std::fs;
use std::path::Path;
use stream::live::LiveRing;

/// Resident memory of a run with the usual configurations (docs/performance.md).
const MEMORY: u64 = 500 * MB;
/// Below this much address space, threads of a run could not be started (measured: 600 MB are too
/// little, 1 GB is enough for a small program).
const ADDRESS_SPACE: u64 = 2_000 * MB;
/// Open files of a run with a small program (measured: 8 are enough), with room for the program's
/// own.
const FILES: u64 = 64;
/// The stack that QEMU gives to programs at least (`linux-user/main.c`).
const STACK: u64 = 8 << 20;
/// Space for runs in the store, and a few recordings.
const STORE: u64 = 100 * MB;

/// All of them.
pub fn examine() -> Vec<Finding> {
    let mut all = vec![proc(), ring(), memory(), overcommit(), address_space(), stack(), files()];
    all.push(store());
    // A QEMU that is there needs no more space.
    all.extend(Qemu::find().is_err().then(cache).flatten());
    all
}

fn finding(name: &'static str, rule: &'static str) -> Finding {
    Finding::new(Group::Limits, name, rule)
}

fn proc() -> Finding {
    let rule = "the plugin reads from it which file code is from, for call sites and recordings";
    match fs::read("/proc/self/maps") {
        Ok(_) => finding("/proc", rule).ok("readable"),
        Err(error) => {
            let text = format!("/proc/self/maps: {error}");
            finding("/proc", rule).but(State::Attention, text, "mount -t proc proc /proc")
        }
    }
}

fn ring() -> Finding {
    let rule = "the plugin hands the instruction stream over in it: memory without a name, reached \
                through /proc, or else a file in /dev/shm or the folder for temporary files";
    let finding = finding("shared memory", rule);
    match LiveRing::create() {
        Ok(ring) if ring.path().starts_with("/proc") => finding.ok("memory without a name"),
        Ok(ring) => finding.ok(format!("a file: {}", ring.path().display())),
        Err(error) => {
            let remedy = "allow memfd_create(2), or mount -t tmpfs tmpfs /dev/shm";
            finding.error(&error, State::Attention, remedy)
        }
    }
}

fn memory() -> Finding {
    let rule = "a run takes up to 500 MB beside the program's own memory (docs/performance.md)";
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let Some(free) = available(&text) else {
        return finding("memory", rule).ok("/proc/meminfo does not say how much there is");
    };
    let shown = format!("{:.1} GB are available", free as f64 / 1e9);
    match free {
        free if free < MEMORY => {
            let remedy = "give fewer configurations (--config) or one seed (--seeds 1)";
            finding("memory", rule).but(State::Attention, shown, remedy)
        }
        _ => finding("memory", rule).ok(shown),
    }
}

/// Available memory in bytes (proc(5), in units of 1024 bytes).
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

fn overcommit() -> Finding {
    let rule = "QEMU reserves memory for code and for the program that it never uses; the kernel \
                counts it in mode 2 (vm.overcommit_memory, proc(5))";
    let text = fs::read_to_string("/proc/sys/vm/overcommit_memory").unwrap_or_default();
    match text.trim() {
        "2" => {
            let remedy = "if programs cannot be started: sysctl vm.overcommit_memory=0";
            finding("overcommit", rule).but(State::Attention, "mode 2: never", remedy)
        }
        "" => finding("overcommit", rule).ok("the usual mode"),
        mode => finding("overcommit", rule).ok(format!("mode {mode}")),
    }
}

/// A limit of this process; `None` if there is none.
fn limit(what: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: `limit` is a limit.
    unsafe { libc::getrlimit(what, &raw mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn address_space() -> Finding {
    let rule = "QEMU and the simulator reserve more than they use (measured: a small program needs \
                1 GB)";
    let finding = finding("ulimit -v", rule);
    match limit(libc::RLIMIT_AS) {
        None => finding.ok("unlimited"),
        Some(bytes) if bytes < ADDRESS_SPACE => {
            let text = format!("{} MB of address space", bytes / MB);
            finding.but(State::Attention, text, "ulimit -v unlimited")
        }
        Some(bytes) => finding.ok(format!("{} MB of address space", bytes / MB)),
    }
}

fn stack() -> Finding {
    let rule = "the program's stack under QEMU is as large as this, and at least 8 MB; a larger \
                one begins elsewhere, which moves deterministic runs (measured: 0.01 %)";
    let finding = finding("ulimit -s", rule);
    match limit(libc::RLIMIT_STACK) {
        None => finding.ok("unlimited; programs get 8 MB"),
        Some(bytes) if bytes > STACK => {
            let text = format!("{} kB, which moves deterministic runs", bytes / 1024);
            let remedy = "ulimit -s 8192, if you compare runs with those of other systems";
            finding.but(State::Attention, text, remedy)
        }
        Some(bytes) => finding.ok(format!("{} kB", bytes / 1024)),
    }
}

fn files() -> Finding {
    let rule = "a run opens fewer than 10 files beside the program's own (measured)";
    let finding = finding("ulimit -n", rule);
    match limit(libc::RLIMIT_NOFILE) {
        Some(count) if count < FILES => {
            finding.but(State::Attention, format!("{count} open files"), "ulimit -n 1024")
        }
        Some(count) => finding.ok(format!("{count} open files")),
        None => finding.ok("unlimited"),
    }
}

fn store() -> Finding {
    let rule = "runs are stored in the current folder (mallacc.db), and recordings are large";
    let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
    space("space for runs", rule, &here, STORE, "name a store on another disk with --store")
}

fn cache() -> Option<Finding> {
    let rule = "the build of a QEMU takes 400 MB for a while, its result 3 MB (measured)";
    let remedy = "free some space, or set XDG_CACHE_HOME to a folder on another disk";
    Some(space("space for QEMU", rule, &qemu::cache()?, NEEDED, remedy))
}

fn space(
    name: &'static str,
    rule: &'static str,
    folder: &Path,
    needed: u64,
    remedy: &str,
) -> Finding {
    let finding = finding(name, rule);
    let place = shown(folder);
    match space::free(folder) {
        None => finding.ok(format!("unknown in {place}")),
        Some(free) => {
            let text = format!("{:.1} GB are free in {place}", free as f64 / 1e9);
            if free < needed {
                finding.but(State::Attention, text, remedy)
            } else {
                finding.ok(text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_kilobytes() {
        let text = "MemTotal:       100 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(available(text), Some(2048 * 1024));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }
}
