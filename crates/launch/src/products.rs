//! Answers where a product of this build is: a library, a program or a folder that `mallacc` needs
//! beside its own executable.
//!
//! The order of the search, for every product:
//! 1. its environment variable, and then nothing else;
//! 2. the folder of the executable, where cargo puts libraries and programs (for a test the folder
//!    above, because cargo puts tests one folder deeper);
//! 3. an installation: `../lib/mallacc` or `../share/mallacc` from the executable;
//! 4. the checkout that the executable lies in: the folder that holds cargo's target folder;
//! 5. the checkout that the executable was compiled in, unless it lies in one. A copied checkout
//!    thus never uses another one's products.

use crate::LaunchError;
use std::path::{Path, PathBuf};

/// A product and where it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// File or folder name.
    pub name: &'static str,
    /// Whether it is a folder.
    folder: bool,
    /// The environment variable that overrides the search.
    pub variable: &'static str,
    /// Its folder below an installation's prefix.
    installed: &'static str,
    /// Its folder below a checkout; cargo's products are in the executable's folder instead.
    checkout: Option<&'static str>,
    /// How to get it.
    remedy: &'static str,
}

const BUILD: &str = "build it with `make build` in Mallacc's source tree";
const GUEST_BUILD: &str = "build it with `make guest` in Mallacc's source tree";

/// The QEMU plugin.
pub const FEEDER: Product = Product {
    name: "libmallacc_feeder.so",
    folder: false,
    variable: "MALLACC_FEEDER",
    installed: "lib/mallacc",
    checkout: None,
    remedy: BUILD,
};

/// The library that records a program's allocations.
pub const RECORDER: Product =
    Product { name: "libmallacc_recorder.so", variable: "MALLACC_RECORDER", ..FEEDER };

/// The program that replays allocations under the simulator.
pub const DRIVER: Product =
    Product { name: "mallacc-sma-driver", variable: "MALLACC_SMA_DRIVER", ..FEEDER };

/// The guest allocator, with markers.
pub const GUEST: Product = Product {
    name: "libmallacc_guest.so",
    folder: false,
    variable: "MALLACC_GUEST",
    installed: "lib/mallacc",
    checkout: Some("guest/build"),
    remedy: GUEST_BUILD,
};

/// The folder of the microbenchmarks' programs.
pub const MICRO: Product =
    Product { name: "micro", folder: true, variable: "MALLACC_MICRO", ..GUEST };

/// The folder of the workload files.
pub const WORKLOADS: Product = Product {
    name: "workloads",
    folder: true,
    variable: "MALLACC_WORKLOADS",
    installed: "share/mallacc",
    checkout: Some(""),
    remedy: "it is part of Mallacc's source tree, and `make install` copies it",
};

/// The variables of all products.
pub const VARIABLES: [&str; 6] = [
    FEEDER.variable,
    RECORDER.variable,
    DRIVER.variable,
    GUEST.variable,
    MICRO.variable,
    WORKLOADS.variable,
];

/// The guest allocator without markers has no variable of its own: it belongs to the one with them.
const PLAIN: Product = Product { name: "libmallacc_guest_plain.so", ..GUEST };

impl Product {
    /// Its absolute path: the guest may change its directory, and its `exec` needs it as well.
    pub fn find(&self) -> Result<PathBuf, LaunchError> {
        self.first(self.places(), if self.folder { Path::is_dir } else { Path::is_file })
    }

    /// The absolute path of a file in a product that is a folder.
    pub fn find_inside(&self, file: &str) -> Result<PathBuf, LaunchError> {
        let files = self.places().into_iter().map(|folder| folder.join(file));
        self.first(files.collect(), Path::is_file)
    }

    /// The paths that it can have, in the order of the search.
    pub fn places(&self) -> Vec<PathBuf> {
        match std::env::var_os(self.variable) {
            Some(path) => vec![path.into()],
            None => Surroundings::of_this_process().places(self),
        }
    }

    fn first(
        &self,
        candidates: Vec<PathBuf>,
        fits: impl Fn(&Path) -> bool,
    ) -> Result<PathBuf, LaunchError> {
        let mut real = candidates.iter().filter_map(|path| path.canonicalize().ok());
        real.find(|path| fits(path)).ok_or_else(|| {
            let file = candidates.first().and_then(|path| path.file_name());
            let places: Vec<_> = candidates.iter().map(|c| c.display().to_string()).collect();
            LaunchError::MissingPart {
                file: file.unwrap_or(self.name.as_ref()).to_string_lossy().into_owned(),
                places: places.join(", "),
                remedy: self.remedy,
                variable: self.variable,
            }
        })
    }
}

/// The guest allocator without markers, in the folder of the one with them.
pub fn plain_guest() -> Result<PathBuf, LaunchError> {
    PLAIN.first(vec![GUEST.find()?.with_file_name(PLAIN.name)], Path::is_file)
}

/// The source tree of this executable: the one it lies in, or else the one it was compiled in if
/// that is still there.
pub fn checkout() -> Option<PathBuf> {
    Surroundings::of_this_process().checkout()
}

/// What the places are derived from.
struct Surroundings {
    /// The executable.
    executable: PathBuf,
    /// The checkout that it was compiled in.
    compiled_in: PathBuf,
}

