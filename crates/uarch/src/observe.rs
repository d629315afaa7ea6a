//! The uop observer gives access to the event times of every uop.

use decode::Uop;
use memory::{Flat, Mapping, Ranged, Scattered};

/// Execution times of a uop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Operands and entries were available: it could have issued.
    pub ready: u64,
    /// It left the reservation station.
    pub issued: u64,
    /// Its result was available.
    pub completed: u64,
    /// Its port, in the core family's own numbering, if it needed one.
    pub port: Option<u8>,
}

/// Sees each fused uop allocate and retire, and each uop execute, in program order. `()` observes
/// nothing and costs nothing.
pub trait Observer {
    /// How the observed core maps data addresses: [`Flat`], which costs nothing, except for
    /// measurements that need another mapping.
    type Mapping: Mapping;
    /// A fused uop: delivered by fetch and decode, then allocated.
    #[inline(always)]
    fn allocated(&mut self, _delivered: u64, _allocated: u64) {}
    /// The last allocated fused uop had to wait for a free entry: it was allocated only now.
    #[inline(always)]
    fn delayed(&mut self, _allocated: u64) {}
    /// A uop of the last allocated fused uop executed.
    #[inline(always)]
    fn executed(&mut self, _uop: &Uop, _times: Times) {}
    /// The last allocated fused uop retires.
    #[inline(always)]
    fn retired(&mut self, _cycle: u64) {}
}

impl Observer for () {
    type Mapping = Flat;
}

/// Observes nothing, on a machine with a device behind an address range.
pub struct WithDevice;

impl Observer for WithDevice {
    type Mapping = Ranged;
}

/// Observes nothing, on a machine whose pages lie where its seed puts them.
pub struct WithSeed;

impl Observer for WithSeed {
    type Mapping = Scattered;
}
