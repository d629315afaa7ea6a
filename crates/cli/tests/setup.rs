//! `mallacc setup` on systems that lack something, with a build that takes no time.

use crate::common::system::{NINJA, Running, System, VERSION, real, serve, told, until};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const USAGE: i32 = 2;
const FAILED: i32 = 125;
const INTERRUPTED: i32 = 130;

/// What stays in the cache of a build that did not succeed.
const NOTHING: [&str; 2] = ["setup.lock", "setup.log"];

fn mentions(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "{word:?} is missing in: {text}");
    }
}

/// Runs a command that must fail; returns the sentence that it ends with.
fn refused(mut command: Command, code: i32) -> String {
    let (stdout, stderr, status) = told(&command.output().unwrap());
    assert_eq!((status, stdout.as_str()), (Some(code), ""), "{stderr}");
    let last = stderr.lines().last().unwrap_or_default();
    last.strip_prefix("mallacc: ").unwrap_or_else(|| panic!("whose? {stderr}")).to_owned()
}

/// How often something was built.
fn builds(system: &System) -> usize {
    let text = std::fs::read_to_string(system.bench.path("home/ninja")).unwrap_or_default();
    text.lines().count()
}

#[test]
fn a_build_is_done_once_and_then_found() {
    let Some(system) = System::new() else { return };
    let (stdout, stderr, status) = told(&system.setup(&["--jobs", "3"]).output().unwrap());
    assert_eq!(status, Some(0), "{stderr}");
    let program = system.cache().join(format!("qemu-{VERSION}/bin/qemu-x86_64"));
    mentions(&stdout, &[&program.display().to_string(), "is ready"]);
    mentions(&stderr, &["qemu-x86_64: not found", "unpacking", "configuring", "jobs: 3"]);
    let built = format!("qemu-{VERSION}");
    assert_eq!(system.cached(), [built.as_str(), "setup.lock", "setup.log"]);
    let jobs = std::fs::read_to_string(system.bench.path("home/ninja")).unwrap();
    assert_eq!(jobs, "-j 3 qemu-x86_64\n");

    let manifest = std::fs::read_to_string(system.cache().join(&built).join("manifest.json"));
    let manifest: serde_json::Value = serde_json::from_str(&manifest.unwrap()).unwrap();
    assert_eq!(manifest["sha256"], system.sum.as_str());
    assert_eq!((&manifest["qemu"], &manifest["compiler"]), (&VERSION.into(), &"cc 1".into()));

    let (stdout, stderr, status) = told(&system.setup(&[]).output().unwrap());
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    mentions(&stdout, &["nothing is to be done"]);
    let (stdout, ..) = told(&system.command(&["setup", "--path"]).output().unwrap());
    assert_eq!(stdout, format!("{}\n", program.display()));
    assert_eq!(builds(&system), 1);

    let (stdout, stderr, status) = told(&system.setup(&["--force"]).output().unwrap());
    assert_eq!(status, Some(0), "{stderr}");
    mentions(&stdout, &["is ready"]);
    assert_eq!((builds(&system), system.cached().len()), (2, 3), "it replaces the first");

    let mut beside = system.setup(&["--force"]);
    let (_, stderr, status) = told(&beside.env("MALLACC_QEMU", "sh").output().unwrap());
    assert_eq!((status, builds(&system)), (Some(0), 3), "{stderr}");
    mentions(&stderr, &["MALLACC_QEMU is set: runs use what it names"]);
}

#[test]
fn a_dry_run_says_everything_and_does_nothing() {
    let Some(system) = System::new() else { return };
    system.program("apt-get", "echo http://mirror.example/debian/");
    system.without("ninja");
    let (stdout, _, status) = told(&system.command(&["setup", "--dry-run"]).output().unwrap());
    assert_eq!(status, Some(0));
    let debian = "http://mirror.example/debian/pool/main/q/qemu/qemu_10.0.13+ds.orig.tar.xz";
    let result = system.cache().join("qemu-10.0.13/bin/qemu-x86_64").display().to_string();
    mentions(&stdout, &["qemu-x86_64: not found", "ninja-build", debian, "400 MB", &result]);
    assert!(!system.cache().exists());
}

