//! The version of the plugin interface that a QEMU serves, from the functions that it exports. QEMU
//! itself says it to plugins only.

use object::{Object, ObjectSymbol};
use std::path::Path;

/// A function of the interface, and the version that brought it (`include/qemu/qemu-plugin.h`, or
/// `include/plugins/` since QEMU 11). Versions 3 and 6 changed functions and brought none.
const BROUGHT: [(&str, &str); 4] = [
    ("qemu_plugin_write_register", "5 or later"),
    ("qemu_plugin_read_memory_vaddr", "4"),
    ("qemu_plugin_scoreboard_new", "2 or 3"),
    ("qemu_plugin_register_vcpu_tb_trans_cb", "1"),
];

/// The version that a program's exports imply.
pub fn version(program: &Path) -> Option<&'static str> {
    let data = std::fs::read(program).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let names: Vec<&str> = file
        .dynamic_symbols()
        .filter(ObjectSymbol::is_definition)
        .filter_map(|symbol| symbol.name().ok())
        .collect();
    implied(&names)
}

fn implied(names: &[&str]) -> Option<&'static str> {
    BROUGHT.iter().find(|(name, _)| names.contains(name)).map(|(_, version)| *version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_function_decides() {
        let all: Vec<&str> = BROUGHT.iter().map(|(name, _)| *name).collect();
        for (first, (_, version)) in BROUGHT.iter().enumerate() {
            assert_eq!(implied(&all[first..]), Some(*version));
        }
        assert_eq!(implied(&["main"]), None);
        assert_eq!(version(Path::new("/proc/self/exe")), None, "this program is no QEMU");
    }
}
