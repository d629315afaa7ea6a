//! Where an access hit and when its data is ready.

/// Where the data of an access was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// In the first-level cache, ready.
    L1,
    /// In a fill buffer: the line was already on its way into the first level.
    FillBuffer,
    /// In a level beyond the first.
    Outer(Depth),
    /// In memory.
    Dram,
}

/// A level beyond the first, by its index in [`crate::MemoryParams::level`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Depth {
    /// The level next to the first-level caches.
    First,
    /// The level behind that.
    Second,
    /// The third.
    Third,
    /// The fourth and last.
    Fourth,
}

impl Depth {
    /// All levels, innermost first.
    pub const ALL: [Self; 4] = [Self::First, Self::Second, Self::Third, Self::Fourth];

    /// The level at an index of the list; the fourth for every index beyond it.
    pub(crate) fn of(place: usize) -> Self {
        Self::ALL.get(place).copied().unwrap_or(Self::Fourth)
    }
}

/// Where the translation of an access was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TlbLevel {
    /// In the first-level TLB (ITLB or DTLB).
    L1,
    /// Already on its way into the first-level TLB, requested by an earlier access.
    OnItsWay,
    /// In the second-level TLB.
    Stlb,
    /// In the page tables.
    Walk,
}

/// The answer to one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The cycle at which the data can be used; see the method that returned it.
    pub ready: u64,
    /// Where the data was found; for a split access, the farther of the two halves.
    pub level: Level,
    /// Where the translation was found.
    pub tlb: TlbLevel,
    /// The first touch of a page: the operating system has to provide it first. `ready` does not
    /// include that time; the core adds [`crate::PageFaultParams::cycles`] where it takes the
    /// exception.
    pub page_fault: bool,
}

impl Access {
    /// Combines the two halves of a split access: the later time and the farther level.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            ready: self.ready.max(other.ready),
            level: self.level.max(other.level),
            tlb: self.tlb.max(other.tlb),
            page_fault: self.page_fault | other.page_fault,
        }
    }
}
