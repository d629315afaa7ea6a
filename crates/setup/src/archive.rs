//! A source archive: found, verified, unpacked.

use crate::cache::Cache;
use crate::child::{self, Log};
use crate::error::{SetupError, io_error};
use crate::fetch::fetch;
use crate::observer::Observer;
use crate::sources::{self, PINNED};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An archive whose sum is right.
#[derive(Debug, PartialEq, Eq)]
pub struct Archive {
    /// The file.
    pub path: PathBuf,
    /// Its name, for messages and the manifest.
    pub name: String,
    /// Its SHA-256.
    pub sha256: String,
}

/// The archive that the user names with `--archive` and `--sha256`.
#[derive(Clone, Debug)]
pub struct Named {
    /// A file or an address.
    pub what: String,
    /// What its sum must be, if not one of the known ones.
    pub sha256: Option<String>,
}

/// Gets an archive and verifies it.
pub fn get(
    named: Option<&Named>,
    cache: &Cache,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<Archive, SetupError> {
    match named {
        None => first_of_pinned(cache, log, observer),
        Some(named) => get_named(named, cache, log, observer),
    }
}

/// The name of what an address or a path leads to.
fn last_part(what: &str) -> &str {
    let what = what.split(['?', '#']).next().unwrap_or_default();
    what.rsplit('/').find(|part| !part.is_empty()).unwrap_or("archive")
}

/// Whether `--archive` names an address.
pub fn is_address(what: &str) -> bool {
    what.contains("://")
}

fn get_named(
    named: &Named,
    cache: &Cache,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<Archive, SetupError> {
    let what = &named.what;
    let name = last_part(what).to_owned();
    let path = if is_address(what) {
        let path = cache.building().join(&name);
        observer.step(&format!("fetching {what}"));
        let done = fetch(what, &path, log, observer)?;
        done.map_err(|why| SetupError::Fetch {
            tried: format!("{what}: {why}"),
            files: sources::names(),
        })?;
        path
    } else {
        PathBuf::from(what)
    };
    let found = sum(&path)?;
    match &named.sha256 {
        Some(expected) if !expected.eq_ignore_ascii_case(&found) => {
            let (file, expected) = (what.clone(), expected.to_lowercase());
            Err(SetupError::Sum { file, expected, found })
        }
        None if sources::with_sum(&found).is_none() => {
            let (file, known) = (what.clone(), sources::names());
            Err(SetupError::Unknown { file, found, known })
        }
        _ => Ok(Archive { path, name, sha256: found }),
    }
}

fn first_of_pinned(
    cache: &Cache,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<Archive, SetupError> {
    let mut tried = Vec::new();
    for source in PINNED {
        let path = cache.building().join(source.file);
        for address in source.addresses() {
            observer.step(&format!("fetching {address}"));
            let _ = fs::remove_file(&path);
            let why = match fetch(&address, &path, log, observer)? {
                Err(why) => format!("{address}: {why}"),
                Ok(()) => {
                    let found = sum(&path)?;
                    if found == source.sha256 {
                        let (name, sha256) = (source.file.to_owned(), found);
                        return Ok(Archive { path, name, sha256 });
                    }
                    let expected = source.sha256.to_owned();
                    SetupError::Sum { file: address, expected, found }.to_string()
                }
            };
            observer.step(&format!("not used: {why}"));
            tried.push(why);
        }
    }
    Err(SetupError::Fetch { tried: tried.join("; "), files: sources::names() })
}

/// A file's SHA-256 in hexadecimal.
fn sum(path: &Path) -> Result<String, SetupError> {
    let mut file = File::open(path).map_err(io_error("cannot read", path))?;
    let (mut sum, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => sum.update(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io_error("cannot read", path)(error)),
        }
    }
    Ok(sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A source tree.
#[derive(Debug)]
pub struct Tree {
    /// Its folder.
    pub folder: PathBuf,
    /// QEMU's version.
    pub version: String,
}

/// Unpacks an archive, without the firmware sources: two thirds of it, and not for this target.
pub fn unpack(
    archive: &Archive,
    cache: &Cache,
    log: &mut Log,
    observer: &dyn Observer,
) -> Result<Tree, SetupError> {
    observer.step(&format!("unpacking {}", archive.name));
    let folder = cache.building().join("source");
    fs::create_dir(&folder).map_err(io_error("cannot make", &folder))?;
    let mut tar = Command::new("tar");
    tar.args(["--exclude=*/roms/*/*", "--strip-components=1", "--no-same-owner", "-xJf"]);
    tar.arg(&archive.path).arg("-C").arg(&folder);
    child::step(tar, "unpacking QEMU's source", (log, cache.building()), observer, |_| ())?;
    let refuse = |reason: String| SetupError::NotSource { file: archive.name.clone(), reason };
    let text = fs::read_to_string(folder.join("VERSION"))
        .map_err(|error| refuse(format!("its file VERSION: {error}")))?;
    let version = text.trim().to_owned();
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    if version.split('.').count() < 2 || !version.split('.').all(is_number) {
        return Err(refuse(format!("its file VERSION says {version:?}")));
    }
    Ok(Tree { folder, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_standard() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(file.path()).unwrap(), expected);
        assert!(sum(Path::new("/no/such/file")).unwrap_err().to_string().contains("/no/such/file"));
    }

    #[test]
    fn names_are_the_last_parts_of_paths_and_addresses() {
        for (what, name) in
            [("a/b.tar.xz", "b.tar.xz"), ("http://h/x/y.xz?a=b/c#d", "y.xz"), ("b", "b")]
        {
            assert_eq!(last_part(what), name);
        }
        assert!(is_address("http://h/x") && !is_address("/a/b") && !is_address("c:d"));
    }
}
