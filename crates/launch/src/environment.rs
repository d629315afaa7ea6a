//! The guest's environment, and the part of it that QEMU itself sees.
//!
//! The guest inherits QEMU's environment. But variables for the dynamic linker must not reach QEMU,
//! which is a dynamically linked program too: they are passed with QEMU's option `-E`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Path of the ring, for an exec that is followed.
pub const RING: &str = "MALLACC_RING";
/// Command that starts QEMU for an exec that is followed: its arguments separated by [`SEPARATOR`].
pub const FOLLOW: &str = "MALLACC_FOLLOW";
/// Pads the environment to a round size in deterministic runs.
pub const PAD: &str = "MALLACC_PAD";
/// Begins the names of the variables that pad it to a round number of variables. A search for any
/// usual name passes them by at the first character, as it does most variables of a user.
const FILLER: &str = ".";
/// Separates the words of [`FOLLOW`]: ASCII's unit separator.
pub const SEPARATOR: &str = "\x1f";

/// Seeds that deterministic runs fix, from perlrun(1) and python3(1).
const SEEDS: [&str; 4] =
    ["PERL_HASH_SEED", "PERL_INTERNAL_RAND_SEED", "PERL_RAND_SEED", "PYTHONHASHSEED"];

/// The size of a deterministic run's environment on the guest's stack is a multiple of this.
const ROUND: usize = 16 << 10;
/// The number of its variables is a multiple of this: programs search all of them, and the array of
/// pointers to them lies on the stack too.
const ROUND_VARIABLES: usize = 64;
/// The characters of their names are a multiple of this.
const ROUND_NAMES: usize = 1 << 10;
/// Size of a variable besides its text: the pointer to it.
const POINTER: usize = 8;

/// Variables, sorted by name.
pub type Variables = BTreeMap<OsString, OsString>;

/// An environment, split between QEMU's own and the options `-E`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// QEMU's environment, which the guest inherits.
    pub inherited: Variables,
    /// For the guest alone.
    pub guest_only: Variables,
}

/// Builds the guest's environment from the user's. `deterministic` is the layout of a deterministic
/// run, which becomes the value of the hash seeds.
pub fn build(
    user: Variables,
    additions: &[(OsString, OsString)],
    preload: Option<&Path>,
    deterministic: Option<u64>,
) -> Environment {
    let mut all = user;
    all.extend(additions.iter().cloned());
    if let Some(layout) = deterministic {
        for name in SEEDS {
            all.insert(name.into(), layout.to_string().into());
        }
        // Perl does not accept arbitrary numbers here: 0 leaves the order of keys alone, 2 makes it
        // deterministic.
        let perturb = if layout == 0 { "0" } else { "2" };
        all.insert("PERL_PERTURB_KEYS".into(), perturb.into());
    }
    if let Some(library) = preload {
        let mut value = library.as_os_str().to_owned();
        if let Some(own) = all.get(OsStr::new("LD_PRELOAD")).filter(|own| !own.is_empty()) {
            value.push(":");
            value.push(own);
        }
        all.insert("LD_PRELOAD".into(), value);
    }
    // QEMU ends a variable at a comma; a value with a comma must be inherited instead.
    let guest_only = |name: &OsStr, value: &OsStr| {
        name.as_bytes().starts_with(b"LD_") && !value.as_bytes().contains(&b',')
    };
    let (guest_only, inherited) = all.into_iter().partition(|(n, v)| guest_only(n, v));
    Environment { inherited, guest_only }
}

