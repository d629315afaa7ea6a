//! Places in code, for people.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use stream::ObjectDef;

use crate::elf::Elf;

/// Where code is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file's name without its folder; `None` for code that no file holds.
    pub object: Option<String>,
    /// The function, demangled; `None` if the file has no symbol for it, or has changed since.
    pub function: Option<String>,
    /// The address in the file's own terms, as `objdump` and `addr2line` know it; the address in
    /// memory for code that no file holds.
    pub address: u64,
}

impl Place {
    /// The file and the address in it, as `libfoo.so+0x1234`.
    pub fn position(&self) -> String {
        match &self.object {
            Some(object) => format!("{object}+{:#x}", self.address),
            None => format!("{:#x}", self.address),
        }
    }
}

impl fmt::Display for Place {
    /// The function and its file, or else the position.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.function, &self.object) {
            (Some(function), Some(object)) => write!(f, "{function} in {object}"),
            (Some(function), None) => f.write_str(function),
            (None, _) => f.write_str(&self.position()),
        }
    }
}

/// Names places. Reads each file once.
#[derive(Default)]
pub struct Names(HashMap<String, Option<Elf>>);

impl Names {
    /// The place of `code`, which was executed at `addr` in `object`.
    pub fn place(&mut self, object: Option<&ObjectDef>, addr: u64, code: &[u8]) -> Place {
        let Some(object) = object else {
            return Place { object: None, function: None, address: addr };
        };
        let path = Path::new(&object.path);
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let offset = object.offset.wrapping_add(addr.wrapping_sub(object.addr));
        let elf = self.0.entry(object.path.clone()).or_insert_with(|| Elf::open(path));
        // A file that was replaced since the program ran must not lend its names.
        let elf = elf.as_ref().filter(|elf| elf.has(offset, code));
        let address = elf.and_then(|elf| elf.address(offset));
        let symbol = elf.zip(address).and_then(|(elf, address)| elf.function(address));
        Place {
            object: Some(name),
            function: symbol.map(demangled),
            address: address.unwrap_or(offset),
        }
    }
}

/// A symbol as its language writes it: of Rust without its hash, of C++ without its parameters,
/// which would fill lines.
fn demangled(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let name = cpp_demangle::Symbol::new(symbol).ok();
    let name = name.and_then(|name| name.demangle_with_options(&options).ok());
    name.unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_rust_and_cpp_are_readable_and_others_stay() {
        assert_eq!(demangled("malloc"), "malloc");
        assert_eq!(demangled("_ZN7mallacc7reallocEPvm"), "mallacc::realloc");
        assert_eq!(demangled("_Znwm"), "operator new");
        assert_eq!(
            demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad"
        );
        assert_eq!(demangled("_Zbroken"), "_Zbroken");
    }

    #[test]
    fn places_are_functions_or_positions() {
        let place = |object: Option<&str>, function: Option<&str>| Place {
            object: object.map(str::to_owned),
            function: function.map(str::to_owned),
            address: 0x1234,
        };
        assert_eq!(place(Some("libfoo.so"), Some("f")).to_string(), "f in libfoo.so");
        assert_eq!(place(Some("libfoo.so"), None).to_string(), "libfoo.so+0x1234");
        assert_eq!(place(None, None).to_string(), "0x1234");
    }
}
