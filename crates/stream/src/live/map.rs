//! The shared memory: created by the consumer, opened by the producer through a path.

use super::layout::{BUFFERS, Buffer, BufferKind, RING_MAGIC, RING_VERSION, Ring, buffer_state};
use crate::StreamError;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// Length of every ring's path in bytes. The path is part of the guest's environment, whose length
/// determines the stack's position, so it must not depend on a process number.
pub const PATH_LEN: usize = 40;

/// A mapped ring.
pub struct Map {
    ring: NonNull<Ring>,
}

// SAFETY: everything that both sides touch is atomic, and only the side that owns a buffer touches
// it. The queues transfer ownership with release and acquire.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    fn of(file: &File, path: &Path) -> Result<Self, StreamError> {
        // SAFETY: a fresh shared mapping of a file of at least that length.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Ring>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(at.cast::<Ring>()) {
            Some(ring) if at != libc::MAP_FAILED => Ok(Self { ring }),
            _ => Err(io_error("cannot map the live ring", path)),
        }
    }

    /// The producer's view of the ring at `path`. No file descriptor stays open.
    pub fn open(path: &Path) -> Result<Self, StreamError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|source| io("cannot open the live ring", path, source))?;
        let length = file.metadata().map_err(|e| io("cannot read the live ring", path, e))?.len();
        if length < size_of::<Ring>() as u64 {
            return Err(StreamError::Feeder(format!("{} is not a live ring", path.display())));
        }
        let map = Self::of(&file, path)?;
        let head = &map.ring().head;
        let (magic, version) = (head.magic.load(Relaxed), head.version.load(Relaxed));
        if magic != RING_MAGIC || version != RING_VERSION {
            return Err(StreamError::Feeder(format!(
                "the live ring has version {version}, the plugin knows {RING_VERSION}; \
                 build the program and the plugin together with: make"
            )));
        }
        Ok(map)
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        // SAFETY: mapped for as long as `self` lives, page aligned, and any bytes are a valid ring.
        unsafe { self.ring.as_ref() }
    }

    /// Buffer `index`, which the caller must own before reading or writing through the pointer.
    pub fn buffer(&self, index: usize) -> *mut Buffer {
        assert!(index < BUFFERS, "buffer {index} of {BUFFERS}");
        // SAFETY: in bounds; no reference is made.
        unsafe { (&raw mut (*self.ring.as_ptr()).buffers[index]).cast() }
    }

    /// The index of `buffer` if it belongs to this ring.
    pub fn index_of(&self, buffer: *const Buffer) -> Option<usize> {
        let first = self.buffer(0) as usize;
        let index = (buffer as usize).checked_sub(first)? / size_of::<Buffer>();
        (index < BUFFERS).then_some(index)
    }

    /// Buffers that a producer was filling when it ended: block definitions first, then by thread.
    ///
    /// Their length is derived from the cursor. Call this only when that producer is gone.
    pub fn orphans(&self) -> Vec<u32> {
        let mut found = Vec::new();
        for index in 0..BUFFERS {
            let buffer = self.buffer(index);
            // SAFETY: the producer is gone, so nobody writes the buffer.
            let head = unsafe { &mut (*buffer).head };
            if head.state.load(Relaxed) == buffer_state::ACTIVE {
                let bytes = (head.cursor as usize).saturating_sub(head.base as usize);
                if head.kind == BufferKind::Events as u32 {
                    head.len = (bytes / 8) as u32;
                }
                head.state.store(buffer_state::IDLE, Release);
                found.push((head.kind != BufferKind::Blocks as u32, head.thread, index as u32));
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(_, _, index)| index).collect()
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped in `of` with this length; no pointer outlives its owner.
        unsafe {
            libc::munmap(self.ring.as_ptr().cast(), size_of::<Ring>());
        }
    }
}

/// The file behind a ring, which exists as long as this value.
pub struct Backing {
    _file: File,
    path: PathBuf,
    named: bool,
}