impl Environment {
    /// Adds variables that pad the environment to a round number of bytes and of variables, so that
    /// the guest's stack begins at the same address and looks the same whatever the user's
    /// variables are. `shift` more bytes move the stack down by that amount.
    pub fn pad(&mut self, shift: usize) {
        let padding = |name: &OsStr| name == PAD || name.as_bytes().starts_with(FILLER.as_bytes());
        self.inherited.retain(|name, _| !padding(name));
        let count = self.inherited.len() + self.guest_only.len() + 1;
        for number in count..count.next_multiple_of(ROUND_VARIABLES) {
            self.inherited.insert(format!("{FILLER}{number:02}").into(), OsString::new());
        }
        // The dynamic linker reads every name to its end.
        let names = self.inherited.keys().chain(self.guest_only.keys());
        let length: usize = names.map(|name| name.len()).sum();
        let first = format!("{FILLER}{count:02}");
        if self.inherited.remove(OsStr::new(&first)).is_some() {
            let more = length.next_multiple_of(ROUND_NAMES) - length;
            self.inherited.insert((first + &"-".repeat(more)).into(), OsString::new());
        }
        let texts = self.inherited.iter().chain(&self.guest_only);
        // Name, equals sign, value, terminating zero, pointer.
        let used: usize = texts.map(|(n, v)| n.len() + v.len() + 2 + POINTER).sum();
        let used = used + PAD.len() + 2 + POINTER;
        let missing = used.next_multiple_of(ROUND) - used + shift;
        self.inherited.insert(PAD.into(), "-".repeat(missing).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|&(n, v)| (n.into(), v.into())).collect()
    }

    fn size(environment: &Environment) -> usize {
        let all = environment.inherited.iter().chain(&environment.guest_only);
        all.map(|(n, v)| format!("{}={}\0", n.display(), v.display()).len() + 8).sum()
    }

    #[test]
    fn the_users_variables_arrive_and_the_linkers_go_to_the_guest_alone() {
        let own = user(&[("A", "1,2"), ("LD_LIBRARY_PATH", "/x"), ("LD_PRELOAD", "/own.so")]);
        let additions = [("B".into(), "2".into()), ("A".into(), "3".into())];
        let built = build(own, &additions, Some(Path::new("/ours.so")), None);
        assert_eq!(built.inherited, user(&[("A", "3"), ("B", "2")]));
        let linker = [("LD_LIBRARY_PATH", "/x"), ("LD_PRELOAD", "/ours.so:/own.so")];
        assert_eq!(built.guest_only, user(&linker));
    }

    #[test]
    fn without_a_library_the_environment_is_the_users() {
        let own = user(&[("A", "1"), ("LD_LIBRARY_PATH", "/a,b")]);
        assert_eq!(build(own.clone(), &[], None, None).inherited, own);
    }

    #[test]
    fn deterministic_runs_fix_the_hash_seeds() {
        for layout in [0, 3] {
            let built = build(user(&[("PYTHONHASHSEED", "7")]), &[], None, Some(layout));
            assert_eq!(built.inherited.len(), SEEDS.len() + 1);
            for name in SEEDS {
                assert_eq!(built.inherited[OsStr::new(name)], *layout.to_string());
            }
        }
    }

    #[test]
    fn padding_makes_every_environment_a_round_number_of_bytes() {
        for length in [0, 1, 7, 100, ROUND - 60, ROUND] {
            let value = "x".repeat(length);
            for shift in [0, 272] {
                let text = user(&[("A", &value)]);
                let mut built = build(text, &[], Some(Path::new("/l.so")), Some(0));
                built.pad(shift);
                assert_eq!(size(&built) % ROUND, shift, "{length}");
            }
        }
    }

    #[test]
    fn padding_makes_every_environment_a_round_number_of_variables() {
        for count in [0, 1, 50, 60, 120] {
            let names: Vec<String> = (0..count).map(|number| format!("V{number}")).collect();
            let pairs: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
            let mut built = build(user(&pairs), &[], Some(Path::new("/l.so")), Some(0));
            built.pad(0);
            let all = built.inherited.len() + built.guest_only.len();
            assert_eq!((all % ROUND_VARIABLES, size(&built) % ROUND), (0, 0), "{count}");
            let before = built.inherited.clone();
            built.pad(0);
            assert_eq!(built.inherited, before, "a program that executes another pads once");
        }
    }
}
