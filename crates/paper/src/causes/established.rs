//! The causes that experiments established, each with its figures.
//!
//! A cause is listed here only after an experiment showed it. Every number in a text is declared
//! among the cause's figures (a test compares them), and every figure that a study of the same
//! configuration measures has a band within which the sentence still holds.

use super::Origin::{Experiment, Setting};
use super::{Cause, Established, Named, Origin};
use crate::figure::Figure::{self, Fig1, Fig2, Fig4, Fig6, Fig13, Fig14, Fig15, Fig17, Fig18};
use crate::figure::Figure::{Table1, Table2};

/// Where every cause was established.
const fn on(programs: &'static [&'static str]) -> Established {
    Established { date: "2026-11-22", machine: "haswell-user", programs, seeds: None }
}

/// The programs that means are taken over.
const PAPERS: &[&str] =
    &["perl", "xalan", "kv-never-frees", "kv-frees", "xapian-abstracts", "xapian-pages"];
const MICROS: &[&str] = &["antagonist", "gauss", "gauss_free", "sized_deletes", "tp", "tp_small"];

/// A figure that a study measures: words, figure, cells, value at the time, its band.
const fn measured(
    words: &'static str,
    figure: Figure,
    cells: &'static [(&'static str, &'static str)],
    was: f64,
    band: (f64, f64),
) -> Named {
    Named { words, origin: Origin::Study { figure, cells, was, band } }
}

/// A figure that only the experiment measured.
const fn apart(words: &'static str) -> Named {
    Named { words, origin: Experiment }
}

/// A setting.
const fn setting(words: &'static str) -> Named {
    Named { words, origin: Setting }
}

/// A program's gain is what its allocator saves times the share of time its allocator takes.
const SMALL: &str = "the allocator saves as much as in the paper (Figure 13: a third of its time) \
    but takes less than 1 % of this program's time (Figure 18): a query scores far more documents \
    than it allocates objects";
const SMALL_EXPERIMENT: &str = "Figures 13 and 18 of the same study";

/// L1D of 256 KB, one of the variants of the machine.
const LARGE_L1D: &str = "the same run on a machine with an L1D of 256 KB";

