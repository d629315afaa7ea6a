//! Names from files of a compiler: whole, stripped, changed, absent.

use mallacc_symbols::Names;
use std::path::{Path, PathBuf};
use std::process::Command;
use stream::ObjectDef;

const SOURCE: &str = "\
static __attribute__((noinline)) int hidden(int x) { return x * 3; }
int shown(int x) { return hidden(x) + 1; }
";

/// A library, and the offset in it and the first bytes of each function.
struct Library {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Library {
    /// `None` without a compiler: the test is skipped.
    fn new() -> Option<Self> {
        if !skips::have("gcc") || !skips::have("nm") || !skips::have("strip") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("a.c"), folder.path().join("liba.so"));
        std::fs::write(&source, SOURCE).unwrap();
        let mut gcc = Command::new("gcc");
        gcc.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&path).arg(&source);
        assert!(gcc.status().unwrap().success());
        Some(Self { folder, path })
    }

    /// The address of a function, by `nm`. In a small library, the code's offset in the file is its
    /// address.
    fn address(&self, name: &str) -> u64 {
        let output = Command::new("nm").arg(&self.path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    fn code(&self, address: u64) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()[address as usize..][..4].to_vec()
    }

    fn strip(&self) {
        assert!(Command::new("strip").arg(&self.path).status().unwrap().success());
    }
}

/// The file as mapped at 0x7000_0000.
fn mapped(path: &Path) -> ObjectDef {
    let path = path.display().to_string();
    ObjectDef { first_block: 0, addr: 0x7000_0000, len: 0x10_0000, offset: 0, path }
}

fn place(path: &Path, address: u64, code: &[u8]) -> String {
    let object = mapped(path);
    let place = Names::default().place(Some(&object), object.addr + address, code);
    assert_eq!(place.address, address);
    place.to_string()
}

#[test]
fn a_function_is_named_whether_it_is_exported_or_not() {
    let Some(library) = Library::new() else { return };
    for name in ["hidden", "shown"] {
        let address = library.address(name);
        let code = library.code(address);
        assert_eq!(place(&library.path, address, &code), format!("{name} in liba.so"));
    }
}

#[test]
fn a_stripped_library_names_what_it_exports_and_gives_positions_for_the_rest() {
    let Some(library) = Library::new() else { return };
    let (hidden, shown) = (library.address("hidden"), library.address("shown"));
    library.strip();
    let name = |address| place(&library.path, address, &library.code(address));
    assert_eq!(name(shown), "shown in liba.so");
    assert_eq!(name(hidden), format!("liba.so+{hidden:#x}"));
}

#[test]
fn a_file_that_has_changed_since_or_is_gone_gives_positions() {
    let Some(library) = Library::new() else { return };
    let shown = library.address("shown");
    let code = library.code(shown);
    let other: Vec<u8> = code.iter().map(|byte| !byte).collect();
    let position = format!("liba.so+{shown:#x}");
    assert_eq!(place(&library.path, shown, &other), position);
    assert_eq!(place(&library.folder.path().join("gone/liba.so"), shown, &code), position);
    assert_eq!(place(&library.folder.path().join("a.c"), shown, &code), format!("a.c+{shown:#x}"));
}

#[test]
fn code_that_no_file_holds_has_its_address() {
    assert_eq!(Names::default().place(None, 0x1234, &[0x90]).to_string(), "0x1234");
}
