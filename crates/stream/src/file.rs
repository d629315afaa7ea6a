//! The file format, `.mtrace`: packets, compressed, checksummed and counted.
//!
//! ```text
//! magic, version, header (program, arguments, parameters), checksum
//! frame 0   number, lengths, checksums │ packets, modelled and compressed
//! …
//! end mark  totals, checksum
//! ```
//! A recording that was cut short lacks its end mark. It is refused unless the reader was told to
//! accept what is intact. See `docs/stream.md`.

mod bytes;
mod decode;
mod encode;
mod format;
mod model;
mod reader;
mod writer;

pub use format::{Header, Totals, VERSION};
pub use reader::FileSource;
pub use writer::RecordingWriter;

#[cfg(test)]
mod tests;