/// All of them.
pub const CAUSES: &[Cause] = &[
    Cause {
        claims: &[(Fig1, "perl", "peaks")],
        text: "thread-cache hits alone make more than one peak: calls executed while an older \
               instruction was waiting take 8 cycles, the time that their instructions need to \
               retire (with 8 or 2 retired a cycle instead of 4, there are three peaks), and most \
               of the 2,700 calls of 64 to 127 cycles are hits too, since perl's refills number \
               100 in the samples",
        experiment: "perl with core.retire_width 8 (the peak at 8 cycles moves to 4) and 2 (it \
                     joins that of 16 to 22); refills counted by an allocator with counters: \
                     1,280, of which the sampling sees a twelfth",
        established: on(&["perl"]),
        figures: &[
            apart("take 8 cycles"),
            setting("8 or 2 retired a cycle instead of 4"),
            apart("three peaks"),
            measured("2,700", Fig1, &[("64", "calls"), ("91", "calls")], 2709.0, (2400.0, 3000.0)),
            setting("64 to 127 cycles"),
            apart("100 in the samples"),
        ],
    },
    Cause {
        claims: &[(Fig1, "perl", "miss_over_hit")],
        text: "a miss costs as much as it fetches, and a list starts by fetching one object and \
               fetches more with each miss: 55 % of perl's 1,280 misses fetch 64 objects or fewer; \
               a miss that fetches 512 from fresh memory takes 15,000 cycles (kv-never-frees), 800 \
               times a hit",
        experiment: "perl run natively with counters in the allocator: objects fetched by each \
                     refill; durations of kv-never-frees's refills, which fetch 512",
        established: on(&["perl"]),
        figures: &[
            apart("55 %"),
            apart("1,280 misses"),
            apart("64 objects"),
            apart("512"),
            apart("15,000 cycles"),
            apart("800 times"),
        ],
    },
    Cause {
        claims: &[(Fig2, "kv-never-frees", "fast_share"), (Fig13, "kv-never-frees", "speedup")],
        text: "a program that never frees always gets fresh memory: a refill links up to 512 \
               objects that no cache holds and takes some 15,000 cycles, most of them waiting for \
               DRAM; with a DRAM that answers at once, 30 % of the time lies in calls under 100 \
               cycles instead of 18 %, and 32 entries gain 4.5 % instead of 2.8 %",
        experiment: "the same run with trcd_ns, trp_ns, tcl_ns and burst_ns 1 and path_ns 0 in \
                     memory.dram",
        established: on(&["kv-never-frees"]),
        figures: &[
            setting("512 objects"),
            apart("15,000 cycles"),
            apart("30 %"),
            setting("under 100 cycles"),
            measured("18 %", Fig2, &[("kv-never-frees", "< 100")], 0.185, (0.165, 0.205)),
            setting("32 entries"),
            apart("4.5 %"),
            measured("2.8 %", Fig13, &[("kv-never-frees", "32 entries")], 0.028, (0.023, 0.033)),
        ],
    },
    Cause {
        claims: &[(Fig4, "", "antagonist_list"), (Fig17, "antagonist", "list_share")],
        text: "a pop takes the object of its class that was freed last, whose line is mostly in \
               the half of the ways that stays: emptying the other half makes the pop step half a \
               cycle longer (26.5 % of the fast path's time, against 25.6 % in gauss_free); for \
               gauss_free to take twice as long in this step, L1D and L2 must shrink to an eighth",
        experiment: "the pop step of gauss_free and antagonist: its share in Figure 4 times the \
                     cycles there; for gauss_free also with one of eight ways: 8.3 cycles",
        established: on(&["antagonist", "gauss_free"]),
        figures: &[
            apart("half a cycle"),
            measured("26.5 %", Fig4, &[("antagonist", "pop")], 0.265, (0.25, 0.28)),
            measured("25.6 %", Fig4, &[("gauss_free", "pop")], 0.256, (0.241, 0.271)),
            apart("an eighth"),
        ],
    },
    Cause {
        claims: &[(Fig4, "", "combined")],
        text: "the strided loops are bound by width, not by the latency of the steps: with all \
               three steps free, tp_small has 19 % fewer uops and takes 14 % fewer cycles, and \
               part of that is counted in free (its malloc saves 3 %); the Gaussian programs that \
               free come close to half (55 %)",
        experiment: "mallacc micro tp_small --config none --config limit",
        established: on(MICROS),
        figures: &[
            apart("19 %"),
            apart("14 %"),
            measured("3 %", Fig4, &[("tp_small", "combined")], 0.030, (0.01, 0.05)),
            measured("55 %", Fig4, &[("gauss_free", "combined")], 0.553, (0.5, 0.6)),
        ],
    },
    Cause {
        claims: &[(Fig6, "xalan", "classes_90"), (Fig13, "xalan", "lost_with_16")],
        text: "three quarters of this version's requests for this document are of 24 and 48 bytes, \
               and the rest falls into few classes",
        experiment: "the requested sizes of the run (mallacc run --workload xalan --format json)",
        established: on(&["xalan"]),
        figures: &[
            measured("three quarters", Fig6, &[("xalan", "in the first two")], 0.768, (0.7, 0.82)),
            apart("24 and 48 bytes"),
        ],
    },
    Cause {
        claims: &[(Fig6, "", "many_classes")],
        text: "Xapian 1.4 requests strings, postings and tables of many sizes (8 to 8,200 bytes, \
               no size more than an eighth of all requests) and needs 16 and 20 classes; xalan, \
               whose version and input differ from the paper's, needs 7",
        experiment: "the requested sizes of the runs, and Figure 6",
        established: on(PAPERS),
        figures: &[
            setting("Xapian 1.4"),
            apart("8 to 8,200 bytes"),
            apart("an eighth"),
            measured("16 and", Fig6, &[("xapian-abstracts", "90 %")], 16.0, (15.0, 17.0)),
            measured("20 classes", Fig6, &[("xapian-pages", "90 %")], 20.0, (18.0, 22.0)),
            measured("needs 7", Fig6, &[("xalan", "90 %")], 7.0, (6.0, 8.0)),
        ],
    },
    Cause {
        claims: &[(Fig6, "kv-never-frees", "first_class")],
        text: "values (88 bytes, 82 % of the requests) and tree nodes (368 bytes, one for every \
               four or five values) both come from malloc here",
        experiment: "the requested sizes of the run (mallacc run --workload kv-never-frees \
                     --format json)",
        established: on(&["kv-never-frees"]),
        figures: &[
            apart("88 bytes"),
            measured("82 %", Fig6, &[("kv-never-frees", "in the first")], 0.819, (0.8, 0.84)),
            apart("368 bytes"),
        ],
    },
    Cause {
        claims: &[(Fig13, "", "others_lost_with_16")],
        text: "it is Xapian, which needs 16 or more classes for 90 % of its allocations (Figure \
               6), as the paper's xalancbmk does",
        experiment: "Figures 6 and 13 of the same study",
        established: on(&["xapian-abstracts", "xapian-pages"]),
        figures: &[
            measured("16 or more", Fig6, &[("xapian-abstracts", "90 %")], 16.0, (16.0, 64.0)),
            setting("90 %"),
        ],
    },
    Cause {
        claims: &[(Fig13, "", "mean"), (Fig14, "", "mean")],
        text: "the two Xapian programs raise the mean: their malloc gains some 80 %, where the \
               paper says over 40; part of this comes from free objects that lie in L2 (Figure \
               15): with an L1D of 256 KB, malloc in a stretch of the abstracts gains 64 % instead \
               of 90 %, and malloc and free together 41 % instead of 56 %",
        experiment: "200 M instructions of xapian-abstracts, also with an L1D of 256 KB",
        established: on(PAPERS),
        figures: &[
            measured("some 80 %", Fig14, &[("xapian-abstracts", "32 entries")], 0.815, (0.7, 0.9)),
            setting("over 40"),
            setting("256 KB"),
            apart("64 %"),
            apart("90 %"),
            apart("41 %"),
            apart("56 %"),
        ],
    },
    Cause {
        claims: &[(Fig14, "xalan", "speedup")],
        text: "71 % of its malloc time lies in calls under 100 cycles (Figure 2), and no step of \
               the fast path can shorten the other calls: even the limit study gains less than 40 \
               %",
        experiment: "the limit study of the same run, and Figure 2",
        established: on(&["xalan"]),
        figures: &[
            measured("71 %", Fig2, &[("xalan", "< 100")], 0.712, (0.68, 0.74)),
            setting("under 100 cycles"),
            measured("less than 40 %", Fig14, &[("xalan", "limit")], 0.391, (0.0, 0.4)),
        ],
    },
    Cause {
        claims: &[
            (Fig15, "xapian-abstracts", "from_20_to_40"),
            (Fig15, "xapian-pages", "from_20_to_40"),
        ],
        text: "between two calls a query touches more data than the L1D holds, so free objects \
               come from L2: with an L1D of 256 KB, 90 % of the time lies in calls of 20 to 40 \
               cycles",
        experiment: LARGE_L1D,
        established: on(&["xapian-abstracts", "xapian-pages"]),
        figures: &[setting("256 KB"), apart("90 %"), setting("20 to 40")],
    },
    Cause {
        claims: &[(Fig15, "xapian-abstracts", "limit_median")],
        text: "what is left of a call contains two dependent loads: with an L1D latency of 3 \
               cycles (XIOSim's public Haswell file has 1 for a load and 2 for the cache, a \
               Haswell takes 4) the median is 13; it is also 13 when all code is in the uop cache",
        experiment: "the limit study with an L1D latency of 3, and with a uop cache of 1,024 sets \
                     and an L1I of 256 KB; store forwarding, taken branches or an L1D of 256 KB \
                     leave it at 15",
        established: on(&["xapian-abstracts"]),
        figures: &[
            setting("3 cycles"),
            setting("1 for a load"),
            setting("2 for the cache"),
            setting("takes 4"),
            apart("median is 13"),
            apart("also 13"),
        ],
    },
    Cause {
        claims: &[(Fig15, "xapian-abstracts", "list_over_class")],
        text: "the list part saves the miss of a free object's link, which mostly lies in L2 here: \
               with an L1D of 256 KB it gains only 1.1 times as much as the size-class part; the \
               two are even there because each replaces two dependent loads by one lookup: the \
               median call goes from 23 cycles to 18 with the list part alone and to 19 with the \
               size-class part",
        experiment: "medians with each part alone, also on a machine with an L1D of 256 KB",
        established: on(&["xapian-abstracts"]),
        figures: &[
            setting("256 KB"),
            apart("1.1 times"),
            measured(
                "23 cycles",
                Fig15,
                &[("xapian-abstracts, baseline", "median")],
                23.0,
                (22.0, 24.0),
            ),
            apart("18"),
            apart("19"),
        ],
    },
    Cause {
        claims: &[(Fig17, "tp", "below")],
        text: "above 256 bytes, two neighbouring sizes of its strides share a class, so a quarter \
               of its lookups hit with any number of entries; in addition, part of the slowdown is \
               counted in free: with 2 entries the program takes 3.7 % more cycles while its \
               malloc is 1 % faster",
        experiment: "mallacc micro tp --config none --config mallacc:entries=2: lookup hits, \
                     cycles of the program",
        established: on(&["tp"]),
        figures: &[
            setting("256 bytes"),
            apart("a quarter"),
            setting("2 entries"),
            apart("3.7 %"),
            measured("1 % faster", Fig17, &[("2", "tp")], 0.011, (0.0, 0.02)),
        ],
    },
    Cause {
        claims: &[(Fig17, "tp", "of_limit")],
        text: "in a loop that only makes calls, time moves between malloc and free: with the list \
               step free, tp's malloc takes 15 % more cycles and its free 27 % fewer, and the \
               program takes as long as before; judge malloc and free together",
        experiment: "mallacc micro tp --config none --config limit:size_class=off,sampling=off",
        established: on(&["tp"]),
        figures: &[
            measured("15 % more", Fig4, &[("tp", "pop")], -0.152, (-0.19, -0.12)),
            apart("27 % fewer"),
        ],
    },
    Cause {
        claims: &[(Fig17, "tp", "blocked")],
        text: "here a prefetch goes to L1 as soon as its address is known, like a load, and is \
               back before free's push of the same class issues; a prefetch that is sent at \
               retirement, as section 4.1's comparison with a store can be read, makes list \
               instructions wait for 30 % of malloc's time (and the program takes as long as \
               before, because the loop is bound by width)",
        experiment: "counters of tp with 32 entries: as many prefetches as pops, hardly a blocked \
                     cycle; the same with a core changed to send a prefetch at retirement",
        established: on(&["tp"]),
        figures: &[setting("section 4.1"), apart("30 %")],
    },
    Cause {
        claims: &[(Table1, "tp_small", "malloc_cycles")],
        text: "a pair of malloc and free takes 28 cycles, in the paper about 30; the border \
               between the two calls lies elsewhere (operator new and sized delete, in \
               sized_deletes, take 18.0 and 8.0)",
        experiment: "cycles of the program over pairs of calls, tp_small and sized_deletes",
        established: on(&["tp_small"]),
        figures: &[
            measured("28 cycles", Table1, &[("tp_small", "in all per malloc")], 28.0, (27.0, 29.0)),
            setting("about 30"),
            measured(
                "18.0 and",
                Table1,
                &[("sized_deletes", "cycles per malloc")],
                18.0,
                (17.0, 19.0),
            ),
            measured("8.0", Table1, &[("sized_deletes", "cycles per free")], 8.0, (7.0, 9.0)),
        ],
    },
    Cause {
        claims: &[(Table2, "xalan", "speedup")],
        text: "the allocator takes 1 % of the program's time and saves a tenth of that: the \
               product is 0.1 %, and part of the saving was hidden behind other work",
        experiment: "Figures 13 and 18 of the same study against the speedup",
        established: Established { seeds: Some(5), ..on(&["xalan"]) },
        figures: &[
            measured("1 %", Fig18, &[("xalan", "allocator")], 0.011, (0.008, 0.014)),
            measured("a tenth", Fig13, &[("xalan", "less time, 32")], 0.091, (0.07, 0.12)),
            measured("0.1 %", Table2, &[("xalan", "speedup")], 0.0007, (0.0003, 0.0012)),
        ],
    },
    Cause {
        claims: &[(Table2, "kv-frees", "speedup")],
        text: "the allocator takes 4.4 % of the time and saves 9 % of that, yet the program gains \
               a tenth of the product, 0.03 %: half of its mallocs take 7 cycles or fewer from \
               retirement to retirement, because they execute while the walk down the tree waits \
               for memory, so ending them sooner changes little (in the CPI stack, the last-level \
               cache's part grows by as much as the base part falls)",
        experiment: "Figures 13 and 18 of the same study against the speedup; the median call and \
                     the CPI stack of the same run",
        established: Established { seeds: Some(5), ..on(&["kv-frees"]) },
        figures: &[
            measured("4.4 %", Fig18, &[("kv-frees", "allocator")], 0.044, (0.038, 0.05)),
            measured("9 %", Fig13, &[("kv-frees", "less time, 32")], 0.093, (0.075, 0.11)),
            measured("0.03 %", Table2, &[("kv-frees", "speedup")], 0.0003, (0.0, 0.0006)),
            apart("7 cycles"),
        ],
    },
    Cause {
        claims: &[(Table2, "xapian-abstracts", "speedup")],
        text: SMALL,
        experiment: SMALL_EXPERIMENT,
        established: Established { seeds: Some(5), ..on(&["xapian-abstracts"]) },
        figures: &[
            measured(
                "a third",
                Fig13,
                &[("xapian-abstracts", "less time, 32")],
                0.336,
                (0.29, 0.38),
            ),
            measured(
                "less than 1 %",
                Fig18,
                &[("xapian-abstracts", "allocator")],
                0.007,
                (0.0, 0.01),
            ),
        ],
    },
    Cause {
        claims: &[(Table2, "xapian-pages", "speedup")],
        text: SMALL,
        experiment: SMALL_EXPERIMENT,
        established: Established { seeds: Some(5), ..on(&["xapian-pages"]) },
        figures: &[
            measured("a third", Fig13, &[("xapian-pages", "less time, 32")], 0.329, (0.29, 0.38)),
            measured("less than 1 %", Fig18, &[("xapian-pages", "allocator")], 0.006, (0.0, 0.01)),
        ],
    },
    Cause {
        claims: &[(Table2, "", "mean")],
        text: "it follows from the results of Xapian, xalan and the key-value store that frees, \
               explained above",
        experiment: "Table 2 of the same study",
        established: Established { seeds: Some(5), ..on(PAPERS) },
        figures: &[],
    },
];
