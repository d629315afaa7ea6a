//! The declared parameters; the defaults are an i7-4770 (Haswell) with two channels of DDR3-1600.
//!
//! Sources: "manual" is Intel's Optimization Reference Manual, chapter 2, Haswell (tables of
//! cache and TLB parameters, description of the hardware prefetchers); "measured" is the random
//! and linear pointer chase on an i7-4770 (random: L1 4, L2 12, LLC 39-43, DRAM about 245
//! cycles; linear by 64 bytes about 20).

use params::params;

params! {
    /// First-level instruction cache.
    pub struct L1iParams {
        /// Capacity (manual).
        size: u64 = 32 << 10, "B";
        /// Ways of a set (manual).
        assoc: u32 = 8, "";
        /// From the fetch of a line to its bytes on a hit; the data cache's latency, since the
        /// manual gives none. The core's pipeline includes it, so only what a miss adds matters.
        latency: u64 = 4, "cycles";
        /// Lines in flight at once; not published, as many as in the data cache.
        fill_buffers: u32 = 10, "";
        /// Replacement policy: `lru` or `srrip`. Not published; exact LRU stands in.
        replacement: String = "lru".into(), "";
        /// Prefetchers, in the order in which they see its misses. `next_line_code` stands for a
        /// fetch address that runs ahead of decode.
        prefetchers: Vec<String> = vec!["next_line_code".into()], "";
    }
}

params! {
    /// First-level data cache.
    pub struct L1dParams {
        /// Capacity (manual).
        size: u64 = 32 << 10, "B";
        /// Ways of a set (manual).
        assoc: u32 = 8, "";
        /// Load-to-use of an integer load with a simple address (manual, measured).
        latency: u64 = 4, "cycles";
        /// Line fill buffers: lines in flight at once (manual).
        fill_buffers: u32 = 10, "";
        /// Replacement policy: `lru` or `srrip`. Not published; exact LRU stands in.
        replacement: String = "lru".into(), "";
        /// Prefetchers, which see its loads: the manual's "IP-based stride prefetcher" and "DCU
        /// prefetcher". These two come before any other, whatever the order of the list.
        prefetchers: Vec<String> = vec!["ip_stride".into(), "next_line".into()], "";
        /// From the head of the store buffer to written, on a hit: one store each cycle (manual).
        write_cycles: u64 = 1, "cycles";
        /// Added to a load that touches two lines: the second half goes through the load pipeline
        /// once the first half has hit. Fog's Haswell chapter calls the cost small; set to one more
        /// pass through the cache.
        line_split_cycles: u64 = 4, "cycles";
        /// Added when the two lines are in different 4 KB pages. Fog's figure for the family
        /// before Skylake is of the order of 30 cycles in all; this is that less a normal load.
        page_split_cycles: u64 = 24, "cycles";
    }
}

params! {
    /// A cache level beyond the first.
    pub struct LevelParams {
        /// Name in reports: `L` and up to seven capital letters or digits.
        name: String = String::new(), "";
        /// Capacity.
        size: u64 = 0, "B";
        /// Ways of a set.
        assoc: u32 = 8, "";
        /// Load-to-use of a load that hits here.
        latency: u64 = 0, "cycles";
        /// Added for the path to an average slice of a distributed cache.
        path: u64 = 0, "cycles";
        /// Superqueue: lines in flight from the next level at once; 0 is no bound, and the
        /// requester tracks their arrival. A level with prefetchers needs one.
        superqueue: u32 = 0, "";
        /// Between two lines handed to the level before.
        interval: u64 = 1, "cycles";
        /// The cores of a chip share it; all levels beyond a shared one are shared.
        shared: bool = false, "";
        /// A line that leaves it leaves all caches before it.
        inclusive: bool = false, "";
        /// Replacement policy: `lru` or `srrip`.
        replacement: String = "lru".into(), "";
        /// Prefetchers, in the order in which they see its requests: `next_line`,
        /// `next_line_code`, `streamer`, `adjacent`, `access_map`.
        prefetchers: Vec<String> = Vec::new(), "";
    }
    known by name {
        /// Second-level cache.
        "L2" {
            /// Capacity (manual).
            size = 256 << 10;
            /// Ways of a set (manual).
            assoc = 8;
            /// Load-to-use of a load that hits here (measured; the manual's best case is 11).
            latency = 12;
            /// Superqueue: lines in flight from the next level at once (manual).
            superqueue = 16;
            /// Between two lines handed to the first level: 64 B at the manual's sustained 25
            /// B/cycle.
            interval = 3;
            /// Each core has its own (manual).
            shared = false;
            /// The first level may hold lines that have left it (manual).
            inclusive = false;
            /// Replacement policy: `lru` or `srrip`. Not published; exact LRU stands in.
            replacement = "lru".into();
            /// The manual's "streamer" and "spatial prefetcher".
            prefetchers = vec!["streamer".into(), "adjacent".into()];
        }
        /// Last-level cache, inclusive of all others.
        "LLC" {
            /// Capacity (i7-4770).
            size = 8 << 20;
            /// Ways of a set (i7-4770).
            assoc = 16;
            /// Load-to-use of a load that hits in the nearest slice (manual).
            latency = 34;
            /// Added for the path to an average slice. `latency + path` is the load-to-use in all;
            /// a random chase through 4 KB pages pays the second-level TLB on top and sees the
            /// measured 39-43.
            path = 2;
            /// Between two lines handed to the second level: 64 B at the manual's sustained 14
            /// B/cycle.
            interval = 5;
            /// The cores of the chip share it (manual).
            shared = true;
            /// A line that leaves it leaves all caches before it (manual).
            inclusive = true;
            /// Replacement policy: `lru` or `srrip`. Not published; exact LRU stands in.
            replacement = "lru".into();
        }
    }
}

