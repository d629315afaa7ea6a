//! The setup from its beginning to its end, and what it would do.

use crate::archive::{self, Named};
use crate::cache::Cache;
use crate::error::{SetupError, io_error, parts};
use crate::observer::Observer;
use crate::space::{MB, NEEDED};
use crate::{build, install, manifest, needs, sources};
use launch::{LaunchError, Qemu, qemu};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// What to do.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The archive to build from, instead of the known ones.
    pub archive: Option<String>,
    /// What its sum must be, if it is none of the known ones.
    pub sha256: Option<String>,
    /// Build even if there is a QEMU that will do.
    pub force: bool,
    /// Install the packages that are missing.
    pub install_packages: bool,
    /// Parallel jobs of the build.
    pub jobs: usize,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There was nothing to do.
    Ready(Qemu),
    /// This one was built.
    Built(Qemu),
}

impl Request {
    fn named(&self) -> Option<Named> {
        let what = self.archive.clone()?;
        Some(Named { what, sha256: self.sha256.clone() })
    }

    /// The QEMU that makes a build needless, or why there is none.
    fn found(&self) -> Result<Result<Qemu, Reason>, SetupError> {
        match Qemu::find() {
            Ok(found) if !self.force => Ok(Ok(found)),
            Ok(_) => Ok(Err(Reason::Forced)),
            Err(_) if self.force => Ok(Err(Reason::Forced)),
            Err(error) => match blamed(error) {
                SetupError::Launch(error) => Ok(Err(Reason::None(error))),
                other => Err(other),
            },
        }
    }
}

/// The QEMU that runs use.
pub fn found() -> Result<Qemu, SetupError> {
    Qemu::find().map_err(blamed)
}

/// Why there is none: because of the variable, if it is set.
fn blamed(source: LaunchError) -> SetupError {
    match std::env::var_os(qemu::VARIABLE) {
        Some(_) => {
            let reason = parts(&source.to_string()).0.to_owned();
            SetupError::Variable { variable: qemu::VARIABLE, reason }
        }
        None => SetupError::Launch(source),
    }
}

/// Why something is built.
enum Reason {
    Forced,
    None(LaunchError),
}

impl Reason {
    /// In words.
    fn text(&self) -> String {
        match self {
            Self::Forced => "building one, whatever is there".to_owned(),
            Self::None(error) => parts(&error.to_string()).0.to_owned(),
        }
    }
}

/// Builds a QEMU if there is none that will do.
pub fn run(request: &Request, observer: &dyn Observer) -> Result<Outcome, SetupError> {
    let reason = match request.found()? {
        Ok(found) => return Ok(Outcome::Ready(found)),
        Err(reason) => reason,
    };
    observer.step(&reason.text());
    if std::env::var_os(qemu::VARIABLE).is_some() {
        observer
            .step(&format!("{0} is set: runs use what it names until it is unset", qemu::VARIABLE));
    }
    let folder = qemu::cache().ok_or(SetupError::NoHome)?;
    have_needs(request, observer)?;
    let cache = Cache::open(&folder, observer)?;
    // Whoever built meanwhile built for us as well.
    if let Ok(found) = request.found()? {
        return Ok(Outcome::Ready(found));
    }
    cache.has_space()?;
    let mut log = cache.log()?;
    let archive = archive::get(request.named().as_ref(), &cache, &mut log, observer)?;
    let tree = archive::unpack(&archive, &cache, &mut log, observer)?;
    let jobs = request.jobs.max(1);
    let program = build::build(&tree, cache.building(), jobs, &mut log, observer)?;
    let tried = build::tried(&program);
    tried.map_err(|reason| SetupError::Unusable { reason, log: log.shown() })?;

    let finished = cache.building().join("finished");
    let bin = finished.join("bin");
    fs::create_dir_all(&bin).map_err(io_error("cannot make", &bin))?;
    let place = bin.join(qemu::NAME);
    fs::rename(&program, &place).map_err(io_error("cannot write", &place))?;
    let text = manifest::text(&archive, &tree.version);
    let file = finished.join(manifest::FILE);
    fs::write(&file, text).map_err(io_error("cannot write", &file))?;
    // QEMU's licence asks to go with it.
    let _ = fs::copy(tree.folder.join("COPYING"), finished.join("COPYING"));
    if observer.stopped() {
        return Err(SetupError::Stopped);
    }
    cache.finish(&finished, &format!("{}{}", qemu::BUILD, tree.version))?;
    let built = qemu::build_in(&folder, &tree.version);
    let found = Qemu::inspect(&built);
    let unusable =
        |e: LaunchError| SetupError::Unusable { reason: e.to_string(), log: log.shown() };
    found.map(Outcome::Built).map_err(unusable)
}

/// An error that names what the build needs and lacks; or installs it.
fn have_needs(request: &Request, observer: &dyn Observer) -> Result<(), SetupError> {
    let missing = needs::missing();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = needs::packages(&missing);
    if request.install_packages {
        observer.step(&format!("installing {}", packages.join(" ")));
        install::install(&packages)?;
    }
    let missing = needs::missing();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = needs::packages(&missing);
    let what = missing.iter().map(|need| need.what).collect::<Vec<_>>().join("; ");
    let remedy = match (request.install_packages, install::possible()) {
        (true, _) => format!("the packages {} did not bring it", packages.join(" ")),
        (false, true) => {
            format!("run `{}`, or give --install-packages", install::command(&packages))
        }
        (false, false) => format!("Debian's packages for it are {}", packages.join(" ")),
    };
    Err(SetupError::Needs { what, remedy })
}

/// What [`run`] would do, a line for each step.
pub fn plan(request: &Request) -> Result<String, SetupError> {
    let reason = match request.found()? {
        Ok(found) => {
            return Ok(format!("{found} will do; nothing is to be done\n"));
        }
        Err(reason) => reason,
    };
    let mut text = format!("{}\n", reason.text());
    let folder = qemu::cache().ok_or(SetupError::NoHome)?;
    let missing = needs::missing();
    let packages = needs::packages(&missing);
    if packages.is_empty() {
        text += "packages: everything that the build needs is there\n";
    } else if request.install_packages {
        let _ = writeln!(text, "packages: {}", install::command(&packages));
    } else {
        let how = "install them first, or give --install-packages";
        let _ = writeln!(text, "packages: {} are missing; {how}", packages.join(" "));
    }
    match &request.archive {
        Some(what) => {
            let _ = writeln!(text, "archive:  {what}");
        }
        None => {
            let all: Vec<String> = sources::PINNED.iter().flat_map(|s| s.addresses()).collect();
            let _ = writeln!(text, "archive:  the first that is there of\n  {}", all.join("\n  "));
        }
    }
    let (needed, jobs, place) = (NEEDED / MB, request.jobs.max(1), folder.display());
    let _ = writeln!(text, "build:    in {place}, where it takes {needed} MB; jobs: {jobs}");
    let version = match &request.archive {
        Some(_) => "VERSION".to_owned(),
        None => sources::PINNED[0].version.to_owned(),
    };
    let result: PathBuf = qemu::build_in(&folder, &version);
    let _ = writeln!(text, "result:   {}", result.display());
    Ok(text)
}
