//! The header compiled by gcc, linked with the static library, and run.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The static library that cargo built beside this test.
fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("the test knows itself");
    let deps = exe.parent().expect("in a folder").to_path_buf();
    let folders = [deps.parent().map(Path::to_path_buf), Some(deps)];
    let archives = folders.into_iter().flatten().flat_map(|folder| {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    let ours = archives.filter(|path| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        name.starts_with("libsma_c") && name.ends_with(".a")
    });
    let newest = ours.max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok());
    newest.expect("cargo builds libsma_c.a before this test")
}

/// Compiles a C file against the header with all warnings as errors; returns the program.
fn compile(compiler: &str, source: &str, flags: &[&str]) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = Path::new(source).file_stem().expect("a file").to_string_lossy().into_owned();
    let program = library().with_file_name(format!("c-{name}-{compiler}-{}", flags.concat()));
    let built = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O2", "-g", "-pthread"])
        .args(flags)
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join(source))
        .arg("-o")
        .arg(&program)
        .arg(library())
        .args(["-ldl", "-lm"])
        .status();
    match built {
        Ok(status) => {
            assert!(status.success(), "{compiler} {source}: {status}");
            Some(program)
        }
        Err(error) => {
            skips::without_tool(format_args!("{compiler}: {error}"));
            None
        }
    }
}

fn run(source: &str, flags: &[&str]) -> Option<String> {
    let program = compile("gcc", source, flags)?;
    let output = Command::new(program).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{source} {flags:?}: {text}{errors}");
    Some(text)
}

#[test]
fn the_c_test_passes() {
    if let Some(text) = run("tests/c/heap.c", &["-std=c11"]) {
        assert_eq!(text, "ok\n");
    }
}

#[test]
fn the_ten_line_example_runs() {
    if let Some(text) = run("examples/ten_lines.c", &["-std=c11"]) {
        // 4,096 - 40 bytes of state - 32 (20 rounded) - 1,024 (1,000: seven blocks and 104
        // bytes, rounded to 128).
        assert_eq!(text, format!("hello, scratch-pad: {} bytes free\n", 4096 - 40 - 32 - 1024));
    }
}

#[test]
fn every_block_size_and_kind_links_and_works() {
    for block in ["32", "64", "128", "256", "512", "1024"] {
        for kind in ["plain", "checked", "exact", "fine"] {
            let flags = [&format!("-DSMA_BLOCK={block}"), &format!("-DSMA_KIND={kind}")];
            run("tests/c/kinds.c", &flags.map(|flag| flag.as_str()));
        }
    }
}

#[test]
fn threads_share_a_fine_heap() {
    if let Some(text) = run("tests/c/threads.c", &["-std=c11"]) {
        assert_eq!(text, "ok\n");
    }
}

/// The C side under gcc's sanitizers, which see what C does to the memory; the library itself is
/// built without instrumentation.
#[test]
fn the_c_test_is_clean_under_the_address_sanitizer() {
    if let Some(text) = run("tests/c/heap.c", &["-fsanitize=address,undefined"]) {
        assert_eq!(text, "ok\n");
    }
}

#[test]
fn the_header_is_valid_cplusplus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let checked = Command::new("g++")
        .args(["-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++"])
        .arg(root.join("include/sma.h"))
        .args(["-Wno-pragma-once-outside-header"])
        .status();
    match checked {
        Ok(status) => assert!(status.success()),
        Err(error) => skips::without_tool(format_args!("g++: {error}")),
    }
}

/// The flags after a name in a pkg-config file, as `pkg-config` prints them: variables filled in.
fn flags(file: &str, name: &str) -> Vec<String> {
    let variables = file.lines().filter_map(|line| line.split_once('='));
    let field = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let mut text = field.expect("the field").to_owned();
    // Later variables contain earlier ones.
    for (variable, value) in variables.collect::<Vec<_>>().into_iter().rev() {
        text = text.replace(&format!("${{{variable}}}"), value);
    }
    text.split_whitespace().map(str::to_owned).collect()
}

/// Bytes of code and initialised data, with the C runtime's.
fn text_and_data(program: &Path) -> u64 {
    let output = Command::new("size").arg(program).output().expect("size, of binutils");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = text.lines().nth(1).unwrap_or_else(|| panic!("{text}"));
    row.split_whitespace().take(2).map(|field| field.parse::<u64>().expect("bytes")).sum()
}

#[test]
fn the_installed_library_makes_the_example_a_program_of_under_20_kb() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if !skips::have("make") || !skips::have("gcc") {
        return;
    }
    let prefix = tempfile::tempdir().expect("a folder");
    let place = format!("PREFIX={}", prefix.path().display());
    let made = Command::new("make").args(["-s", "install-sma", &place]).current_dir(&root).output();
    let made = made.expect("make starts");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));

    let folder = prefix.path().join("lib/pkgconfig");
    let file = std::fs::read_to_string(folder.join("sma.pc")).expect("sma.pc");
    let (cflags, libs) = (flags(&file, "Cflags"), flags(&file, "Libs"));
    let mut tool = Command::new("pkg-config");
    tool.args(["--cflags", "--libs", "sma"]).env("PKG_CONFIG_PATH", folder);
    if let Ok(printed) = tool.output() {
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        let expected = [cflags.as_slice(), &libs].concat();
        assert_eq!(printed.split_whitespace().collect::<Vec<_>>(), expected);
    }

    let program = prefix.path().join("ten_lines");
    let source = root.join("sma/sma-c/examples/ten_lines.c");
    let mut gcc = Command::new("gcc");
    gcc.arg("-O2").arg(source).args(cflags).args(libs).arg("-o").arg(&program);
    assert!(gcc.status().expect("gcc starts").success());
    let output = Command::new(&program).output().expect("the program starts");
    assert_eq!(output.stdout, b"hello, scratch-pad: 3000 bytes free\n");
    let bytes = text_and_data(&program);
    assert!(bytes < 20_000, "{bytes} bytes of text and data");
}
