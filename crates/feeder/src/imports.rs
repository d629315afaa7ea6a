//! Redirects functions that the main program imports, in its global offset table.
//!
//! Layout: System V ABI, AMD64 supplement, "Relocation" and "Dynamic Linking".

use std::ffi::{CStr, c_char, c_int, c_void};

/// An entry of the dynamic section.
#[repr(C)]
struct Dynamic {
    tag: i64,
    value: u64,
}

/// A relocation with an addend.
#[repr(C)]
struct Relocation {
    offset: u64,
    /// The symbol's index, and in the low half the type.
    info: u64,
    addend: i64,
}

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_JMPREL: i64 = 23;
/// `R_X86_64_GLOB_DAT` and `R_X86_64_JUMP_SLOT`, which store the address of a function.
const ADDRESSES: [u32; 2] = [6, 7];

const PAGE: u64 = 4 << 10;

struct Request<'a> {
    names: &'a [&'a CStr],
    address: usize,
    redirected: usize,
}

/// Lets the main program's imports of these names lead to `address`; returns how many there were.
///
/// # Safety
/// `address` is a function of their type.
pub unsafe fn redirect(names: &[&CStr], address: usize) -> usize {
    let mut request = Request { names, address, redirected: 0 };
    // SAFETY: the callback gets the request, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(in_first_object), (&raw mut request).cast()) };
    request.redirected
}

/// The first object is the main program; ends the iteration.
unsafe extern "C" fn in_first_object(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    request: *mut c_void,
) -> c_int {
    // SAFETY: the C library passes a description of a loaded object, and `redirect` its request.
    let (info, request) = unsafe { (&*info, &mut *request.cast::<Request<'_>>()) };
    // SAFETY: the object's headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    if let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
        let dynamic = (info.dlpi_addr + dynamic.p_vaddr) as *const Dynamic;
        // SAFETY: the object's dynamic section.
        request.redirected = unsafe { redirect_in(dynamic, info.dlpi_addr, request) };
    }
    1
}

/// # Safety
/// `dynamic` is the dynamic section of the object that is loaded at `base`.
unsafe fn redirect_in(dynamic: *const Dynamic, base: u64, request: &Request<'_>) -> usize {
    // SAFETY: a null entry ends the section.
    let length = (0..).take_while(|&at| unsafe { (*dynamic.add(at)).tag } != DT_NULL).count();
    // SAFETY: as counted.
    let entries = unsafe { std::slice::from_raw_parts(dynamic, length) };
    let value = |tag| entries.iter().find(|entry| entry.tag == tag).map(|entry| entry.value);
    let (Some(symbols), Some(names)) = (value(DT_SYMTAB), value(DT_STRTAB)) else { return 0 };
    let mut redirected = 0;
    for (table, size) in [(DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)] {
        let (Some(table), Some(size)) = (value(table), value(size)) else { continue };
        let count = size as usize / size_of::<Relocation>();
        // SAFETY: the linker has made the table's address absolute.
        let relocations = unsafe { std::slice::from_raw_parts(table as *const Relocation, count) };
        for relocation in relocations {
            if !ADDRESSES.contains(&(relocation.info as u32)) {
                continue;
            }
            // SAFETY: the relocation's symbol is in the table, and its name among the names.
            let name = unsafe {
                let symbol =
                    (symbols as *const libc::Elf64_Sym).add((relocation.info >> 32) as usize);
                CStr::from_ptr((names as *const c_char).add((*symbol).st_name as usize))
            };
            if request.names.contains(&name) {
                // SAFETY: the relocation stores a function's address there.
                let stored = unsafe { store(base + relocation.offset, request.address) };
                redirected += usize::from(stored);
            }
        }
    }
    redirected
}

/// Stores a function's address in a page that the linker may have made read-only, and which stays
/// writable; returns whether that was possible.
///
/// # Safety
/// `at` is a word of the global offset table.
unsafe fn store(at: u64, address: usize) -> bool {
    let page = (at & !(PAGE - 1)) as *mut c_void;
    let writable = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a page of data.
    if unsafe { libc::mprotect(page, PAGE as usize, writable) } != 0 {
        return false;
    }
    // SAFETY: as the caller guarantees; the linker aligns it.
    unsafe { (at as *mut usize).write(address) };
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_of_the_main_program_leads_elsewhere() {
        unsafe extern "C" fn nobody() -> libc::pid_t {
            -7
        }
        let ours: unsafe extern "C" fn() -> libc::pid_t = nobody;
        // SAFETY: plain functions; nothing else in these tests asks for the parent.
        unsafe {
            assert!(libc::getppid() > 0);
            assert!(redirect(&[c"getppid"], ours as usize) > 0);
            assert_eq!(libc::getppid(), -7);
            assert_eq!(redirect(&[c"no_such_function"], ours as usize), 0);
        }
    }
}