params! {
    /// Instruction TLB of 4 KB pages.
    pub struct ItlbParams {
        /// Entries (manual).
        entries: u32 = 128, "";
        /// Ways of a set (manual).
        assoc: u32 = 4, "";
    }
}

params! {
    /// First-level data TLB of 4 KB pages.
    pub struct DtlbParams {
        /// Entries (manual).
        entries: u32 = 64, "";
        /// Ways of a set (manual).
        assoc: u32 = 4, "";
    }
}

params! {
    /// Second-level TLB, for instructions and data.
    pub struct StlbParams {
        /// Entries (manual).
        entries: u32 = 1024, "";
        /// Ways of a set (manual).
        assoc: u32 = 8, "";
        /// Added to an access that misses the first level and hits here (manual).
        latency: u64 = 7, "cycles";
    }
}

params! {
    /// Page walk. The walker reads page-table entries through the data caches.
    pub struct WalkParams {
        /// Walks at once; one until Broadwell doubled it.
        walkers: u32 = 1, "";
        /// Start and end of a walk, besides its reads; not published, about as long as a
        /// second-level TLB access.
        cycles: u64 = 7, "cycles";
        /// Entries of the cache of page-directory entries (2 MB each). Intel documents that it
        /// exists (system manual, "Caches for Paging Structures"), not its size; van Schaik et
        /// al., RevAnC (2017), infer 32 for client parts of this age.
        pde_entries: u32 = 32, "";
        /// Its ways per set; not published.
        pde_assoc: u32 = 4, "";
    }
}

params! {
    /// Parameters of the prefetchers, where a cache's list names them (manual, "Data Prefetching").
    pub struct PrefetchParams {
        /// `ip_stride`: entries of its table, indexed by the low bits of the instruction address.
        ip_stride_entries: u32 = 256, "";
        /// `ip_stride`: greatest stride it follows.
        ip_stride_bytes_max: u64 = 2048, "B";
        /// `streamer`: streams it follows at once.
        streams: u32 = 32, "";
        /// `streamer`: steps in one direction, within a page, that start a stream; the manual
        /// names no number. With one (two requests) the linear chase takes the measured 20
        /// cycles, with two 22.
        streamer_confirm: u32 = 1, "";
        /// `streamer`: maximum distance ahead of the access, in lines.
        streamer_distance: u32 = 20, "lines";
        /// `streamer`: maximum number of lines requested per access.
        streamer_degree: u32 = 2, "lines";
        /// `access_map`: pages whose maps it keeps; the paper has 52, in full associativity.
        access_map_pages: u32 = 64, "";
        /// `access_map`: maximum number of lines requested per access; as for the streamer.
        access_map_degree: u32 = 2, "lines";
    }
    moved {
        ip_stride: "prefetchers are now listed per cache",
            "write prefetchers = [\"ip_stride\", \"next_line\"] in [memory.l1d], or leave a name out";
        next_line: "prefetchers are now listed per cache",
            "write prefetchers = [\"ip_stride\", \"next_line\"] in [memory.l1d], or leave a name out";
        next_line_code: "prefetchers are now listed per cache",
            "write prefetchers = [\"next_line_code\"] in [memory.l1i], or [] for none";
        streamer: "prefetchers are now listed per cache",
            "write prefetchers = [\"streamer\", \"adjacent\"] in the [[memory.level]] named \"L2\", \
             or leave a name out";
        adjacent: "prefetchers are now listed per cache",
            "write prefetchers = [\"streamer\", \"adjacent\"] in the [[memory.level]] named \"L2\", \
             or leave a name out";
    }
}

