//! The consumer's end of the ring.

use super::layout::{BUFFER_WORDS, BUFFERS, BufferKind, ring_state};
use super::map::{Backing, Map, create};
use super::wire::{self, Definition};
use crate::event::{Control, EXIT_SIGNALLED, control};
use crate::{Packet, Source, StreamError};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

/// How long to sleep for the next buffer before checking that the producer is alive.
const PATIENCE: Duration = Duration::from_millis(50);

/// State of the traced process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is running.
    Running,
    /// It ended with this exit code.
    Exited(i32),
    /// This signal killed it.
    Killed(i32),
    /// It is gone for an unknown reason.
    Unknown,
}

/// Returns the state of the traced process; called only while nothing arrives.
pub type Watch = Box<dyn FnMut() -> Fate + Send>;

/// Figures about a live run that are not part of its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Images: 1, plus one for each exec that was followed.
    pub images: u32,
    /// Words at `next` of prefetch markers that could not be read (0 was delivered).
    pub unreadable: u64,
    /// Carriers that lack their operand stores.
    pub broken_markers: u64,
}

/// A ring that waits for its producer.
pub struct LiveRing {
    map: Arc<Map>,
    backing: Backing,
}

impl LiveRing {
    /// Creates a ring.
    pub fn create() -> Result<Self, StreamError> {
        let (map, backing) = create()?;
        Ok(Self { map: Arc::new(map), backing })
    }

    /// The path to pass to the plugin.
    pub fn path(&self) -> &Path {
        self.backing.path()
    }

    /// Makes the plugin hide when files were last read. For deterministic runs; call before the
    /// start.
    pub fn hide_access_times(&self) {
        self.map.ring().head.hide_access_times.store(1, Relaxed);
    }

    /// A handle that ends the run from any thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { map: Arc::clone(&self.map) }
    }

    /// The stream of the process that `watch` observes.
    pub fn into_source(self, watch: Watch) -> LiveSource {
        LiveSource {
            map: self.map,
            _backing: self.backing,
            watch,
            salvaged: VecDeque::new(),
            end: End::Open,
            last_thread: 0,
            next_block: 0,
        }
    }
}

/// Ends a live run from another thread: the guest continues without being traced.
#[derive(Clone)]
pub struct Stopper {
    map: Arc<Map>,
}

impl Stopper {
    /// Tells the feeder to stop, which ends the source.
    pub fn detach(&self) {
        let head = &self.map.ring().head;
        head.detach.store(1, Relaxed);
        head.full.nudge();
        head.free.nudge();
    }

    /// Whether the run was detached, by the consumer or because the guest damaged the ring.
    pub fn is_detached(&self) -> bool {
        self.map.ring().head.detach.load(Relaxed) != 0
    }
}

/// Progress towards the end of the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// The producer died; its last buffers are read first, then this event is delivered.
    Dying(Fate),
    Over,
}

/// The stream of a running program.
pub struct LiveSource {
    map: Arc<Map>,
    _backing: Backing,
    watch: Watch,
    salvaged: VecDeque<u32>,
    end: End,
    last_thread: u32,
    next_block: u32,
}

