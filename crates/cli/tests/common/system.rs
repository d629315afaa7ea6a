//! A system of its own for a test of `mallacc setup`: a PATH with programs that only pretend, a
//! home, a source archive that builds in no time, and a server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Bench, have};

/// The version that the archive claims.
pub const VERSION: &str = "9.9.9";
/// Programs of the real system that the pretended ones and the build use.
const REAL: [&str; 14] = [
    "sh",
    "cat",
    "chmod",
    "cp",
    "env",
    "ls",
    "mkdir",
    "mount",
    "rm",
    "sha256sum",
    "sleep",
    "tar",
    "touch",
    "xz",
];
/// Nothing takes longer on any machine that works.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the pretended ninja does: two lines of progress, and a QEMU that takes plugins.
pub const NINJA: &str = r#"echo "$@" >> "$HOME/ninja"
echo '[1/2] Compiling a'; echo '[2/2] Linking qemu-x86_64'
cat > qemu-x86_64 <<'END'
#!/bin/sh
case $1 in
  --version) echo "qemu-x86_64 version 9.9.9";;
  --help) echo "-plugin [file=]<file>";;
  *) exec "$@";;
esac
END
chmod +x qemu-x86_64"#;

/// The system.
pub struct System {
    /// Its files.
    pub bench: Bench,
    /// The archive's SHA-256.
    pub sum: String,
}

impl System {
    /// A system on which everything is there but a QEMU. `None` if the real one lacks a program:
    /// the calling test is skipped.
    #[track_caller]
    pub fn new() -> Option<Self> {
        if !have("python3") || !have("xz") {
            return None;
        }
        let bench = Bench::new();
        for folder in ["bin", "home", "tree/qemu-9.9.9/python/wheels"] {
            std::fs::create_dir_all(bench.path(folder)).unwrap();
        }
        let mut system = Self { bench, sum: String::new() };
        for name in REAL {
            let real = real(name);
            std::os::unix::fs::symlink(real, system.bin(name)).unwrap();
        }
        // Only its standard library is used; whether venv is there is not what is tested.
        let python = format!(
            "case \"$*\" in *ensurepip*) exit 0;; esac\nexec '{}' \"$@\"",
            real("python3").display()
        );
        system.program("python3", &python);
        for name in ["strip", "pkg-config"] {
            system.program(name, "exit 0");
        }
        system.program("cc", "cat > /dev/null; echo 'cc 1'");
        system.program("ninja", NINJA);
        for (file, text) in [("VERSION", "9.9.9\n"), ("COPYING", "GPL\n")] {
            std::fs::write(system.bench.path("tree/qemu-9.9.9").join(file), text).unwrap();
        }
        std::fs::write(system.bench.path("tree/qemu-9.9.9/python/wheels/meson-1.whl"), "").unwrap();
        system.script(&system.bench.path("tree/qemu-9.9.9/configure"), "echo \"$@\" > options");
        system.sum = system.pack("qemu.tar.xz", "tree");
        Some(system)
    }

    /// Packs a folder into an archive; returns its sum.
    pub fn pack(&self, archive: &str, folder: &str) -> String {
        let mut tar = self.tool("tar");
        tar.arg("-cJf").arg(self.bench.path(archive)).arg("-C").arg(self.bench.path(folder));
        assert!(tar.arg("qemu-9.9.9").status().unwrap().success());
        let sum = self.tool("sha256sum").arg(self.bench.path(archive)).output().unwrap();
        String::from_utf8(sum.stdout).unwrap().split(' ').next().unwrap().to_owned()
    }

    fn tool(&self, name: &str) -> Command {
        Command::new(self.bin(name))
    }

    fn bin(&self, name: &str) -> PathBuf {
        self.bench.path("bin").join(name)
    }

    /// A pretended program on PATH.
    pub fn program(&self, name: &str, body: &str) {
        self.script(&self.bin(name), body);
    }

    /// Removes a program.
    pub fn without(&self, name: &str) {
        std::fs::remove_file(self.bin(name)).unwrap();
    }

    /// A shell writes it: while another test forks, its child would keep a file of this process
    /// open for writing, and nothing can execute it then.
    fn script(&self, file: &Path, body: &str) {
        let write = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod +x \"$1\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh"]).arg(file).arg(body);
        assert!(shell.status().unwrap().success());
    }

    /// The folder for what is built.
    pub fn cache(&self) -> PathBuf {
        self.bench.path("home").join(".cache/mallacc")
    }

    /// What is in it.
    pub fn cached(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.cache()).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command, on this system.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bench.command(args);
        command.env("PATH", self.bench.path("bin")).env("HOME", self.bench.path("home"));
        for name in ["XDG_CACHE_HOME", "MALLACC_QEMU", "http_proxy", "no_proxy", "NO_PROXY"] {
            command.env_remove(name);
        }
        // Nobody answers there: no test reaches the network.
        command.env("https_proxy", "http://127.0.0.1:9").env("HTTPS_PROXY", "http://127.0.0.1:9");
        command
    }

    /// `mallacc setup` with the archive, and these options.
    pub fn setup(&self, options: &[&str]) -> Command {
        let mut command = self.command(&["setup"]);
        command.arg("--archive").arg(self.bench.path("qemu.tar.xz")).arg("--sha256");
        command.arg(&self.sum).args(options);
        command
    }
}

/// Where a program of the real system is.
pub fn real(name: &str) -> PathBuf {
    if name == "python3" {
        // Wrappers choose among several; this is the one.
        let code = "import sys; print(sys.executable)";
        let output = Command::new(name).args(["-c", code]).output().unwrap();
        return String::from_utf8(output.stdout).unwrap().trim().into();
    }
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|f| f.is_file());
    found.unwrap_or_else(|| panic!("{name} is on PATH"))
}

/// What a command printed on stdout and stderr, and its status.
pub fn told(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// A command that is running.
pub struct Running {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Running {
    /// Starts a command.
    pub fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr, said: String::new() }
    }

    /// Waits for a line on stderr that contains this.
    pub fn says(&mut self, words: &str) {
        loop {
            let mut line = String::new();
            let length = self.stderr.read_line(&mut line).unwrap();
            self.said.push_str(&line);
            assert!(length > 0, "it ended without \"{words}\": {}", self.said);
            if line.contains(words) {
                return;
            }
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: kill(2) of a child that has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Waits for its end: stdout, stderr, status.
    pub fn end(mut self) -> (String, String, Option<i32>) {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        (stdout, self.said, self.child.wait().unwrap().code())
    }
}

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server: what it answers to the head of a request is written as it is, and then the connection
/// closes. Its address ends with a slash.
pub fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || reply(stream, &*answer));
        }
    });
    address
}

fn reply(mut stream: TcpStream, answer: &dyn Fn(&str) -> Vec<u8>) {
    let (mut head, mut reader) = (String::new(), BufReader::new(stream.try_clone().unwrap()));
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).is_ok_and(|length| length == 0) {
            break;
        }
    }
    let _ = stream.write_all(&answer(&head));
}
