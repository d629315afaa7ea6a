//! Translation: numbers the blocks and registers their callbacks.

use crate::api::{self, Api, PluginId, Tb};
use crate::instrumentation::{self, Entry, Insn, Part, Rest, Role};
use crate::isa::Accesses;
use crate::mappings::Mappings;
use crate::{guest, hot, placement, session, stack};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};
use stream::event;

static TRANSLATOR: OnceLock<Mutex<Translator>> = OnceLock::new();

/// What has been learned about the guest's code.
struct Translator {
    api: Api,
    /// Numbers of the blocks, by address and bytes.
    known: HashMap<(u64, Box<[u8]>), u32>,
    /// The files that blocks were found in.
    mappings: Mappings,
    /// The rest of a cut marker at the start of the translation blocks at these addresses.
    rests: HashMap<u64, Rest>,
}

/// Registers the translation callback.
pub fn register(id: PluginId, api: &Api) {
    let _ = TRANSLATOR.set(Mutex::new(Translator {
        api: *api,
        known: HashMap::new(),
        mappings: Mappings::default(),
        rests: HashMap::new(),
    }));
    // SAFETY: the callback has the type that QEMU expects.
    unsafe { (api.on_translate)(id, on_translate) };
}

unsafe extern "C" fn on_translate(_id: PluginId, tb: *mut Tb) {
    // In a forked child the lock may be held by a thread that does not exist there.
    if session::is_silent() {
        return;
    }
    placement::loaded();
    if let Some(translator) = TRANSLATOR.get() {
        let mut translator = translator.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: QEMU passes a translation block that lives until we return.
        unsafe { translator.translate(tb) };
    }
}

/// A range of addresses may hold something else from now on.
pub fn remapped(addr: u64, len: u64) {
    if let Some(translator) = TRANSLATOR.get() {
        let mut translator = translator.lock().unwrap_or_else(PoisonError::into_inner);
        translator.mappings.forget(addr, len);
    }
}

impl Translator {
    /// Registers the callbacks of a translation block.
    ///
    /// # Safety
    /// `tb` is the block that QEMU is translating.
    unsafe fn translate(&mut self, tb: *mut Tb) {
        // SAFETY: as the caller guarantees; instructions and their bytes live as long as `tb`.
        let handles: Vec<*mut api::Insn> =
            unsafe { (0..(self.api.tb_n_insns)(tb)).map(|i| (self.api.tb_insn)(tb, i)).collect() };
        // SAFETY: as above.
        let code: Vec<Vec<u8>> =
            handles.iter().map(|&insn| unsafe { self.api.code(insn) }).collect();
        // SAFETY: as above.
        let addr = |insn| unsafe { (self.api.insn_vaddr)(insn) };
        let insns: Vec<Insn<'_>> = handles
            .iter()
            .zip(&code)
            .map(|(&insn, bytes)| Insn { addr: addr(insn), bytes })
            .collect();
        let Some(first) = insns.first() else { return };
        // SAFETY: as above.
        guest::set_base(unsafe { (self.api.insn_haddr)(handles[0]) } as u64, first.addr);
        if self.known.is_empty() {
            for &insn in &handles {
                // SAFETY: an instruction of `tb`.
                unsafe { self.on_every_access(insn, stack::on_first_access, 0) };
            }
        }
        let rest = self.rests.get(&first.addr).cloned();
        let plan = instrumentation::of(&insns, rest.as_ref(), guest::try_bytes);
        if let Some(rest) = rest.filter(|_| plan.rest > 0) {
            for (at, role) in rest.roles[..plan.rest].iter().enumerate() {
                // SAFETY: an instruction of `tb`.
                unsafe { self.on_access(handles[at], rest.base + at, *role) };
            }
            self.keep_rest(&insns, rest.block, rest.base + plan.rest, &rest.roles[plan.rest..]);
        }
        for part in plan.parts {
            // SAFETY: parts lie within `tb`.
            unsafe { self.instrument(tb, &handles, &insns, part) };
        }
    }