#[test]
fn missing_packages_are_named_with_the_command_or_installed() {
    let Some(system) = System::new() else { return };
    system.without("ninja");
    system.without("pkg-config");
    let text = refused(system.setup(&[]), FAILED);
    mentions(&text, &["ninja", "GLib", "Debian's packages", "libglib2.0-dev zlib1g-dev"]);
    assert!(!text.contains("gcc"), "the compiler is there: {text}");

    // An apt that installs what is asked for, and a sudo for users who are not root.
    let body = format!(
        "echo \"$@\" >> \"$HOME/apt\"\ncase $1 in install) ;; *) exit 0;; esac\n\
         cd '{}'\nprintf '#!/bin/sh\\nexit 0\\n' > pkg-config\n\
         cat > ninja <<'NINJA'\n#!/bin/sh\n{NINJA}\nNINJA\nchmod +x ninja pkg-config",
        system.bench.path("bin").display()
    );
    system.program("apt-get", &body);
    system.program("sudo", "exec \"$@\"");
    mentions(&refused(system.setup(&[]), FAILED), &["apt-get install", "--install-packages"]);
    let (_, stderr, status) = told(&system.setup(&["--install-packages"]).output().unwrap());
    assert_eq!(status, Some(0), "{stderr}");
    let asked = std::fs::read_to_string(system.bench.path("home/apt")).unwrap();
    let packages = "ninja-build pkg-config libglib2.0-dev zlib1g-dev";
    mentions(&asked, &["update -q\n", &format!("--no-install-recommends {packages}\n")]);
}

#[test]
fn without_a_compiler_nothing_is_fetched() {
    let Some(system) = System::new() else { return };
    system.without("cc");
    let text = refused(system.setup(&[]), FAILED);
    mentions(&text, &["a C compiler (cc)", "gcc libc6-dev"]);
    system.program("cc", "exit 1");
    mentions(&refused(system.setup(&[]), FAILED), &["the C library's headers"]);
    assert!(!system.cache().exists());
}

#[test]
fn an_archive_with_another_sum_is_not_used() {
    let Some(system) = System::new() else { return };
    let archive = system.bench.path("qemu.tar.xz").display().to_string();
    let unknown = system.command(&["setup", "--archive", &archive]);
    let text = refused(unknown, USAGE);
    mentions(&text, &[&archive, &system.sum, "--sha256", "qemu_10.0.13+ds.orig.tar.xz"]);
    let other = "0".repeat(64);
    let wrong = system.command(&["setup", "--archive", &archive, "--sha256", &other]);
    mentions(&refused(wrong, FAILED), &[&archive, &system.sum, &other, "fetch it again"]);
    let missing = system.command(&["setup", "--archive", "/no/such/file"]);
    mentions(&refused(missing, FAILED), &["/no/such/file", "No such file"]);
    assert_eq!((system.cached(), builds(&system)), (NOTHING.map(String::from).to_vec(), 0));
}

#[test]
fn an_archive_of_something_else_is_refused() {
    let Some(system) = System::new() else { return };
    std::fs::create_dir_all(system.bench.path("other/qemu-9.9.9")).unwrap();
    std::fs::write(system.bench.path("other/qemu-9.9.9/README"), "").unwrap();
    let sum = system.pack("other.tar.xz", "other");
    let refuse = |sum: &str| {
        let archive = system.bench.path("other.tar.xz").display().to_string();
        refused(system.command(&["setup", "--archive", &archive, "--sha256", sum]), USAGE)
    };
    mentions(&refuse(&sum), &["other.tar.xz", "not a source archive of QEMU", "VERSION"]);
    std::fs::write(system.bench.path("other/qemu-9.9.9/VERSION"), "../../x\n").unwrap();
    let sum = system.pack("other.tar.xz", "other");
    mentions(&refuse(&sum), &["VERSION says", "../../x"]);
}

