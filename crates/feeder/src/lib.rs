//! The QEMU plugin: captures what a guest executes and passes it on. It models no timing.
//!
//! ```text
//! translate ──> instrumentation ──> block definitions ──┐
//!     └ registers ──> hot callbacks ──buffers───────────┴──> stream::live::Producer ──> consumer
//!     └ mappings ──> object definitions ─────────────────┤
//! threads, system calls, fork, exit ────────────────────┘
//! ```
//! [`api`] declares QEMU's plugin interface by hand, because Debian packages no header for it. What
//! else differs between versions of QEMU is made the same in four places, so that the stream is the
//! same word for word: where the guest's mappings are ([`placement`]), what is on its stack at the
//! beginning ([`stack`]) and after an exec ([`handover`]), and what accesses are reported
//! ([`isa::accesses`]). docs/qemu.md has the whole list.

mod access_times;
mod api;
mod guest;
mod handover;
mod hot;
mod imports;
mod instrumentation;
mod isa;
mod mappings;
mod placement;
mod session;
mod stack;
mod syscall;
mod threads;
mod translate;

use api::{Api, Info, PluginId};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::Relaxed;

/// The interface version that this plugin uses; QEMU reads it before calling anything.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// Runs while QEMU loads the plugin, before it reads the version.
#[used]
#[unsafe(link_section = ".init_array")]
static CHOOSE_VERSION: extern "C" fn() = choose_version;

extern "C" fn choose_version() {
    qemu_plugin_version.store(api::version(), Relaxed);
}

/// QEMU's entry into the plugin. Takes one argument, `ring=PATH`.
///
/// # Safety
/// QEMU calls it once, with `argc` strings in `argv` and a valid `info`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let args: Vec<&str> = (0..argc as usize)
        // SAFETY: QEMU passes `argc` C strings.
        .filter_map(|i| unsafe { CStr::from_ptr(*argv.add(i)) }.to_str().ok())
        .collect();
    // SAFETY: QEMU passes a valid description of itself.
    match install(id, unsafe { &*info }, &args) {
        Ok(()) => 0,
        Err(reason) => {
            // The only way to report before a ring is attached; QEMU then exits.
            eprintln!("mallacc feeder: {reason}");
            -1
        }
    }
}

fn install(id: PluginId, info: &Info, args: &[&str]) -> Result<(), String> {
    // SAFETY: a C string that lives as long as QEMU.
    let target = unsafe { CStr::from_ptr(info.target_name) };
    if info.system_emulation || target.to_bytes() != b"x86_64" {
        return Err(format!(
            "this is QEMU for {}; the plugin needs qemu-x86_64 (package qemu-user)",
            target.to_string_lossy()
        ));
    }
    let argument = |name: &str| args.iter().find_map(|argument| argument.strip_prefix(name));
    let path = argument("ring=")
        .ok_or("the argument ring=PATH is missing; the plugin is started by mallacc")?;
    handover::set_keeps_order(argument("order=") == Some("kept"));
    let api = Api::load(info.version_cur)?;
    if api::version() > 1 {
        placement::install()?;
    }
    session::start(id, api, Path::new(path)).map_err(|e| e.to_string())?;
    translate::register(id, &api);
    threads::register(id, &api);
    Ok(())
}