params! {
    /// Memory: DDR3-1600 11-11-11 (JEDEC JESD79-3F speed bin), two channels.
    pub struct DramParams {
        /// Channels, each with its own data bus.
        channels: u32 = 2, "";
        /// Banks of a channel: two ranks of eight.
        banks: u32 = 16, "";
        /// Bytes of an open row over the whole channel: 1 KB in each of eight chips.
        row_bytes: u64 = 8192, "B";
        /// Row activation to column access.
        trcd_ns: f64 = 13.75, "ns";
        /// Precharge.
        trp_ns: f64 = 13.75, "ns";
        /// Column access to first data.
        tcl_ns: f64 = 13.75, "ns";
        /// How long a row stays open after its last use; 0 closes it when no request waits for it.
        /// Not published; nearly closed banks fit the measured random and linear latencies
        /// together (rows that stay open would give the linear chase 15 cycles, not 20).
        row_idle_ns: f64 = 10.0, "ns";
        /// Data bus time of a line: eight transfers at 1600 MT/s.
        burst_ns: f64 = 5.0, "ns";
        /// Queues and wires of the memory controller, both ways. Chosen so that the random chase
        /// through 64 MB takes the measured 245 cycles in all.
        path_ns: f64 = 22.0, "ns";
    }
}

params! {
    /// Scratch-pad: memory that software manages, beside the caches. No processor of this family
    /// has one; it is for studies of allocators (`mallacc sma-study`).
    pub struct ScratchpadParams {
        /// First address.
        base: u64 = 0, "";
        /// Capacity; 0 is no scratch-pad.
        size: u64 = 0, "B";
        /// Load-to-use of every load. Loads are pipelined, one after the other as the ports take
        /// them; stores are posted, as fast as into the first-level cache. No translation.
        latency: u64 = 4, "cycles";
    }
}

params! {
    /// First touch of a page.
    pub struct PageFaultParams {
        /// Charged by the core where it takes the exception; 0 is no exception. About 0.6 us: a
        /// minor fault on Linux without page-table isolation is 1,000 cycles of exception and
        /// return plus finding, zeroing and mapping the page; published measurements lie between
        /// 0.5 and 1 us.
        cycles: u64 = 2000, "cycles";
        /// Pages that a fault on an instruction fetch maps: Linux maps 64 KB around a fault on a
        /// file (`fault_around_bytes`).
        code_pages: u64 = 16, "";
    }
}

params! {
    /// The memory hierarchy of a core.
    pub struct MemoryParams {
        /// Core clock, which turns DRAM's nanoseconds into cycles (i7-4770 base clock).
        clock_mhz: u64 = 3400, "MHz";
        /// Line of all caches.
        line: u64 = 64, "B";
        /// First-level instruction cache.
        l1i: L1iParams = L1iParams::default(), "";
        /// First-level data cache.
        l1d: L1dParams = L1dParams::default(), "";
        /// A cache level beyond the first. A file that has one lists all of them, from the inside
        /// out; keys that it leaves out of levels named L2 and LLC have Haswell's values.
        level: Vec<LevelParams> = LevelParams::haswell(), "";
        /// Instruction TLB.
        itlb: ItlbParams = ItlbParams::default(), "";
        /// Data TLB.
        dtlb: DtlbParams = DtlbParams::default(), "";
        /// Second-level TLB.
        stlb: StlbParams = StlbParams::default(), "";
        /// Page walk.
        walk: WalkParams = WalkParams::default(), "";
        /// Parameters of the prefetchers.
        prefetch: PrefetchParams = PrefetchParams::default(), "";
        /// Memory.
        dram: DramParams = DramParams::default(), "";
        /// Scratch-pad; none by default.
        scratchpad: ScratchpadParams = ScratchpadParams::default(), "";
        /// First touch of a page.
        page_fault: PageFaultParams = PageFaultParams::default(), "";
        /// What differs from run to run: which frames the pages lie in, and the cycles that DRAM
        /// takes. 0: every page in the frame of its own number, DRAM as described.
        seed: u64 = 0, "";
    }    moved {
        l2: "the levels beyond the first are a list now",
            "write [[memory.level]] with name = \"L2\" and the same keys, then one named \"LLC\"";
        llc: "the levels beyond the first are a list now",
            "write [[memory.level]] with name = \"LLC\" and the same keys, after one named \"L2\"";
    }
}

impl LevelParams {
    /// The levels of Haswell.
    fn haswell() -> Vec<Self> {
        ["L2", "LLC"].iter().filter_map(|name| Self::known(name)).collect()
    }
}
