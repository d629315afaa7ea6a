//! The figures and tables: names, titles, definitions.

use crate::subject::{Kind, Subject};

/// A figure or table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Figure {
    Fig1,
    Fig2,
    Fig4,
    Fig6,
    Fig13,
    Fig14,
    Fig15,
    Fig16,
    Fig17,
    Fig18,
    Table1,
    Table2,
}

/// The fixed description of a figure.
struct Card {
    figure: Figure,
    name: &'static str,
    title: &'static str,
    /// How its numbers are derived from runs, in one to three sentences.
    definition: &'static str,
}

const CARDS: &[Card] = &[
    Card {
        figure: Figure::Fig1,
        name: "fig1",
        title: "Cost of malloc calls by pool, perl",
        definition: "Share of all malloc cycles by call duration, in bins of half an octave. A \
                     peak is a local maximum that holds at least 1 % of the cycles; between two \
                     peaks some bin is no higher than half the lower one.",
    },
    Card {
        figure: Figure::Fig2,
        name: "fig2",
        title: "Time in malloc by call duration",
        definition: "Share of all malloc cycles in calls shorter than the given number of \
                     cycles; baseline.",
    },
    Card {
        figure: Figure::Fig4,
        name: "fig4",
        title: "The fast path's three components",
        definition: "Cycles saved when a step costs nothing (limit study of that step alone), \
                     over all malloc calls, as a share of the baseline's cycles in calls under \
                     100 cycles.",
    },
    Card {
        figure: Figure::Fig6,
        name: "fig6",
        title: "Size classes in use",
        definition: "The smallest number of size classes that covers the given share of the \
                     allocations.",
    },
    Card {
        figure: Figure::Fig13,
        name: "fig13",
        title: "Allocator time, malloc and free",
        definition: "Baseline cycles inside allocator calls over those with 32 entries (and \
                     those of the limit study), less 1; 95 % interval paired by sample.",
    },
    Card {
        figure: Figure::Fig14,
        name: "fig14",
        title: "Time in malloc calls, fast and slow",
        definition: "As Figure 13, for the calls that allocate memory.",
    },
    Card {
        figure: Figure::Fig15,
        name: "fig15",
        title: "Duration of malloc calls, Xapian",
        definition: "Share of malloc cycles by call duration for baseline, 32 entries and limit \
                     study, and the median and mean duration.",
    },
    Card {
        figure: Figure::Fig16,
        name: "fig16",
        title: "Duration of malloc calls, xalan",
        definition: "As Figure 15. What the list part alone saves is measured by the \
                     configuration that has only this part.",
    },
    Card {
        figure: Figure::Fig17,
        name: "fig17",
        title: "Malloc speedup by entries of the malloc cache",
        definition: "Baseline cycles per malloc call over those with the given number of \
                     entries, less 1. The inflection is the smallest size that reaches 90 % of \
                     the largest size's gain.",
    },
    Card {
        figure: Figure::Fig18,
        name: "fig18",
        title: "Share of time in the allocator",
        definition: "Cycles inside allocator calls over all cycles; baseline.",
    },
    Card {
        figure: Figure::Table1,
        name: "table1",
        title: "Validation of the core model",
        definition: "The paper compares microbenchmarks with a Haswell. Here the core is \
                     compared with public measurements of basic blocks on a Haswell (mean \
                     absolute error), which is shown beside the paper's error without a \
                     verdict. The baseline's microbenchmark figures are compared with those \
                     that the paper states.",
    },
    Card {
        figure: Figure::Table2,
        name: "table2",
        title: "Speedup of whole programs",
        definition: "Baseline cycles over those with 32 entries, less 1: mean and deviation \
                     over seeds, p of a one-sided two-sample t-test of the two sets of times \
                     (the paper's test), and the paired 95 % interval over seeds. A seed moves \
                     the stack and sets hash seeds and QEMU's randomness.",
    },
];

impl Figure {
    /// All of them, in the paper's order.
    pub fn all() -> impl Iterator<Item = Self> {
        CARDS.iter().map(|card| card.figure)
    }

    fn card(self) -> &'static Card {
        &CARDS[self as usize]
    }

    /// The name on the command line: `fig17`, `table2`.
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// The name in the paper: `Figure 17`, `Table 2`.
    pub fn label(self) -> String {
        let name = self.name();
        match (name.strip_prefix("fig"), name.strip_prefix("table")) {
            (Some(number), _) => format!("Figure {number}"),
            (_, Some(number)) => format!("Table {number}"),
            _ => name.to_owned(),
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        self.card().title
    }

    /// How its numbers are derived.
    pub fn definition(self) -> &'static str {
        self.card().definition
    }

    /// Reads `fig17`, `figure17`, `Figure 17`, `17`, `table2`, `tab2`. The error names the valid
    /// ones.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain: String = text.to_lowercase().split_whitespace().collect();
        let (word, number) = match plain.find(|c: char| c.is_ascii_digit()) {
            Some(at) => plain.split_at(at),
            None => (plain.as_str(), ""),
        };
        let name = match word.trim_end_matches('.') {
            "" | "f" | "fig" | "figure" => format!("fig{number}"),
            "t" | "tab" | "table" => format!("table{number}"),
            _ => plain.clone(),
        };
        Self::all().find(|figure| figure.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(Self::name).collect();
            format!("figure {text:?}: unknown; the known ones are {}", names.join(", "))
        })
    }

    /// Whether this program appears in it.
    pub fn concerns(self, subject: &Subject) -> bool {
        match self {
            Self::Fig1 => subject.name == "perl",
            Self::Fig4 | Self::Fig17 | Self::Table1 => subject.kind == Kind::Micro,
            Self::Fig15 => subject.name.starts_with("xapian"),
            Self::Fig16 => subject.name == "xalan",
            _ => subject.kind == Kind::Program,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_figure_finds_its_own_card() {
        for figure in Figure::all() {
            assert_eq!(figure.card().figure, figure);
            assert_eq!(Figure::parse(figure.name()), Ok(figure));
            assert_eq!(Figure::parse(&figure.label()), Ok(figure));
        }
    }

    #[test]
    fn names_are_read_in_the_forms_that_people_write() {
        for text in ["17", "fig17", "Fig. 17", "figure17", "FIGURE 17"] {
            assert_eq!(Figure::parse(text), Ok(Figure::Fig17), "{text}");
        }
        assert_eq!(Figure::parse("tab 2"), Ok(Figure::Table2));
    }

    #[test]
    fn an_unknown_figure_names_the_known_ones() {
        for text in ["", "fig3", "table", "3", "x17", "fig"] {
            let error = Figure::parse(text).unwrap_err();
            assert!(error.contains("fig17") && error.contains("table2"), "{text}: {error}");
        }
    }
}
