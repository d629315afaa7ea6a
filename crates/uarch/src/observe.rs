//! The uop observer: every uop has its event times, and this is where they can be read.

use decode::Uop;
use memory::{Flat, Mapping, Ranged};

/// Execution times of a uop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Operands and entries were there: it could have issued.
    pub ready: u64,
    /// It left the reservation station.
    pub issued: u64,
    /// Its result was there.
    pub completed: u64,
    /// Number of its port, in the core family's own counting, if it needed one.
    pub port: Option<u8>,
}

/// Sees each fused uop allocate and retire, and each uop execute, in program order.
/// `()` watches nothing and costs nothing.
pub trait Observer {
    /// What data addresses mean to the watched core: [`Flat`], which costs nothing, but for
    /// measurements that need another.
    type Mapping: Mapping;
    /// A fused uop: delivered by fetch and decode, then allocated.
    #[inline(always)]
    fn allocated(&mut self, _delivered: u64, _allocated: u64) {}
    /// The fused uop allocated last had to wait for a free entry: it was allocated now.
    #[inline(always)]
    fn delayed(&mut self, _allocated: u64) {}
    /// A uop of the fused uop allocated last.
    #[inline(always)]
    fn executed(&mut self, _uop: &Uop, _times: Times) {}
    /// The fused uop allocated last retires.
    #[inline(always)]
    fn retired(&mut self, _cycle: u64) {}
}

impl Observer for () {
    type Mapping = Flat;
}

/// Watches nothing, on a machine with a device behind an address range.
pub struct WithDevice;

impl Observer for WithDevice {
    type Mapping = Ranged;
}
