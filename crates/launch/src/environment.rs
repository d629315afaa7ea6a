//! The guest's environment, and the part of it that QEMU itself sees.
//!
//! The guest inherits QEMU's environment. But variables for the dynamic linker must not reach QEMU,
//! which is a dynamically linked program too: they are passed with QEMU's option `-E`.

use crate::qemu::Version;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Path of the ring, for an exec that is followed.
pub const RING: &str = "MALLACC_RING";
/// Command that starts QEMU for an exec that is followed: its arguments separated by [`SEPARATOR`].
pub const FOLLOW: &str = "MALLACC_FOLLOW";
/// Pads the environment to a round size in deterministic runs. Sorted last, which QEMU's order
/// makes the lowest on the stack: whatever its length, nothing above moves.
pub const PAD: &str = "~MALLACC_PAD";
/// Begins the names of places for further variables. A search for any usual name passes them by at
/// the first character, as it does most variables of a user.
const SPARE: &str = ".";
/// Goes between the name of a complement and its dashes. It is sorted behind every usual character.
const COMPLEMENT: &str = "~-";
/// Separates the words of [`FOLLOW`]: ASCII's unit separator.
pub const SEPARATOR: &str = "\x1f";

/// Seeds that deterministic runs fix, from perlrun(1) and python3(1).
const SEEDS: [&str; 4] =
    ["PERL_HASH_SEED", "PERL_INTERNAL_RAND_SEED", "PERL_RAND_SEED", "PYTHONHASHSEED"];

/// The size of a deterministic run's environment on the guest's stack is a multiple of this.
const ROUND: usize = 16 << 10;
/// Programs search all variables, and the array of pointers to them lies on the stack too: with
/// their spares there are a multiple of this.
const ROUND_VARIABLES: usize = 64;
/// The text of a variable and its complement together: four lines, so that each variable begins at
/// the start of a line, wherever it stands in the environment.
const PAIR: usize = 256;
/// The same for a variable that needs more: a page, so that the others keep their places in their
/// pages. Functions on strings take another way where a page ends.
const LONG_PAIR: usize = 4 << 10;
/// The characters of their two names together: the dynamic linker reads names to their ends.
const PAIR_NAMES: usize = 64;
/// The most that can be taken from the padding.
const SURPLUS_MOST: usize = 16;
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
    /// QEMU's own variables, as `name=value`, in the order in which the guest gets them from the
    /// last name to the first.
    pub fn ordered(&self, version: Version) -> Vec<OsString> {
        let all = self.inherited.iter().map(|(name, value)| {
            let mut text = name.clone();
            text.push("=");
            text.push(value);
            text
        });
        if version.keeps_order() { all.rev().collect() } else { all.collect() }
    }

    /// Makes the guest's stack look the same whatever the user's variables are: each gets a
    /// complement that rounds the two up, further pairs round the number of variables up, and one
    /// variable at the end rounds the whole up. `shift` more bytes move the stack down by that
    /// amount. `surplus` bytes that QEMU itself adds to the stack are taken from the last variable.
    pub fn pad(&mut self, shift: usize, surplus: usize) {
        self.inherited.retain(|name, _| !is_padding(name));
        let count = self.inherited.len();
        for number in count..count.next_multiple_of(ROUND_VARIABLES) {
            self.inherited.insert(format!("{SPARE}{number:02}").into(), OsString::new());
        }
        let complements: Vec<_> =
            self.inherited.iter().map(|(name, value)| complement(name, value)).collect();
        self.inherited.extend(complements);
        let texts = self.inherited.iter().chain(&self.guest_only);
        let used: usize = texts.map(|(name, value)| text(name, value) + POINTER).sum();
        let used = used + PAD.len() + 2 + POINTER + SURPLUS_MOST;
        let missing = used.next_multiple_of(ROUND) - used + SURPLUS_MOST + shift - surplus;
        self.inherited.insert(PAD.into(), "-".repeat(missing).into());
    }
}

/// Bytes of a variable's text: name, equals sign, value, terminating zero.
fn text(name: &OsStr, value: &OsStr) -> usize {
    name.len() + value.len() + 2
}

/// The variable that rounds this one up. It lies right above it on the stack, because it is sorted
/// right before it: its name ends with the character before the last one, and then one that is
/// behind all others.
fn complement(name: &OsStr, value: &OsStr) -> (OsString, OsString) {
    let mut other = name.as_bytes().to_vec();
    if let Some(last) = other.last_mut() {
        // An equals sign would end the name.
        *last = if *last == b'>' { b'<' } else { last.saturating_sub(1).max(1) };
    }
    other.extend(COMPLEMENT.bytes());
    let names = name.len() + other.len();
    other.resize(other.len() + names.next_multiple_of(PAIR_NAMES) - names, b'-');
    let other = OsString::from_vec(other);
    let used = text(name, value) + text(&other, OsStr::new(""));
    let whole = if used <= PAIR { PAIR } else { used.next_multiple_of(LONG_PAIR) };
    (other, "-".repeat(whole - used).into())
}

/// Whether [`Environment::pad`] made a variable of that name.
fn is_padding(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    let dashes = bytes.iter().rev().take_while(|byte| **byte == b'-').count();
    let complements = dashes > 0 && bytes[..bytes.len() - dashes].ends_with(b"~");
    name == PAD || bytes.starts_with(SPARE.as_bytes()) || complements
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
                built.pad(shift, 0);
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
            built.pad(0, 0);
            let all = built.inherited.len() - 1;
            assert_eq!((all % (2 * ROUND_VARIABLES), size(&built) % ROUND), (0, 0), "{count}");
            let before = built.inherited.clone();
            built.pad(0, 0);
            assert_eq!(built.inherited, before, "a program that executes another pads once");
        }
    }

    /// QEMU puts its own variables on the guest's stack in reverse order, the first at the end, and
    /// those of `-E` below them.
    #[test]
    fn each_variable_begins_at_a_line_whatever_the_others_are() {
        let long = "x".repeat(1_000);
        for pairs in [
            &[("A", "1")][..],
            &[("AB", "12"), ("C", "3")],
            &[("HOME", "/root"), ("HOMD", "x"), ("HOMDX", &long), ("LONGER", "y"), ("_", "z")],
        ] {
            let mut built = build(user(pairs), &[], None, Some(0));
            built.pad(0, 0);
            let (mut below_the_end, mut names) = (0, 0);
            for (place, (name, value)) in built.inherited.iter().enumerate() {
                below_the_end += text(name, value);
                names += name.len();
                if name == PAD {
                    assert_eq!(place + 1, built.inherited.len(), "nothing is below it");
                } else if place % 2 == 1 {
                    let found = (below_the_end % PAIR, names % PAIR_NAMES);
                    assert_eq!((is_padding(name), found), (name.as_bytes()[0] == b'.', (0, 0)));
                }
            }
            assert!(pairs.iter().all(|(name, _)| built.inherited.contains_key(OsStr::new(name))));
        }
    }
}
