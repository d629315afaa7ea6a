//! The declarations as a page.

use std::fmt::Write as _;

use documents::{Column, Table};
use stats::{Kind, Meaning, Schema};

use super::{CALLS, CONFIGURATION, Interval, Measured, RUN, Source, Statistic};

/// A declaration without the functions behind it.
pub struct Declaration {
    /// The slice that contains it, or the kind of group.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its unit in words.
    pub unit: &'static str,
    /// One sentence.
    pub description: String,
    /// The formula of a derived statistic.
    pub formula: Option<String>,
    /// Whether it is a counter.
    pub counted: bool,
    /// Whether it must stay 0, and covers the whole run.
    pub fault: bool,
    /// Whether a sampled run gives it a confidence interval.
    pub interval: bool,
}

/// The groups that every run has, in the order of the page, each with its description.
const GROUPS: [(&str, &str); 3] = [
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
];

/// All declarations, group by group: those of every run, then those of `schema`.
pub fn declarations(schema: &Schema) -> Vec<Declaration> {
    let mut all = Vec::new();
    declare(&mut all, "run", RUN);
    declare(&mut all, "configuration", CONFIGURATION);
    declare(&mut all, "calls", CALLS);
    for kind in schema.kinds() {
        all.extend(kind.figures.iter().map(|figure| Declaration {
            group: kind.head.name.clone(),
            name: figure.name.clone(),
            unit: figure.unit.name(),
            description: figure.sentence.clone(),
            formula: figure.formula.clone(),
            counted: figure.formula.is_none(),
            fault: figure.meaning == Meaning::Fault,
            interval: false,
        }));
    }
    all
}

fn declare<T: Measured>(all: &mut Vec<Declaration>, group: &str, slice: &'static [Statistic<T>]) {
    all.extend(slice.iter().map(|statistic| {
        let (formula, interval) = match &statistic.source {
            Source::Derived { formula, interval, .. } => {
                (Some((*formula).to_owned()), !matches!(interval, Interval::None))
            }
            _ => (None, false),
        };
        Declaration {
            group: group.to_owned(),
            name: statistic.name.to_owned(),
            unit: statistic.unit.name(),
            description: statistic.description.to_owned(),
            formula,
            counted: matches!(statistic.source, Source::Counter { .. }),
            fault: false,
            interval,
        }
    }));
}

const INTRODUCTION: &str = "\
# Statistics

Generated from the declarations: of a run, a configuration and its calls in
`crates/results/src/statistics`, of everything else in the models (`stats::counters!`). A test
compares the two. To update this page:
`MALLACC_UPDATE_DOCS=1 cargo test -p mallacc-sim --test all documents::`.

**Counters** are stored. **Derived** statistics are computed from counters whenever they are shown,
so they cannot disagree with them; where one would divide by zero, or has no baseline to compare
with, text shows `-` and JSON `null`. Names in the formula of a group are those of the group, or
`group.figure` of another group of the same part of the machine. Fractions are fractions of 1 in
JSON and CSV (0.25) and per cent in text (25 %). A speedup of 0.25 means that the baseline takes
1.25 times as long. The baseline of a configuration is the one with accelerator `none` on the same
machine.

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

## Seeds
The position of the stack, the placement of pages and DRAM timing differ from run to run and move
the figures, which no sampling interval shows. A run with several seeds (`--seeds`) therefore
simulates the same instructions again with these varied: pages lie in random frames, the stack moves
by up to 4 KB in steps of 32 bytes, and each DRAM read takes up to 2 ns less or more. With `--rerun`
each seed is a separate execution, with its own hash seeds too. Each seed `i` gives a figure `r_i`;
a speedup is taken from the baseline of the same seed. The counters and figures shown are those of
the first seed, which varies nothing. The interval around its figure is the smallest that contains
the interval of the mean over many seeds:

```
r_0 ± (|r_0 - mean(r)| + sqrt((t(0.975, n - 1) * s / sqrt(n))^2 + w^2))
```

where `s` is the standard deviation of the `r_i` and `w` half the width of the samples' interval, 0
in a run that was not sampled.

## Latency histogram
Every latency below 256 cycles has its own bucket. Above, each octave is cut into 16 buckets of
equal width. A percentile is the nearest rank: the smallest latency that at least that share of the
calls does not exceed; above 255 cycles it is the bucket's middle, at most 1/32 (3.2 %) away. Means,
minimum and maximum are exact. The buckets are stored as they are (`docs/schema.md`).

## Groups
Models declare what they count in groups; the sections from `core` on are the kinds of groups that
this version has. A group's path is its kind, followed by its name where a machine has several:
`cache.L1D`. In the store and in CSV a figure is `path.name`, in JSON it lies under the key of the
kind. A formula without a division is a sum of counters; it is stored like a counter. Where a
machine has parts of its own, as a chip has cores, paths begin with the part
(`core[3].cache.L1D`), and reports show the sum over alike parts.
";

/// The page `docs/statistics.md`, with the kinds of groups that `schema` has.
pub fn markdown(schema: &Schema) -> String {
    let mut page = INTRODUCTION.to_owned();
    let all = declarations(schema);
    for (group, about) in GROUPS {
        section(&mut page, group, about, &all);
    }
    for kind in schema.kinds() {
        section(&mut page, &kind.head.name, &about(schema, kind), &all);
    }
    page
}

/// The description of a kind of group, and where it appears.
fn about(schema: &Schema, kind: &Kind) -> String {
    let head = &kind.head;
    let paths: Vec<String> =
        schema.groups_of(kind).map(|group| format!("`{}`", group.path())).collect();
    let form = if head.list { "a list" } else { "an object, null where there is none" };
    let mut text = format!("{} In JSON under `{}`, {form}; ", head.about.trim(), head.key);
    let _ = write!(text, "paths: {}.", paths.join(", "));
    if let Some(whole) = &head.whole {
        let _ = write!(text, " The counters sum to `{whole}`.");
    }
    if let Some((left, right)) = &head.balance {
        let _ = write!(text, " `{left}` is `{right}`.");
    }
    text
}

fn section(page: &mut String, group: &str, about: &str, all: &[Declaration]) {
    let _ = write!(page, "\n## {group}\n{about}\n\n");
    let mut table = Table::new(["name", "unit", "what", "how"].map(Column::left));
    for statistic in all.iter().filter(|statistic| statistic.group == group) {
        let mark = if statistic.interval { " ±" } else { "" };
        let plain = match (statistic.counted, statistic.fault) {
            (true, true) => "counted over the whole run; must stay 0",
            (true, false) => "counted",
            (false, _) => "given",
        };
        let how = statistic.formula.as_ref().map(|text| format!("`{text}`{mark}"));
        let how = how.unwrap_or_else(|| plain.into());
        let (name, unit, what) = (&statistic.name, statistic.unit, &statistic.description);
        table.row([format!("`{name}`").as_str(), unit, what.as_str(), &how]);
    }
    page.push_str(&table.markdown());
}
