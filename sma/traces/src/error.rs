//! Errors in a trace.

/// Each message says what, the value, the rule and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system reported an error.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's reason.
        #[source]
        source: std::io::Error,
    },
    /// Not a trace.
    #[error(
        "{path}: begins with {found:02x?}, an allocation trace with \"AMTRACE1\"; record one with \
         `mallacc record-mallocs -o FILE -- PROG`"
    )]
    NotATrace {
        /// The file.
        path: String,
        /// Its first bytes.
        found: Vec<u8>,
    },
    /// The file contradicts itself.
    #[error("{path}: byte {at}: {what}; the file is damaged, record it again")]
    Damaged {
        /// The file.
        path: String,
        /// The position.
        at: u64,
        /// What is wrong, with the value and the rule.
        what: String,
    },
    /// The end is missing.
    #[error(
        "{path}: ends after {events} events without its end mark: it was cut short; use what is \
         there with --allow-truncated, or record it again"
    )]
    Truncated {
        /// The file.
        path: String,
        /// Events in whole blocks.
        events: u64,
    },
}