impl Surroundings {
    fn of_this_process() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let compiled_in = manifest.ancestors().nth(2).unwrap_or(manifest);
        let executable = std::env::current_exe().unwrap_or_default();
        Self { executable, compiled_in: compiled_in.to_owned() }
    }

    fn places(&self, product: &Product) -> Vec<PathBuf> {
        let mut places = Vec::new();
        if product.checkout.is_none() {
            places.extend(self.build_folder().map(|folder| folder.join(product.name)));
        }
        if let Some(prefix) = self.executable.parent().and_then(Path::parent) {
            places.push(prefix.join(product.installed).join(product.name));
        }
        if let (Some(folder), Some(root)) = (product.checkout, self.checkout()) {
            places.push(root.join(folder).join(product.name));
        }
        places
    }

    /// `target/PROFILE`: the executable's folder, or the one above for tests and examples.
    fn build_folder(&self) -> Option<&Path> {
        let folder = self.executable.parent()?;
        let deeper = folder.ends_with("deps") || folder.ends_with("examples");
        if deeper { folder.parent() } else { Some(folder) }
    }

    fn checkout(&self) -> Option<PathBuf> {
        let is_checkout =
            |root: &&Path| root.join("guest").is_dir() && root.join("crates").is_dir();
        // CHECKOUT/target/PROFILE, or CHECKOUT/target/TRIPLE/PROFILE.
        let above = self.build_folder().into_iter().flat_map(|f| f.ancestors().skip(2).take(2));
        let compiled_in = std::iter::once(self.compiled_in.as_path());
        above.chain(compiled_in).find(is_checkout).map(Path::to_path_buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with empty files.
    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn found(product: &Product, executable: PathBuf, compiled_in: &Path) -> Option<PathBuf> {
        let around = Surroundings { executable, compiled_in: compiled_in.to_owned() };
        product.first(around.places(product), Path::exists).ok()
    }

    const CHECKOUT: [&str; 2] = ["crates/launch/Cargo.toml", "guest/build/libmallacc_guest.so"];

    #[test]
    fn a_copied_checkout_uses_its_own_products_and_never_the_original_s() {
        let (original, copy) = (tree(&CHECKOUT), tree(&CHECKOUT));
        for folder in ["target/debug", "target/debug/deps", "target/x86_64-linux/release"] {
            let executable = copy.path().join(folder).join("mallacc");
            let guest = found(&GUEST, executable, original.path()).unwrap();
            assert_eq!(guest, copy.path().canonicalize().unwrap().join(CHECKOUT[1]), "{folder}");
        }
        fs::remove_file(copy.path().join(CHECKOUT[1])).unwrap();
        let executable = copy.path().join("target/debug/mallacc");
        assert_eq!(found(&GUEST, executable, original.path()), None, "not built in the copy");
    }

    #[test]
    fn an_executable_outside_of_a_checkout_uses_the_one_it_was_compiled_in() {
        let (original, elsewhere) = (tree(&CHECKOUT), tree(&["release/mallacc"]));
        let executable = elsewhere.path().join("release/mallacc");
        let guest = found(&GUEST, executable, original.path()).unwrap();
        assert_eq!(guest, original.path().canonicalize().unwrap().join(CHECKOUT[1]));
    }

    #[test]
    fn an_installation_comes_before_the_checkout_that_contains_it() {
        let installed =
            ["out/lib/mallacc/libmallacc_guest.so", "out/share/mallacc/workloads/x.toml"];
        let files = [CHECKOUT.as_slice(), &installed, &["workloads/x.toml"]].concat();
        let root = tree(&files);
        let path = root.path().canonicalize().unwrap();
        fs::create_dir(path.join("out/bin")).unwrap();
        let find = |product| found(product, path.join("out/bin/mallacc"), &path);
        assert_eq!(find(&GUEST), Some(path.join(installed[0])));
        assert_eq!(find(&WORKLOADS), Some(path.join("out/share/mallacc/workloads")));
    }

    #[test]
    fn cargo_s_products_lie_beside_the_executable_or_one_folder_above_a_test() {
        let root = tree(&["target/debug/libmallacc_feeder.so", "target/debug/deps/all"]);
        let path = root.path().canonicalize().unwrap();
        for executable in ["target/debug/mallacc", "target/debug/deps/all"] {
            let feeder = found(&FEEDER, path.join(executable), Path::new("/nowhere"));
            assert_eq!(feeder, Some(path.join("target/debug/libmallacc_feeder.so")));
        }
    }

    #[test]
    fn a_missing_product_says_where_it_was_looked_for_and_how_to_build_it() {
        let executable = PathBuf::from("/nowhere/target/debug/mallacc");
        let around = Surroundings { executable, compiled_in: tree(&CHECKOUT).keep() };
        let places = around.places(&MICRO).into_iter().map(|place| place.join("tp")).collect();
        let text = MICRO.first(places, Path::is_file).unwrap_err().to_string();
        let compiled_in = around.compiled_in.join("guest/build/micro/tp").display().to_string();
        let installed = "/nowhere/target/lib/mallacc/micro/tp";
        for word in ["tp: not found", installed, &compiled_in, "make guest", "MALLACC_MICRO"] {
            assert!(text.contains(word), "{text}");
        }
        fs::remove_dir_all(&around.compiled_in).unwrap();
    }
}