impl Backing {
    /// The path for the producer: always [`PATH_LEN`] bytes.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if self.named {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates an empty ring. Uses memory without a name if another process can open it through
/// `/proc`, so that nothing is left behind however the run ends; otherwise uses a file.
pub fn create() -> Result<(Map, Backing), StreamError> {
    let (file, path, named) = match anonymous() {
        Some((file, path)) => (file, path, false),
        None => {
            let (file, path) = in_file()?;
            (file, path, true)
        }
    };
    let backing = Backing { _file: file, path, named };
    backing
        ._file
        .set_len(size_of::<Ring>() as u64)
        .map_err(|e| io("cannot make the live ring", &backing.path, e))?;
    let map = Map::of(&backing._file, &backing.path)?;
    let head = &map.ring().head;
    head.consumer_pid.store(std::process::id(), Relaxed);
    head.version.store(RING_VERSION, Relaxed);
    for buffer in 0..BUFFERS as u32 {
        head.free.put(buffer);
    }
    head.magic.store(RING_MAGIC, Release);
    Ok((map, backing))
}

/// Memory without a name. Its path goes through this process in `/proc`, padded with slashes, which
/// count as one.
fn anonymous() -> Option<(File, PathBuf)> {
    let name = CString::new("mallacc").ok()?;
    // SAFETY: a valid name and flag.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return None;
    }
    // SAFETY: a fresh descriptor that nothing else owns.
    let file = unsafe { File::from_raw_fd(fd) };
    let tail = format!("{}/fd/{fd}", std::process::id());
    let path = PathBuf::from(padded("/proc", &tail)?);
    OpenOptions::new().read(true).write(true).open(&path).ok()?;
    Some((file, path))
}

/// A file in `/dev/shm` or, if there is none, in the directory for temporary files.
fn in_file() -> Result<(File, PathBuf), StreamError> {
    let mut last = None;
    for dir in [PathBuf::from("/dev/shm"), std::env::temp_dir()] {
        for attempt in 0..100 {
            let tail = format!("mallacc-{}-{attempt}", std::process::id());
            let Some(path) = dir.to_str().and_then(|d| padded(d, &tail)) else {
                continue;
            };
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            match options.open(&path) {
                Ok(file) => return Ok((file, PathBuf::from(path))),
                Err(e) => last = Some(io("cannot make the live ring", Path::new(&path), e)),
            }
        }
    }
    Err(last.unwrap_or_else(|| {
        StreamError::Feeder(format!(
            "no room for the live ring's path: /dev/shm is missing and {} is longer than {} bytes",
            std::env::temp_dir().display(),
            PATH_LEN - 24
        ))
    }))
}

/// `dir/tail` with slashes in between up to [`PATH_LEN`] bytes.
fn padded(dir: &str, tail: &str) -> Option<String> {
    let slashes = PATH_LEN.checked_sub(dir.len() + tail.len()).filter(|&n| n > 0)?;
    Some(format!("{dir}{}{tail}", "/".repeat(slashes)))
}

fn io(what: &'static str, path: &Path, source: io::Error) -> StreamError {
    StreamError::Io { what, path: path.display().to_string(), source }
}

fn io_error(what: &'static str, path: &Path) -> StreamError {
    io(what, path, io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_opens_and_its_length_does_not_depend_on_process_numbers() {
        let (_map, backing) = create().unwrap();
        assert_eq!(backing.path().as_os_str().len(), PATH_LEN);
        Map::open(backing.path()).unwrap();
        for tail in ["1/fd/3", "4194304/fd/1000"] {
            assert_eq!(padded("/proc", tail).unwrap().len(), PATH_LEN);
        }
    }

    #[test]
    fn a_file_in_shared_memory_serves_as_well() {
        let (file, path) = in_file().unwrap();
        let backing = Backing { _file: file, path: path.clone(), named: true };
        assert_eq!(path.as_os_str().len(), PATH_LEN);
        assert!(path.exists());
        drop(backing);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_a_ring_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(matches!(Map::open(file.path()), Err(StreamError::Feeder(_))));
        file.as_file().set_len(size_of::<Ring>() as u64).unwrap();
        assert!(matches!(Map::open(file.path()), Err(StreamError::Feeder(_))));
    }
}
