//! The part of QEMU's plugin interface that is used here, in its versions 1 to 6.
//!
//! The declarations follow the interface's documentation (docs/devel/tcg-plugins in QEMU's sources)
//! and the symbols that `qemu-x86_64` exports. The functions are looked up when the plugin is
//! loaded, so that a QEMU that lacks one is refused with a proper message, and so that this crate
//! links on its own for tests.
//!
//! | version | QEMU | what matters here |
//! |---|---|---|
//! | 1 | up to 8.2 | |
//! | 2 | 9.0 | the first that 9.0 and later serve; other counters, which are not used here |
//! | 3 | 9.1 | an instruction's code is copied into a buffer |
//! | 4 to 6 | 9.2 to 11 | further functions, which are not used here |
//! | 7 | after 11 | all callbacks have another argument: not served |

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Identifies the plugin to QEMU.
pub type PluginId = u64;

/// QEMU's description of itself.
#[repr(C)]
pub struct Info {
    /// The guest's architecture.
    pub target_name: *const c_char,
    /// Lowest interface version QEMU serves.
    pub version_min: c_int,
    /// Highest interface version QEMU serves.
    pub version_cur: c_int,
    /// Whether QEMU emulates a whole machine.
    pub system_emulation: bool,
}

/// A block being translated.
pub enum Tb {}
/// An instruction being translated.
pub enum Insn {}

/// A callback with only user data, when a block or an instruction begins.
pub type ExecCb = unsafe extern "C" fn(c_uint, *mut c_void);
/// A callback after a memory access: thread, access, address, user data.
pub type MemCb = unsafe extern "C" fn(c_uint, u32, u64, *mut c_void);
/// A callback about a thread.
pub type VcpuCb = unsafe extern "C" fn(PluginId, c_uint);
/// A callback when a block is translated.
pub type TransCb = unsafe extern "C" fn(PluginId, *mut Tb);
/// A callback before a system call, with its number and arguments.
pub type SyscallCb =
    unsafe extern "C" fn(PluginId, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
/// A callback after a system call, with its number and result.
pub type SyscallRetCb = unsafe extern "C" fn(PluginId, c_uint, i64, i64);
/// A callback at the end.
pub type EndCb = unsafe extern "C" fn(PluginId, *mut c_void);
/// A callback once the plugin's callbacks are gone.
pub type SimpleCb = unsafe extern "C" fn(PluginId);

/// Callbacks do not touch guest registers.
pub const NO_REGS: c_int = 0;
/// Loads and stores.
pub const MEM_RW: c_int = 3;

macro_rules! api {
    ($($(#[$doc:meta])* $field:ident: $symbol:literal fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of the interface.
        #[derive(Clone, Copy)]
        pub struct Api {
            $($(#[$doc])* pub $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            /// The highest version that QEMU serves.
            served: c_int,
        }

        impl Api {
            /// Looks all functions up in the program that loaded the plugin, which serves
            /// versions up to `served`.
            pub fn load(served: c_int) -> Result<Self, String> {
                $(let $field = lookup($symbol)?;)*
                // SAFETY: the symbols are functions of these types in all versions that QEMU lets
                // [`version`] choose, but for the one that [`Api::code`] calls.
                Ok(unsafe {
                    Self {
                        $($field: std::mem::transmute::<
                            *mut c_void,
                            unsafe extern "C" fn($($arg),*) $(-> $ret)?,
                        >($field),)*
                        served,
                    }
                })
            }
        }
    };
}

api! {
    /// A thread begins.
    on_vcpu_init: c"qemu_plugin_register_vcpu_init_cb" fn(PluginId, VcpuCb);
    /// A thread ends.
    on_vcpu_exit: c"qemu_plugin_register_vcpu_exit_cb" fn(PluginId, VcpuCb);
    /// A block is translated.
    on_translate: c"qemu_plugin_register_vcpu_tb_trans_cb" fn(PluginId, TransCb);
    /// A system call is made.
    on_syscall: c"qemu_plugin_register_vcpu_syscall_cb" fn(PluginId, SyscallCb);
    /// A system call returned.
    on_syscall_ret: c"qemu_plugin_register_vcpu_syscall_ret_cb" fn(PluginId, SyscallRetCb);
    /// The program ends.
    on_exit: c"qemu_plugin_register_atexit_cb" fn(PluginId, EndCb, *mut c_void);
    /// Removes all callbacks.
    reset: c"qemu_plugin_reset" fn(PluginId, SimpleCb);
    /// A block is entered.
    tb_exec: c"qemu_plugin_register_vcpu_tb_exec_cb" fn(*mut Tb, ExecCb, c_int, *mut c_void);
    /// An instruction is about to execute.
    insn_exec: c"qemu_plugin_register_vcpu_insn_exec_cb" fn(*mut Insn, ExecCb, c_int, *mut c_void);
    /// An instruction accessed memory.
    insn_mem: c"qemu_plugin_register_vcpu_mem_cb"
        fn(*mut Insn, MemCb, c_int, c_int, *mut c_void);
    /// Instructions in a block.
    tb_n_insns: c"qemu_plugin_tb_n_insns" fn(*const Tb) -> usize;
    /// One of them.
    tb_insn: c"qemu_plugin_tb_get_insn" fn(*const Tb, usize) -> *mut Insn;
    /// Machine code, see [`Api::code`].
    insn_data: c"qemu_plugin_insn_data" fn(*const Insn, *mut u8, usize) -> *const u8;
    /// Its length.
    insn_size: c"qemu_plugin_insn_size" fn(*const Insn) -> usize;
    /// Guest address.
    insn_vaddr: c"qemu_plugin_insn_vaddr" fn(*const Insn) -> u64;
    /// Host address.
    insn_haddr: c"qemu_plugin_insn_haddr" fn(*const Insn) -> *mut c_void;
    /// Base-2 logarithm of an access's size.
    mem_size_shift: c"qemu_plugin_mem_size_shift" fn(u32) -> c_uint;
    /// Whether an access is a store.
    mem_is_store: c"qemu_plugin_mem_is_store" fn(u32) -> bool;
}

/// From this version on, code is copied.
const COPIES_CODE: c_int = 3;

impl Api {
    /// The machine code of an instruction.
    ///
    /// # Safety
    /// `insn` belongs to the block being translated.
    pub unsafe fn code(&self, insn: *const Insn) -> Vec<u8> {
        // SAFETY: as the caller guarantees. Before version 3 the function takes one argument,
        // ignores the others, which are in registers, and returns where `size` bytes are; since, it
        // copies up to `size` bytes.
        unsafe {
            let size = (self.insn_size)(insn);
            let mut bytes = vec![0; size];
            let found = (self.insn_data)(insn, bytes.as_mut_ptr(), size);
            if self.served < COPIES_CODE {
                bytes.copy_from_slice(std::slice::from_raw_parts(found, size));
            }
            bytes
        }
    }
}

/// The version of the interface to ask for: 2 if QEMU has what came with it, for all later ones
/// serve that; otherwise 1.
pub fn version() -> c_int {
    // SAFETY: a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qemu_plugin_scoreboard_new".as_ptr()) };
    if found.is_null() { 1 } else { 2 }
}

fn lookup(symbol: &CStr) -> Result<*mut c_void, String> {
    // SAFETY: a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, symbol.as_ptr()) };
    if found.is_null() {
        return Err(format!(
            "this QEMU has no {}; the plugin needs the plugin interface of QEMU 7.2 to 11; \
             `mallacc setup` builds one that has it",
            symbol.to_string_lossy()
        ));
    }
    Ok(found)
}
