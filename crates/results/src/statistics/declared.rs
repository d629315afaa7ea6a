//! The declarations.

use super::Interval::{None as NoInterval, Ratio, Speedup};
use super::Unit::{
    Calls, Classes, Count, Cycles, CyclesPerCall, Fraction, Instructions, InstructionsPerCycle,
    MillionPerSecond, Nanojoules, Seconds, SquareMicrometres, Uops,
};
use super::{Context, Source, Statistic, quotient};
use crate::model::{CallStats, CallTally, Configuration, Run, SamplePoint};

/// A counter that is the field of the same name.
macro_rules! counter {
    ($field:ident, $unit:expr, $description:expr) => {
        Statistic {
            name: stringify!($field),
            unit: $unit,
            description: $description,
            source: Source::Counter {
                get: |item| item.$field,
                set: |item, value| item.$field = value,
            },
        }
    };
}

/// A figure stated by a model: the optional field of the same name.
macro_rules! stated {
    ($field:ident, $unit:expr, $description:expr) => {
        Statistic {
            name: stringify!($field),
            unit: $unit,
            description: $description,
            source: Source::Real {
                get: |item| item.$field,
                set: |item, value| item.$field = Some(value),
            },
        }
    };
}

/// A derived figure: name, unit, interval, description, formula, function.
macro_rules! derived {
    ($name:literal, $unit:expr, $interval:expr, $description:expr, $formula:expr, $get:expr) => {
        Statistic {
            name: $name,
            unit: $unit,
            description: $description,
            source: Source::Derived { formula: $formula, get: $get, interval: $interval },
        }
    };
}

/// Statistics of a run.
pub static RUN: &[Statistic<Run>] = &[
    counter!(instructions, Instructions, "Instructions the program executed, measured or not."),
    Statistic {
        name: "host_seconds",
        unit: Seconds,
        description: "Wall-clock time on the host.",
        source: Source::Real {
            get: |run| Some(run.host_seconds),
            set: |run, value| run.host_seconds = value,
        },
    },
    derived!(
        "mips",
        MillionPerSecond,
        NoInterval,
        "Speed of the whole run, all configurations together.",
        "instructions / host_seconds / 10^6",
        |run, _| {
            (run.host_seconds > 0.0).then(|| run.instructions as f64 / run.host_seconds / 1e6)
        }
    ),
    counter!(threads, Count, "Threads the program had, the first included."),
    counter!(context_switches, Count, "Switches between threads on the simulated core."),
    counter!(forked_children, Count, "Children that left the instruction stream at a fork."),
    counter!(
        executions,
        Count,
        "Executions of the program; with several, each replicate is one of them."
    ),
    counter!(execs, Count, "Times the program replaced itself."),
];

/// Statistics of a configuration.
pub static CONFIGURATION: &[Statistic<Configuration>] = &[
    counter!(cycles, Cycles, "Cycles measured."),
    counter!(instructions, Instructions, "Instructions measured."),
    counter!(uops, Uops, "Uops executed, unfused, injected ones included."),
    derived!(
        "ipc",
        InstructionsPerCycle,
        Ratio(|p: &SamplePoint| (p.instructions, p.cycles)),
        "Instructions per cycle.",
        "instructions / cycles",
        |c, _| quotient(c.instructions, c.cycles)
    ),
    derived!(
        "speedup",
        Fraction,
        Speedup(|p: &SamplePoint| (p.cycles, p.instructions)),
        "How much faster the program is than under the baseline of the same machine.",
        "baseline cycles per instruction / own cycles per instruction - 1",
        |c, context| {
            let base = context.baseline.as_ref()?;
            change(quotient(base.cycles, base.instructions), quotient(c.cycles, c.instructions))
        }
    ),
    counter!(allocator_cycles, Cycles, "Cycles inside allocator calls."),
    derived!(
        "allocator_share",
        Fraction,
        Ratio(|p: &SamplePoint| (p.allocator_cycles, p.cycles)),
        "Share of all cycles that lies inside allocator calls.",
        "allocator_cycles / cycles",
        |c, _| quotient(c.allocator_cycles, c.cycles)
    ),
    derived!(
        "allocator_speedup",
        Fraction,
        Speedup(|p: &SamplePoint| (p.allocator_cycles, p.instructions)),
        "How much faster the allocator is than under the baseline, all kinds of call together.",
        "baseline allocator_cycles per instruction / own allocator_cycles per instruction - 1",
        |c, context| {
            let base = context.baseline.as_ref()?;
            change(
                quotient(base.allocator_cycles, base.instructions),
                quotient(c.allocator_cycles, c.instructions),
            )
        }
    ),
    classes(
        "size_classes_50",
        "Fewest size classes that together serve 50 % of the allocations.",
        |c, _| classes_needed(c, 50),
    ),
    classes(
        "size_classes_90",
        "Fewest size classes that together serve 90 % of the allocations.",
        |c, _| classes_needed(c, 90),
    ),
    classes(
        "size_classes_99",
        "Fewest size classes that together serve 99 % of the allocations.",
        |c, _| classes_needed(c, 99),
    ),
    stated!(
        area_um2,
        SquareMicrometres,
        "Estimated area of the accelerator at 28 nm, where its model states one; for the malloc \
         cache the paper's figures, scaled by bits."
    ),
    stated!(
        area_rtl_um2_min,
        SquareMicrometres,
        "Smallest area of the accelerator's synthesised RTL (with flip-flops), scaled to 28 nm, \
         where it was synthesised at this size."
    ),
    stated!(
        area_rtl_um2_max,
        SquareMicrometres,
        "Largest area of the synthesised RTL; the scale is a range."
    ),
    stated!(energy_nj, Nanojoules, "Energy spent in the accelerator, where its model states one."),
];

