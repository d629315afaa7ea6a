//! The declarations as a page for people.

use std::fmt::Write as _;

use documents::{Column, Table};

use super::{
    CACHE, CALLS, CONFIGURATION, Interval, MALLOC_CACHE, Measured, PREDICTOR, RUN, Source,
    Statistic, TLB,
};

/// A declaration without the functions behind it.
pub struct Declaration {
    /// The slice it stands in.
    pub group: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its unit in words.
    pub unit: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// The formula of a derived statistic.
    pub formula: Option<&'static str>,
    /// Whether it is a counter.
    pub counted: bool,
    /// Whether a sampled run gives it a confidence interval.
    pub interval: bool,
}

/// Group names in the order of the page, and what each is about.
const GROUPS: [(&str, &str); 7] = [
    ("run", "Of the whole run."),
    ("configuration", "Of one configuration; in the store under the bare name."),
    (
        "calls",
        "Of one kind of call (`malloc`, `free`, `calloc`, `realloc`, `new`, `delete`, \
         `sized_delete`, `memalign`), each counting strictly that entry point; in the store as \
         `malloc.calls`. JSON and CSV also have the sums `allocation` (malloc, calloc, realloc, \
         new, memalign) and `deallocation` (free, delete, sized_delete). A call made from within \
         another belongs to the outer one.",
    ),
    ("cache", "Of one cache; in the store as `cache.L1D.hits`."),
    ("tlb", "Of one translation buffer; in the store as `tlb.DTLB.hits`."),
    ("predictor", "Of the branch predictor; in the store as `predictor.conditional`."),
    ("malloc_cache", "Of the malloc cache; in the store as `malloc_cache.pop_hits`."),
];

/// All declarations, group by group.
pub fn declarations() -> Vec<Declaration> {
    let mut all = Vec::new();
    declare(&mut all, "run", RUN);
    declare(&mut all, "configuration", CONFIGURATION);
    declare(&mut all, "calls", CALLS);
    declare(&mut all, "cache", CACHE);
    declare(&mut all, "tlb", TLB);
    declare(&mut all, "predictor", PREDICTOR);
    declare(&mut all, "malloc_cache", MALLOC_CACHE);
    all
}

fn declare<T: Measured>(
    all: &mut Vec<Declaration>,
    group: &'static str,
    slice: &'static [Statistic<T>],
) {
    all.extend(slice.iter().map(|statistic| {
        let (formula, interval) = match &statistic.source {
            Source::Derived { formula, interval, .. } => {
                (Some(*formula), !matches!(interval, Interval::None))
            }
            _ => (None, false),
        };
        Declaration {
            group,
            name: statistic.name,
            unit: statistic.unit.name(),
            description: statistic.description,
            formula,
            counted: matches!(statistic.source, Source::Counter { .. }),
            interval,
        }
    }));
}

const INTRODUCTION: &str = "\
# Statistics

Generated from the declarations in `crates/results/src/statistics`; a test compares the two
(`MALLACC_UPDATE_DOCS=1 cargo test -p mallacc-results` writes this page anew).

**Counters** are stored. **Derived** statistics are computed from counters whenever they are shown,
so they cannot disagree with them; where one would divide by zero, or has no baseline to compare
with, text shows `-` and JSON `null`. Fractions are fractions of 1 in JSON and CSV (0.25) and per
cent in text (25 %). A speedup of 0.25 means that the baseline takes 1.25 times as long. The
baseline of a configuration is the one with accelerator `none` on the same machine.

## Sampled runs
The counters of a sampled run cover its measured intervals only. Statistics marked ± carry a 95 %
confidence interval: `<name>_ci95` in JSON and CSV is half its width. Every such statistic is a
ratio of two sums over the samples `(y_i, x_i)`:

```
R   = sum y_i / sum x_i
d_i = (y_i - R x_i) / mean(x)
s^2 = sum d_i^2 / (n - 1)
R ± t(0.975, n - 1) * s / sqrt(n)
```

This is the ratio estimator of W. G. Cochran, *Sampling Techniques*, 3rd ed., Wiley 1977, chapter 6,
without the finite population correction, which would only narrow the interval; `t` is Student's
quantile. A speedup is `Q - 1` with `Q = R_base / R_own`. All configurations see the same
instructions in the same samples, so the difference is taken sample by sample (delta method):

```
d_i = Q * (d_base_i / R_base - d_own_i / R_own)
Q - 1 ± t(0.975, n - 1) * s / sqrt(n)
```

Estimates for the whole run are such a ratio per instruction times the instructions that the samples
stand for. The samples are systematic and treated as random, as in R. Wunderlich et al., *SMARTS*,
ISCA 2003; a program with a period equal to the sampling period is outside this assumption.
Percentiles, shares of calls and MPKI of a sampled run are those of the measured intervals, without
an interval of their own.

## Latency histogram
Every latency below 256 cycles has its own bucket. Above, each octave is cut into 16 buckets of
equal width. A percentile is the nearest rank: the smallest latency that at least that share of the
calls does not exceed; above 255 cycles it is the bucket's middle, at most 1/32 (3.2 %) away. Means,
minimum and maximum are exact. The buckets are stored as they are (`docs/schema.md`).

## CPI stack
Cycles by cause, which sum exactly to `cycles`. The causes are named by the core model; in the store
they are `cpi.<cause>`.
";

/// The page `docs/statistics.md`.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    let all = declarations();
    for (group, about) in GROUPS {
        let _ = write!(page, "\n## {group}\n{about}\n\n");
        let mut table = Table::new(["name", "unit", "what", "how"].map(Column::left));
        for statistic in all.iter().filter(|statistic| statistic.group == group) {
            let mark = if statistic.interval { " ±" } else { "" };
            let plain = if statistic.counted { "counted" } else { "given" };
            let how = statistic.formula.map_or(plain.into(), |text| format!("`{text}`{mark}"));
            let (name, unit, what) = (statistic.name, statistic.unit, statistic.description);
            table.row([format!("`{name}`").as_str(), unit, what, &how]);
        }
        page += &table.markdown();
    }
    page
}
