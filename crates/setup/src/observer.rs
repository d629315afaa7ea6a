//! The caller's side of a setup: it is told what happens, and may request an end.

/// What a setup reports while it runs, and what it asks.
pub trait Observer {
    /// It begins one of its parts.
    fn step(&self, text: &str);

    /// How far the current part has come.
    fn progress(&self, progress: Progress);

    /// Whether an end has been requested.
    fn stopped(&self) -> bool;
}

/// How far a part has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How much is done.
    pub done: u64,
    /// How much there is, if that is known.
    pub total: Option<u64>,
    /// What is counted.
    pub unit: Unit,
}

/// What a progress counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of a download.
    Bytes,
    /// Steps of a build.
    Steps,
}