fn answer(status: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{head}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn every_place_is_tried_and_the_error_names_each() {
    let Some(system) = System::new() else { return };
    let damaged = serve(|_| answer("200 OK", "", b"something else"));
    let empty = serve(|_| answer("404 Not Found", "", b""));
    system.program("apt-get", &format!("echo {damaged}debian\necho {empty}debian/"));
    let text = refused(system.command(&["setup"]), FAILED);
    let file = "debian/pool/main/q/qemu/qemu_10.0.13+ds.orig.tar.xz";
    mentions(&text, &[&format!("{damaged}{file}: its SHA-256 is"), "expected 6a0888e8"]);
    mentions(&text, &[&format!("{empty}{file}: HTTP 404")]);
    mentions(&text, &["https://download.qemu.org/qemu-10.2.2.tar.xz", "--archive FILE", "proxy"]);
    assert_eq!(system.cached(), NOTHING);
}

#[test]
fn apt_s_proxy_is_asked_for_debian_s_mirrors() {
    let Some(system) = System::new() else { return };
    let proxy = serve(|head| {
        let asked = head.lines().next().unwrap_or_default();
        answer(
            if asked.contains("http://mirror.example/") { "410 Gone" } else { "500 No" },
            "",
            b"",
        )
    });
    system.program("apt-get", "echo http://mirror.example/debian/");
    system.program("apt-config", &format!("echo {proxy}"));
    mentions(&refused(system.command(&["setup"]), FAILED), &["HTTP 410"]);
}

#[test]
fn a_download_that_breaks_off_goes_on_where_it_was() {
    let Some(system) = System::new() else { return };
    let archive = std::fs::read(system.bench.path("qemu.tar.xz")).unwrap();
    let half = archive.len() / 2;
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let address = serve(move |head| match ASKED.fetch_add(1, Ordering::SeqCst) {
        // The whole is announced, half of it comes.
        0 => {
            let mut whole = answer("200 OK", "", &archive);
            whole.truncate(whole.len() - (archive.len() - half));
            whole
        }
        _ if head.contains(&format!("bytes={half}-")) => {
            answer("206 Partial Content", "", &archive[half..])
        }
        _ => answer("400 Bad Request", "", b""),
    });
    let address = format!("{address}qemu.tar.xz");
    let mut setup = system.command(&["setup", "--archive", &address, "--sha256", &system.sum]);
    let (_, stderr, status) = told(&setup.output().unwrap());
    assert_eq!((status, ASKED.load(Ordering::SeqCst)), (Some(0), 2), "{stderr}");
}

#[test]
fn a_step_that_fails_says_what_it_said_and_where_the_rest_is() {
    let Some(system) = System::new() else { return };
    system.program("ninja", "echo 'x.c:1: error: no such thing'; echo 'ninja: stopped'; exit 3");
    let text = refused(system.setup(&[]), FAILED);
    mentions(&text, &["building QEMU failed", "exit status: 3", "x.c:1: error: no such thing"]);
    let log = system.cache().join("setup.log");
    mentions(&text, &[&log.display().to_string()]);
    mentions(&std::fs::read_to_string(log).unwrap(), &["\nninja: stopped\n"]);
    assert_eq!(system.cached(), NOTHING);
    system.program("ninja", "exit 0");
    mentions(&refused(system.setup(&[]), FAILED), &["stripping", "built cannot be used"][1..]);
}

#[test]
fn an_archive_without_meson_needs_pypi() {
    let Some(system) = System::new() else { return };
    std::fs::remove_dir_all(system.bench.path("tree/qemu-9.9.9/python")).unwrap();
    let sum = system.pack("qemu.tar.xz", "tree");
    let venv = |pip: &str| {
        let body = format!(
            "case \"$*\" in *venv*) mkdir -p \"$3/bin\"; cat > \"$3/bin/python\" <<'END'\n\
             #!/bin/sh\n{pip}\nEND\nchmod +x \"$3/bin/python\";; esac"
        );
        system.program("python3", &body);
        let archive = system.bench.path("qemu.tar.xz").display().to_string();
        system.command(&["setup", "--archive", &archive, "--sha256", &sum])
    };
    let text = refused(venv("echo 'ERROR: nobody answers'; exit 1"), FAILED);
    mentions(&text, &["ERROR: nobody answers", "meson", "qemu-10.2.2.tar.xz", "setup.log"]);
    let list = "for last; do :; done; cp \"$last\" \"$HOME/list\"; echo \"$@\" > \"$HOME/pip\"";
    let (_, stderr, status) = told(&venv(list).output().unwrap());
    assert_eq!(status, Some(0), "{stderr}");
    let kept = |name: &str| std::fs::read_to_string(system.bench.path("home").join(name)).unwrap();
    mentions(&kept("pip"), &["--require-hashes", "--only-binary=:all:"]);
    mentions(&kept("list"), &["meson==", "pycotap==", "--hash=sha256:"]);
}

#[test]
fn a_full_disk_is_named_before_the_build_and_during_it() {
    let Some(system) = System::new() else { return };
    system.program("ninja", "echo 'x.o: No space left on device'; exit 1");
    let text = refused(system.setup(&[]), FAILED);
    mentions(&text, &["MB are free", "needs 400 MB", "XDG_CACHE_HOME"]);
    assert_eq!(system.cached(), NOTHING);

    // A file system of one megabyte, in a name space of its own.
    let small = system.bench.path("small");
    std::fs::create_dir(&small).unwrap();
    let setup = system.setup(&[]);
    let variables = || setup.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let unshared = |then: &str| {
        let mut command = Command::new(real("unshare"));
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("mount -t tmpfs -o size=1m none '{}' && {then}", small.display()));
        command.env_clear().envs(variables()).env("XDG_CACHE_HOME", &small);
        command
    };
    if !unshared("true").output().unwrap().status.success() {
        return skips::without("this user may not mount a small file system");
    }
    let words = std::iter::once(setup.get_program()).chain(setup.get_args());
    let words: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
    let text = refused(unshared(&words.join(" ")), FAILED);
    mentions(&text, &[&small.display().to_string(), "needs 400 MB"]);
    assert_eq!(builds(&system), 0);
}