impl LiveSource {
    /// A handle that ends the run from any thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { map: Arc::clone(&self.map) }
    }

    /// Figures so far.
    pub fn counts(&self) -> LiveCounts {
        let head = &self.map.ring().head;
        LiveCounts {
            images: head.images.load(Relaxed),
            unreadable: head.unreadable.load(Relaxed),
            broken_markers: head.broken_markers.load(Relaxed),
        }
    }

    /// The next full buffer; `None` at the end.
    fn take(&mut self) -> Result<Option<u32>, StreamError> {
        let map = Arc::clone(&self.map);
        let head = &map.ring().head;
        loop {
            if head.detach.load(Relaxed) != 0 {
                return Ok(None);
            }
            // Must be read before the queue: everything that was put before it is then visible.
            let finished = head.state.load(Acquire) == ring_state::FINISHED;
            if let Some(buffer) = head.full.take() {
                return Ok(Some(buffer));
            }
            if let End::Dying(_) = self.end {
                return Ok(self.salvaged.pop_front());
            }
            if finished {
                return Ok(None);
            }
            head.full.sleep(PATIENCE);
            if head.full.put.load(Acquire) != head.full.taken.load(Relaxed) {
                continue;
            }
            let fate = (self.watch)();
            if fate != Fate::Running && head.state.load(Acquire) != ring_state::FINISHED {
                if head.images.load(Acquire) == 0 {
                    return Err(StreamError::Feeder(never_attached(fate)));
                }
                self.salvaged = map.orphans().into();
                self.end = End::Dying(fate);
            }
        }
    }

    /// Copies buffer `index` into `packet` and returns it to the producer; returns whether events
    /// came.
    fn read(&mut self, index: u32, packet: &mut Packet) -> Result<bool, StreamError> {
        if index as usize >= BUFFERS {
            return Err(damaged("a buffer number out of range"));
        }
        let buffer = self.map.buffer(index as usize);
        // SAFETY: the queue handed the buffer to us, so the producer does not touch it. The guest
        // could damage this shared memory, so every number is checked.
        let (kind, thread, len, words) = unsafe {
            let head = &(*buffer).head;
            (head.kind, head.thread, head.len as usize, &(*buffer).words)
        };
        let mut events = false;
        if kind == BufferKind::Events as u32 {
            let words = words.get(..len).ok_or_else(|| damaged("a buffer too long"))?;
            packet.thread = thread;
            packet.events.extend_from_slice(words);
            events = len > 0;
        } else {
            if len > BUFFER_WORDS * 8 {
                return Err(damaged("a buffer too long"));
            }
            // SAFETY: within the buffer; any bytes are valid `u8`.
            let mut bytes =
                unsafe { std::slice::from_raw_parts((&raw const *words).cast::<u8>(), len) };
            while !bytes.is_empty() {
                let block = match wire::decode(&mut bytes).ok_or_else(|| damaged("a block"))? {
                    Definition::Block(block) => block,
                    Definition::Object(object) => {
                        packet.objects.push(object);
                        continue;
                    }
                };
                if block.id != self.next_block {
                    return Err(damaged("a block's number"));
                }
                self.next_block += 1;
                packet.blocks.push(block);
            }
        }
        self.map.ring().head.free.put(index);
        Ok(events)
    }
}

impl Source for LiveSource {
    fn next(&mut self, packet: &mut Packet) -> Result<bool, StreamError> {
        packet.clear();
        if self.end == End::Over {
            return Ok(false);
        }
        while let Some(buffer) = self.take()? {
            if self.read(buffer, packet)? {
                self.last_thread = packet.thread;
                return Ok(true);
            }
        }
        let end = std::mem::replace(&mut self.end, End::Over);
        let payload = match end {
            End::Dying(Fate::Exited(code)) => code as u64 & 0xff,
            End::Dying(Fate::Killed(signal)) => EXIT_SIGNALLED | signal as u64,
            _ => return Ok(false),
        };
        packet.thread = self.last_thread;
        packet.events.push(control(Control::Exit, 0, payload));
        Ok(true)
    }
}

impl Drop for LiveSource {
    fn drop(&mut self) {
        // Without a reader, the guest must not wait for one.
        self.stopper().detach();
    }
}

fn damaged(what: &str) -> StreamError {
    StreamError::Feeder(format!(
        "the ring holds {what}; the program overwrote memory that it does not own"
    ))
}

fn never_attached(fate: Fate) -> String {
    let how = match fate {
        Fate::Exited(code) => format!("exit code {code}"),
        Fate::Killed(signal) => format!("killed by signal {signal}"),
        Fate::Running | Fate::Unknown => "no exit code".to_owned(),
    };
    format!("QEMU ended before the plugin was loaded ({how}); its own message says why")
}
