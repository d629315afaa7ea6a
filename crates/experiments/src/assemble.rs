//! Assembly language to machine code, by the system's assembler.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use crate::error::Failure;
use crate::scratch::Scratch;

/// The assembler, of the package binutils.
const ASSEMBLER: &str = "as";

/// How the operands are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// `add rax, rbx`: the destination first.
    Intel,
    /// `add %rbx, %rax`: the destination last.
    Att,
}

/// The machine code of instructions for x86-64, separated by `;` or by new lines. Errors name the
/// line of the text.
pub fn assemble(text: &str, syntax: Syntax) -> Result<Vec<u8>, Failure> {
    assemble_with(ASSEMBLER, text, syntax)
}

fn assemble_with(assembler: &str, text: &str, syntax: Syntax) -> Result<Vec<u8>, Failure> {
    let folder = Scratch::new()?;
    let [source, result] = ["block.s", "block.o"].map(|name| folder.path().join(name));
    let directive = match syntax {
        Syntax::Intel => ".intel_syntax noprefix",
        Syntax::Att => ".att_syntax prefix",
    };
    // In the text's first line, so that the assembler counts the text's lines.
    let file = format!("{directive}; {text}\n");
    let unwritable = |e| Failure::failed(format!("cannot write {}: {e}", source.display()));
    fs::write(&source, file).map_err(unwritable)?;
    let mut command = Command::new(assembler);
    command.arg("--64").arg("-o").arg(&result).arg(&source).stdin(Stdio::null());
    let output = command.env("LC_ALL", "C").output().map_err(|error| {
        let remedy = if error.kind() == ErrorKind::NotFound {
            "; install it with `apt install binutils`, or give machine code in hexadecimal"
        } else {
            ""
        };
        Failure::failed(format!("cannot run the assembler `{assembler}`: {error}{remedy}"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::usage(refusal(&said, &source, text)));
    }
    code(&fs::read(&result).map_err(|e| Failure::failed(format!("{}: {e}", result.display())))?)
}

/// The assembler's first error in one line, with the line that it is about.
fn refusal(said: &str, source: &Path, text: &str) -> String {
    let prefix = format!("{}:", source.display());
    let errors: Vec<(usize, &str)> = said
        .lines()
        .filter_map(|line| line.strip_prefix(&prefix)?.split_once(": "))
        .filter_map(|(number, rest)| Some((number.parse().ok()?, rest.strip_prefix("Error: ")?)))
        .collect();
    let Some((number, error)) = errors.first() else {
        let last = said.lines().last().unwrap_or("it prints nothing");
        return format!("the assembler failed: {}", last.replace(&prefix, ""));
    };
    let line = number.checked_sub(1).and_then(|index| text.lines().nth(index));
    let line = line.map_or(String::new(), |line| format!(" ({})", line.trim()));
    let more = match errors.len() - 1 {
        0 => String::new(),
        1 => "; one more error follows".to_owned(),
        more => format!("; {more} more errors follow"),
    };
    format!("assembly language, line {number}{line}: {error}{more}")
}

/// The code of an object file, which must be complete.
fn code(file: &[u8]) -> Result<Vec<u8>, Failure> {
    let unreadable = |e| Failure::failed(format!("the assembler's object file: {e}"));
    let file = object::File::parse(file).map_err(unreadable)?;
    let Some(section) = file.section_by_name(".text") else { return Ok(Vec::new()) };
    if let Some((_, relocation)) = section.relocations().next() {
        let name = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = file.symbol_by_index(index).ok();
                symbol.and_then(|s| s.name().ok().map(str::to_owned)).unwrap_or_default()
            }
            _ => String::new(),
        };
        return Err(Failure::usage(format!(
            "assembly language: the symbol `{name}` has no address in a block; write a register \
             or a number"
        )));
    }
    section.data().map(<[u8]>::to_vec).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code in hexadecimal, or the sentence of the error; `None` without an assembler.
    fn assembled(text: &str, syntax: Syntax) -> Option<String> {
        if !skips::have(ASSEMBLER) {
            return None;
        }
        Some(match assemble(text, syntax) {
            Ok(code) => code.iter().map(|byte| format!("{byte:02x}")).collect(),
            Err(failure) => failure.text,
        })
    }

    #[test]
    fn both_syntaxes_and_both_separators_give_the_same_code() {
        // Intel manual: REX.W 01 /r and REX.W 0F AF /r.
        let expected = "4801d8480fafc8";
        for (text, syntax) in [
            ("add rax, rbx; imul rcx, rax", Syntax::Intel),
            ("add rax, rbx\n  imul rcx, rax  # a comment\n", Syntax::Intel),
            ("add %rbx, %rax; imul %rax, %rcx", Syntax::Att),
        ] {
            let Some(code) = assembled(text, syntax) else { return };
            assert_eq!(code, expected, "{text}");
        }
        assert_eq!(assembled("", Syntax::Intel).unwrap(), "");
    }

    #[test]
    fn errors_name_the_line_and_what_is_in_it() {
        let text = "add rax, rbx\nimul rcx, rax\nfoo\n";
        let Some(error) = assembled(text, Syntax::Intel) else { return };
        for word in ["line 3 (foo)", "no such instruction"] {
            assert!(error.contains(word), "{error}");
        }
        assert_eq!(error.lines().count(), 1, "{error}");
        // A misspelt register is a symbol to the assembler.
        for (text, name) in [("mov rax, [rip+table]", "`table`"), ("imul rcx, rxa", "`rxa`")] {
            let error = assembled(text, Syntax::Intel).unwrap();
            assert!(error.contains(name) && error.contains("register"), "{error}");
        }
    }

    #[test]
    fn a_missing_assembler_names_its_package() {
        let error = assemble_with("no-such-assembler", "nop", Syntax::Intel).unwrap_err();
        assert!(error.text.contains("apt install binutils"), "{}", error.text);
    }
}