#[test]
fn what_a_killed_build_left_is_removed_at_the_next_start() {
    let Some(system) = System::new() else { return };
    system.program("ninja", "echo '[1/2] waiting'; touch \"$HOME/begun\"; exec sleep 1000");
    let first = Running::start(system.setup(&[]));
    until("the build begins", || system.bench.path("home/begun").exists());
    first.signal(libc::SIGKILL);
    first.end();
    mentions(&system.cached().join(" "), &["building"]);
    system.program("ninja", NINJA);
    let (_, stderr, status) = told(&system.setup(&[]).output().unwrap());
    assert_eq!(status, Some(0), "{stderr}");
    mentions(&stderr, &["removing what a build left"]);
    assert!(!system.cached().contains(&"building".to_owned()));
}

#[test]
fn a_second_setup_waits_for_the_first_and_uses_its_result() {
    let Some(system) = System::new() else { return };
    let waits = "touch \"$HOME/begun\"; while ! [ -e \"$HOME/go\" ]; do sleep 0.01; done";
    system.program("ninja", &format!("{waits}\n{NINJA}"));
    let mut first = Running::start(system.setup(&[]));
    first.says("building QEMU");
    until("the build begins", || system.bench.path("home/begun").exists());
    let mut second = Running::start(system.setup(&[]));
    second.says("waiting for the build of another mallacc setup (process");
    std::fs::write(system.bench.path("home/go"), "").unwrap();
    let (one, ..) = first.end();
    let (other, stderr, status) = second.end();
    mentions(&one, &["is ready"]);
    mentions(&other, &["nothing is to be done"]);
    assert_eq!((status, builds(&system)), (Some(0), 1), "{stderr}");
}