/// Statistics of one kind of call, and of the aggregates `allocation` and `deallocation`.
pub static CALLS: &[Statistic<CallStats>] = &[
    counter!(calls, Calls, "Calls that ended inside the measured part."),
    counter!(
        cycles,
        Cycles,
        "Their cycles, each from the retirement of its first instruction to that of its `ret`."
    ),
    derived!(
        "cycles_per_call",
        CyclesPerCall,
        Ratio(|p: &CallTally| (p.cycles, p.calls)),
        "Mean latency.",
        "cycles / calls",
        |c, _| quotient(c.cycles, c.calls)
    ),
    percentile("p50", "Median latency.", |c, _| percentile_of(c, 50.0)),
    percentile("p95", "Latency that 95 % of the calls do not exceed.", |c, _| {
        percentile_of(c, 95.0)
    }),
    percentile("p99", "Latency that 99 % of the calls do not exceed.", |c, _| {
        percentile_of(c, 99.0)
    }),
    derived!(
        "max",
        Cycles,
        NoInterval,
        "Largest latency, exact.",
        "from the latency histogram",
        |c, _| c.latency.max().map(|v| v as f64)
    ),
    counter!(fast_calls, Calls, "Calls that took fewer than 100 cycles."),
    counter!(fast_cycles, Cycles, "Cycles of the fast calls."),
    derived!(
        "fast_share",
        Fraction,
        NoInterval,
        "Share of the calls that are fast.",
        "fast_calls / calls",
        |c, _| quotient(c.fast_calls, c.calls)
    ),
    derived!(
        "fast_cycle_share",
        Fraction,
        NoInterval,
        "Share of the calls' cycles that lies in fast calls.",
        "fast_cycles / cycles",
        |c, _| quotient(c.fast_cycles, c.cycles)
    ),
    derived!(
        "speedup",
        Fraction,
        Speedup(|p: &CallTally| (p.cycles, p.calls)),
        "How much faster a call is than under the baseline of the same machine.",
        "baseline cycles_per_call / own cycles_per_call - 1",
        |c, context| {
            let base = context.baseline.as_ref()?;
            change(quotient(base.cycles, base.calls), quotient(c.cycles, c.calls))
        }
    ),
];

/// `base / own - 1`.
fn change(base: Option<f64>, own: Option<f64>) -> Option<f64> {
    own.filter(|own| *own > 0.0).and_then(|own| Some(base? / own - 1.0))
}

fn percentile_of(calls: &CallStats, percent: f64) -> Option<f64> {
    calls.latency.percentile(percent).map(|cycles| cycles as f64)
}

type Get<T> = fn(&T, &Context<T>) -> Option<f64>;

const fn percentile(
    name: &'static str,
    description: &'static str,
    get: Get<CallStats>,
) -> Statistic<CallStats> {
    let formula =
        "nearest rank in the latency histogram: exact below 256 cycles, within 1/32 above";
    let source = Source::Derived { formula, get, interval: NoInterval };
    Statistic { name, unit: Cycles, description, source }
}

const fn classes(
    name: &'static str,
    description: &'static str,
    get: Get<Configuration>,
) -> Statistic<Configuration> {
    let formula = "classes taken from the most frequent down until the share is reached";
    let source = Source::Derived { formula, get, interval: NoInterval };
    Statistic { name, unit: Classes, description, source }
}

/// The fewest size classes that together hold at least `percent` % of the allocations.
fn classes_needed(configuration: &Configuration, percent: u64) -> Option<f64> {
    let coverage = configuration.class_coverage();
    let total = u128::from(coverage.last()?.covered);
    let enough = |covered: u64| u128::from(covered) * 100 >= total * u128::from(percent);
    let needed = coverage.iter().position(|class| enough(class.covered));
    (total > 0).then_some(needed? as f64 + 1.0)
}
