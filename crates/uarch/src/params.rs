//! Parameters of the core. Sources: [IOM] Intel 64 and IA-32 Architectures Optimization Reference
//! Manual, chapter on the Haswell microarchitecture; [AF] Agner Fog, "The microarchitecture of
//! Intel, AMD and VIA CPUs", Haswell chapter; [uiCA] Abel and Reineke, "uiCA: Accurate Throughput
//! Prediction of Basic Blocks on Recent Intel Microarchitectures" (ICS 2022); [7cpu] 7-cpu.com's
//! measurements of an i7-4770.

use crate::kind::Kind;

params::params! {
    /// Parameters of cores. Which of them a core has, its kind says
    /// ([`crate::kind::CoreKind::parameters`]).
    pub struct CoreParams {
        /// Kind of core.
        kind: Kind = Kind::default(), "";
        /// Core family of the instruction table: uops, ports, latencies (uops.info, Haswell).
        instructions: String = "haswell".into(), "";
        /// Fused uops allocated and renamed per cycle ([IOM]: 4).
        allocate_width: u32 = 4, "fused uops/cycle";
        /// Fused uops retired per cycle ([IOM]: 4).
        retire_width: u32 = 4, "fused uops/cycle";
        /// Reorder buffer ([IOM]: 192).
        rob: u32 = 192, "fused uops";
        /// Reservation station shared by all ports ([IOM]: 60).
        rs: u32 = 60, "uops";
        /// Its entries that uops bound to the load ports can take. Not published (the manual calls
        /// all entries shared): inferred from BHive's blocks, in which three loads, two of them
        /// from addresses that depend on the first, take 1.76 cycles and not the 1.5 of two
        /// ports, whatever arithmetic there is beside them. 20 to 24 fit the blocks equally well.
        rs_loads: u32 = 22, "uops";
        /// Load queue ([IOM]: 72).
        lq: u32 = 72, "loads";
        /// Store queue ([IOM]: 42).
        sq: u32 = 42, "stores";
        /// Decoded-uop queue between decode and allocation ([IOM]: 56).
        idq: u32 = 56, "fused uops";
        /// Cycles from allocation to the earliest issue ([uiCA], section 4.1: 5).
        allocate_to_issue: u32 = 5, "cycles";
        /// Moves are eliminated at rename ([IOM] 2.3.3.1: yes).
        move_elimination: bool = true, "";
        /// Physical registers that eliminated moves may share at once, for general-purpose and
        /// for vector registers each; at most 4 ([uiCA]'s simulator: 4 on Haswell).
        move_entries: u32 = 4, "registers";
        /// From a branch's completion to the first delivery from the uop cache. With one cycle of
        /// execution, one of allocation and `allocate_to_issue` the penalty is 15 ([7cpu]: 15).
        mispredict_redirect: u32 = 8, "cycles";
        /// Added when the target comes from the legacy decoders ([7cpu]: 20 in all).
        legacy_decode_extra: u32 = 5, "cycles";
        /// Taken direct branch not in the branch target buffer: redirected by the decoders
        /// ([AF] 3.8: about 8).
        btb_miss_redirect: u32 = 8, "cycles";
        /// From a predicted taken branch to its target's first uops: jumps to the next instruction
        /// take 2.12 cycles each, indirect ones 2.25 (uops.info, Haswell, `JMP`). Loops in the loop
        /// buffer do not pay it.
        taken_branch: u32 = 2, "cycles";
        /// Direct jumps and conditional branches that a first level of the target buffer holds take
        /// one cycle instead; a power of two of at least 4, or 0 for none (Haswell's jumps in
        /// a small loop take two: uops.info).
        near_branches: u32 = 0, "branches";
        /// Store-to-load forwarding: issue of the store's data to use by the load. Measured chains
        /// through memory take 6 cycles with a one-cycle add in between ([uiCA] data; [AF]: 5).
        store_forward: u32 = 5, "cycles";
        /// Load that overlaps a store in flight but is not contained in it: after the store has
        /// written the cache ([AF]: forwarding failure costs about 12 more in all).
        store_forward_fail: u32 = 12, "cycles";
        /// Load that issued ahead of an older store to the same address: the load and all younger
        /// instructions start again ([IOM] memory disambiguation; cost about a mispredict).
        memory_order_clear: u32 = 20, "cycles";
        /// Entry and exit of a system call with the kernel's work reduced to a constant: `getppid`
        /// on a Haswell without page-table isolation takes about 70 ns.
        syscall: u32 = 220, "cycles";
        /// Legacy decode.
        decode: DecodeParams = DecodeParams::default(), "";
        /// Uop cache.
        uop_cache: UopCacheParams = UopCacheParams::default(), "";
        /// Loop buffer: longest loop that streams from the decoded-uop queue ([IOM]: 56);
        /// 0 = off.
        loop_buffer: u32 = 56, "fused uops";
    }
}

params::params! {
    /// Predecode and the legacy decoders.
    pub struct DecodeParams {
        /// Bytes examined per cycle ([IOM]: 16, aligned).
        predecode_bytes: u32 = 16, "B/cycle";
        /// Instructions marked per cycle ([uiCA]: 5 on Haswell).
        predecode_width: u32 = 5, "instructions/cycle";
        /// Stall for each length-changing prefix ([IOM] 2.3.2.3: 3).
        lcp_stall: u32 = 3, "cycles";
        /// Instruction queue between predecode and decode ([IOM]: 20).
        queue: u32 = 20, "instructions";
        /// Instructions decoded per cycle, the first of any kind, the others single-uop ([IOM]: 4).
        width: u32 = 4, "instructions/cycle";
        /// Switch to and from the microcode sequencer, together ([uiCA]: 2 + 2).
        microcode_switch: u32 = 4, "cycles";
        /// From the uop cache to the legacy decoders: pipeline refill ([AF]: 1 to 4).
        switch: u32 = 2, "cycles";
    }
}

params::params! {
    /// The decoded-uop cache.
    pub struct UopCacheParams {
        /// Sets ([IOM]: 32).
        sets: u32 = 32, "";
        /// Lines of a set ([IOM]: 8).
        ways: u32 = 8, "";
        /// Fused uops of a line ([IOM]: 6).
        line_uops: u32 = 6, "fused uops";
        /// Lines that may hold one 32-byte window of code ([IOM]: 3).
        lines_per_window: u32 = 3, "";
        /// Delivered per cycle ([uiCA]: 4 on Haswell).
        width: u32 = 4, "fused uops/cycle";
    }
}