#[test]
fn an_interrupted_build_leaves_no_process_and_no_qemu() {
    let Some(system) = System::new() else { return };
    // Ninja's jobs are in groups of their own; when it is asked to end, it ends them.
    let ninja = "trap 'kill $job; exit 130' TERM\nsleep 1000 & job=$!\n\
                 echo $job > \"$HOME/job\"; echo $$ > \"$HOME/self\"\nwait $job";
    system.program("ninja", ninja);
    let setup = Running::start(system.setup(&[]));
    let number = |name: &str| -> Option<i32> {
        std::fs::read_to_string(system.bench.path("home").join(name)).ok()?.trim().parse().ok()
    };
    until("the build begins", || number("self").is_some());
    setup.signal(libc::SIGINT);
    let (stdout, stderr, status) = setup.end();
    assert_eq!((status, stdout.as_str()), (Some(INTERRUPTED), ""), "{stderr}");
    mentions(&stderr, &["stopped; nothing was installed"]);
    for name in ["self", "job"] {
        let pid = number(name).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // It may wait for whoever collects orphans here.
        until("it ends", || state().is_empty() || state().contains(") Z "));
    }
    assert_eq!(system.cached(), NOTHING);
}

/// A program that says it is this QEMU.
fn claims(version: &str, help: &str) -> String {
    format!(
        "case $1 in --version) echo 'qemu-x86_64 version {version}';; --help) echo '{help}';; esac"
    )
}

#[test]
fn a_qemu_that_will_not_do_is_named_and_replaced() {
    for (version, help, why) in [
        ("12.0.0", "-plugin x", "versions before 12.0 serve the plugin's interface"),
        ("5.2.0", "-plugin x", "7.2 is the first with AVX2"),
        ("10.0.2", "-cpu x", "QEMU 10.0 was built without plugins"),
    ] {
        let Some(system) = System::new() else { return };
        system.program("qemu-x86_64", &claims(version, help));
        let (stdout, stderr, status) = told(&system.setup(&[]).output().unwrap());
        assert_eq!(status, Some(0), "{stderr}");
        let there = system.bench.path("bin/qemu-x86_64").display().to_string();
        mentions(stderr.lines().next().unwrap(), &[&there, why]);
        mentions(&stdout, &["QEMU 9.9 at", "is ready"]);
    }
    let Some(system) = System::new() else { return };
    system.program("qemu-x86_64", &claims("7.2.0", "-plugin x"));
    let (stdout, stderr, status) = told(&system.setup(&[]).output().unwrap());
    assert_eq!((status, stderr.as_str(), builds(&system)), (Some(0), "", 0));
    mentions(&stdout, &["QEMU 7.2 at", "nothing is to be done"]);
}

#[test]
fn a_variable_that_names_no_qemu_is_to_blame_and_not_built_around() {
    let Some(system) = System::new() else { return };
    system.program("other", "echo hello");
    for (value, why) in [
        ("/no/such/file", "not found"),
        ("other", "\"hello\" will not do"),
        ("sh", "\"nothing\" will not do"),
        ("/", "cannot be executed"),
    ] {
        for args in [&["setup"][..], &["setup", "--path"], &["setup", "--dry-run"]] {
            let mut command = system.command(args);
            command.env("MALLACC_QEMU", value);
            mentions(&refused(command, FAILED), &["MALLACC_QEMU: ", why, "unset MALLACC_QEMU"]);
        }
    }
    assert!(!system.cache().exists());
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let Some(system) = System::new() else { return };
    std::fs::write(system.bench.path("home/.cache"), "a file").unwrap();
    let folder = system.cache().display().to_string();
    mentions(&refused(system.setup(&[]), FAILED), &[&folder]);
    let mut command = system.setup(&[]);
    command.env_remove("HOME");
    mentions(&refused(command, FAILED), &["HOME", "XDG_CACHE_HOME"]);
}