    /// Registers the callbacks of one part.
    ///
    /// # Safety
    /// `part` is a part of the instrumentation of `tb`, whose instructions are `handles` and
    /// `insns`.
    unsafe fn instrument(
        &mut self,
        tb: *mut Tb,
        handles: &[*mut api::Insn],
        insns: &[Insn<'_>],
        mut part: Part,
    ) {
        let Some(id) = self.number(&mut part) else { return };
        let start = part.insns.start;
        let entered = match part.entry {
            Entry::Block => hot::on_block,
            Entry::Repeated => hot::on_repeated,
        };
        let word = event::block(id) as *mut c_void;
        // SAFETY: as the caller guarantees.
        unsafe {
            if start == 0 {
                (self.api.tb_exec)(tb, entered, api::NO_REGS, word);
            } else {
                (self.api.insn_exec)(handles[start], entered, api::NO_REGS, word);
            }
            for at in part.insns.clone() {
                self.on_access(handles[at], at - start, part.roles[at - start]);
            }
        }
        let here = part.insns.len();
        self.keep_rest(insns, id, here, &part.roles[here..]);
    }

    /// Registers the callback for an instruction's accesses, as its role says.
    ///
    /// # Safety
    /// `insn` belongs to the block being translated.
    unsafe fn on_access(&self, insn: *mut api::Insn, index: usize, role: Role) {
        let index = index as u16;
        let callback: api::MemCb = match role {
            Role::Own(Accesses::Plain) => hot::on_mem,
            // Without a callback, version 7.2 would call that of an earlier instruction.
            Role::Own(Accesses::Unreported) => hot::on_unreported,
            Role::Own(Accesses::Atomic) => hot::on_atomic,
            Role::Own(Accesses::Repeated(2)) => hot::on_repeated_mem::<2>,
            Role::Own(Accesses::Repeated(_)) => hot::on_repeated_mem::<1>,
            Role::Value => hot::on_value,
            Role::ValueAndNext => hot::on_value_and_next,
        };
        let word = match role {
            Role::Own(_) => event::mem(index, false, 0, 0),
            Role::Value | Role::ValueAndNext => event::value(index),
        };
        // SAFETY: as the caller guarantees.
        unsafe { self.on_every_access(insn, callback, word) };
    }

    /// Registers a callback for each of an instruction's accesses.
    ///
    /// # Safety
    /// As for [`Translator::on_access`].
    unsafe fn on_every_access(&self, insn: *mut api::Insn, callback: api::MemCb, word: u64) {
        // SAFETY: as the caller guarantees; the callback has the type that QEMU expects.
        unsafe {
            (self.api.insn_mem)(insn, callback, api::NO_REGS, api::MEM_RW, word as *mut c_void);
        }
    }

    /// Remembers the rest of a marker that continues in the next translation block.
    fn keep_rest(&mut self, insns: &[Insn<'_>], block: u32, base: usize, roles: &[Role]) {
        if let (false, Some(last)) = (roles.is_empty(), insns.last()) {
            let next = last.addr + last.bytes.len() as u64;
            self.rests.insert(next, Rest { block, base, roles: roles.to_vec() });
        }
    }

    /// The number of a part's block. A new block is numbered and its definition handed over.
    fn number(&mut self, part: &mut Part) -> Option<u32> {
        let key = (part.block.addr, part.block.bytes.clone().into_boxed_slice());
        if let Some(&id) = self.known.get(&key) {
            return Some(id);
        }
        let object = self.mappings.object_of(part.block.addr);
        let mut inner = session::lock()?;
        if let Some(mut object) = object {
            inner.producer.define_object(&mut object);
        }
        if part.broken > 0 {
            inner.producer.count_broken_markers(part.broken);
        }
        let id = inner.producer.define(&mut part.block);
        self.known.insert(key, id);
        Some(id)
    }
}
