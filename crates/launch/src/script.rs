//! `#!` lines.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Linux reads this many bytes of a file to find its interpreter (BINPRM_BUF_SIZE, since 5.1).
pub const HEAD: usize = 256;

/// An interpreter and the single argument that a `#!` line can give it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// The interpreter.
    pub path: PathBuf,
    /// The rest of the line, not split at blanks.
    pub arg: Option<OsString>,
}

/// The interpreter of a script whose first bytes are `head`; `None` if it does not begin with `#!`
/// and a name.
pub fn interpreter(head: &[u8]) -> Option<Interpreter> {
    let line = head.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let line = line.trim_ascii();
    let at = line.iter().position(|b| b" \t".contains(b)).unwrap_or(line.len());
    let (path, arg) = (&line[..at], line[at..].trim_ascii());
    if path.is_empty() {
        return None;
    }
    let arg = (!arg.is_empty()).then(|| OsStr::from_bytes(arg).to_owned());
    Some(Interpreter { path: PathBuf::from(OsStr::from_bytes(path)), arg })
}

/// What `env` would run as a script's interpreter, with arguments: `env NAME` and `env -S NAME
/// ARGS…` without quoting, variables or options. `None` for anything else: then `env` itself runs.
pub fn through_env(of: &Interpreter) -> Option<Vec<OsString>> {
    if of.path.file_name()? != "env" {
        return None;
    }
    let arg = of.arg.as_ref()?.as_bytes();
    let (text, split) = match arg.strip_prefix(b"-S") {
        Some(rest) => (rest.trim_ascii(), true),
        None => (arg, false),
    };
    let words: Vec<&[u8]> = match split {
        true => text.split(|b| b" \t".contains(b)).filter(|w| !w.is_empty()).collect(),
        false => vec![text],
    };
    let special = |b: &u8| b"\\'\"$#=".contains(b);
    let plain = !words.is_empty()
        && !words[0].starts_with(b"-")
        && !words.iter().flat_map(|w| w.iter()).any(special);
    plain.then(|| words.into_iter().map(|w| OsString::from_vec(w.to_vec())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Interpreter> {
        interpreter(line.as_bytes())
    }

    fn env(line: &str) -> Option<Vec<OsString>> {
        through_env(&of(line)?)
    }

    #[test]
    fn a_line_has_an_interpreter_and_at_most_one_argument() {
        let sh = Interpreter { path: "/bin/sh".into(), arg: None };
        assert_eq!(of("#!/bin/sh\necho"), Some(sh.clone()));
        assert_eq!(of("#! \t/bin/sh  \necho"), Some(sh.clone()));
        assert_eq!(of("#!/bin/sh"), Some(sh));
        let arg = Some("-w -T x".into());
        assert_eq!(
            of("#!/bin/perl  -w -T x \n"),
            Some(Interpreter { path: "/bin/perl".into(), arg })
        );
        for none in ["", "#", "#!", "#!\n/bin/sh", "echo"] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }

    #[test]
    fn env_is_looked_through_in_its_plain_forms_only() {
        assert_eq!(env("#!/usr/bin/env perl\n"), Some(vec!["perl".into()]));
        assert_eq!(env("#!/usr/bin/env -S perl -w\n"), Some(vec!["perl".into(), "-w".into()]));
        for other in ["-i perl", "A=b perl", "-S A=b perl", "-S -i perl", "-S perl 'a b'", ""] {
            assert_eq!(env(&format!("#!/usr/bin/env {other}\n")), None, "{other}");
        }
        assert_eq!(env("#!/usr/bin/perl env\n"), None);
    }
}
