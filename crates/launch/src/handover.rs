//! Executes a command with its environment in a given order: [`Command`] sorts it, and what the
//! guest gets depends on the order.

use std::ffi::{CString, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Arguments of execve(2), prepared before the fork: nothing may be allocated after it.
struct Prepared {
    path: CString,
    /// Pointers into `_strings`, each list ended by a null.
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    _strings: Vec<CString>,
}
// SAFETY: the strings are never changed, and the pointers point to them.
unsafe impl Send for Prepared {}
// SAFETY: as above.
unsafe impl Sync for Prepared {}

/// Lets a command, whose program is a path and whose arguments are complete, be executed with these
/// variables (`name=value`).
pub fn with_environment(command: &mut Command, variables: Vec<OsString>) {
    let text = |text: &OsStr| CString::new(text.as_bytes()).ok();
    // What has a zero in it could not have come to us.
    let path = text(command.get_program()).unwrap_or_default();
    let arguments: Vec<CString> =
        std::iter::once(path.clone()).chain(command.get_args().filter_map(text)).collect();
    let variables: Vec<CString> =
        variables.into_iter().filter_map(|v| CString::new(v.into_vec()).ok()).collect();
    let list = |strings: &[CString]| {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, envp) = (list(&arguments), list(&variables));
    let strings = arguments.into_iter().chain(variables).collect();
    let prepared = Prepared { path, argv, envp, _strings: strings };
    let execute = move || {
        let prepared = &prepared;
        // SAFETY: lists of C strings, ended by nulls; execve(2) may be called after a fork.
        unsafe {
            libc::execve(prepared.path.as_ptr(), prepared.argv.as_ptr(), prepared.envp.as_ptr())
        };
        Err(io::Error::last_os_error())
    };
    // SAFETY: it only executes the program, or returns an error.
    unsafe { command.pre_exec(execute) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_arrive_in_the_given_order() {
        let mut command = Command::new("/usr/bin/env");
        with_environment(&mut command, ["B=2", "A=1", "C=3"].map(OsString::from).to_vec());
        assert_eq!(command.output().unwrap().stdout, b"B=2\nA=1\nC=3\n");
    }

    #[test]
    fn what_cannot_be_executed_is_the_spawns_error() {
        let mut command = Command::new("/no/such/program");
        with_environment(&mut command, Vec::new());
        assert_eq!(command.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
