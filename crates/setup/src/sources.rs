//! The archives of QEMU's source that are known, each with its sum, and the places that have them.

use std::process::{Command, Stdio};

/// A known archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// QEMU's version.
    pub version: &'static str,
    /// The file's name.
    pub file: &'static str,
    /// The file's SHA-256.
    pub sha256: &'static str,
    /// Where it is.
    pub place: Place,
}

/// Where an archive is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this folder of every Debian archive that apt is set up with.
    Debian(&'static str),
    /// Below this address.
    Site(&'static str),
}

/// The archives, in the order in which they are tried. The first was built and tested as it is, the
/// second as Debian repacks it.
pub const PINNED: [Source; 2] = [
    Source {
        version: "10.0.13",
        file: "qemu_10.0.13+ds.orig.tar.xz",
        sha256: "6a0888e806c2ffc0c5f0733e974f9aea55491950d3c47c98669c8b236dde59ae",
        place: Place::Debian("pool/main/q/qemu/"),
    },
    Source {
        version: "10.2.2",
        file: "qemu-10.2.2.tar.xz",
        sha256: "784b296ff29c1417aa72323abcb2d2ea9ab9771724f577dcd785c3b04f21e176",
        place: Place::Site("https://download.qemu.org/"),
    },
];

/// The known archive with this sum.
pub fn with_sum(sha256: &str) -> Option<&'static Source> {
    PINNED.iter().find(|source| source.sha256 == sha256)
}

/// The archives' names, for messages.
pub fn names() -> String {
    PINNED.map(|source| source.file).join(" or ")
}

impl Source {
    /// The addresses that it may be at.
    pub fn addresses(&self) -> Vec<String> {
        let bases = match self.place {
            Place::Debian(folder) => {
                let below = |mirror: String| format!("{}/{folder}", mirror.trim_end_matches('/'));
                mirrors(&apt("apt-get", &["indextargets", "--format", "$(REPO_URI)"]))
                    .into_iter()
                    .map(below)
                    .collect()
            }
            Place::Site(address) => vec![address.to_owned()],
        };
        bases.into_iter().map(|base| base + self.file).collect()
    }
}

/// The variable for a proxy, and its value, that apt is set up with for its mirrors.
pub fn apt_proxy() -> Option<(&'static str, String)> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("http_proxy") {
        return None;
    }
    let proxy = apt("apt-config", &["dump", "--format", "%v%n", "Acquire::http::Proxy"]);
    let proxy = proxy.lines().next().unwrap_or_default().trim();
    (!proxy.is_empty() && proxy != "DIRECT").then(|| ("http_proxy", proxy.to_owned()))
}

/// What a program of apt prints; nothing if there is no apt.
fn apt(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// The mirrors in a list, each once, without those that cannot be asked by HTTP.
fn mirrors(list: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in list.lines().map(str::trim) {
        let known = line.starts_with("http://") || line.starts_with("https://");
        if known && !found.iter().any(|one| one == line) {
            found.push(line.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_sums_and_versions_that_the_launcher_takes() {
        for source in PINNED {
            assert_eq!(source.sha256.len(), 64);
            assert!(source.sha256.bytes().all(|b| b"0123456789abcdef".contains(&b)));
            assert!(source.file.contains(source.version));
            let numbers: Vec<u32> = source.version.split('.').map(|n| n.parse().unwrap()).collect();
            let version = launch::qemu::Version(numbers[0], numbers[1]);
            assert!((launch::qemu::OLDEST..launch::qemu::END).contains(&version));
            assert_eq!(with_sum(source.sha256), Some(&source));
        }
        assert_eq!(with_sum(&"0".repeat(64)), None);
    }

    #[test]
    fn mirrors_are_asked_once_each_and_only_where_http_leads() {
        let list = "http://a.example/debian\ncdrom:[disc]/\nhttp://b.example/s/\n\
                    http://a.example/debian\nhttps://c.example/\nmirror+file:/etc/list\n";
        let found = ["http://a.example/debian", "http://b.example/s/", "https://c.example/"];
        assert_eq!(mirrors(list), found);
        assert_eq!(mirrors(""), [""; 0]);
    }
}
