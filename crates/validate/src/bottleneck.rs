//! What bounds a block: each limit alone, as the core model has it, beside the cycles of all
//! together.
//!
//! | limit | how it is found |
//! |---|---|
//! | a port, the divider | how long the block's uops kept it busy in the measured copies |
//! | the dependency chain | the uops' latencies in those copies, without ports and without widths |
//! | fetch to allocation | the same code on the same core, but its uops need no execution |
//!
//! A limit of as many cycles as the block took is a bottleneck. If no limit is, none is named.

use std::collections::BTreeMap;
use std::fmt;

use documents::{Column, Table};
use serde::{Serialize, Serializer};

use crate::blocks::Prediction;
use crate::trace::{Chain, Issued, Trace};

/// A limit of at least this share of the block's cycles is a bottleneck: rounding to whole periods
/// takes up to a cycle in a hundred copies.
const REACHED: f64 = 0.99;
/// Uops and cycles per iteration below this are those of single copies.
const VISIBLE: f64 = 0.005;

/// A part of the core that a block occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The chain of dependent operations.
    Chain,
    /// A port, by its number.
    Port(u8),
    /// The unit that divides.
    Divider,
    /// Fetch, decode, allocation and retirement.
    Fetch,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain => f.write_str("dependency chain"),
            Self::Port(number) => write!(f, "port {number}"),
            Self::Divider => f.write_str("divider"),
            Self::Fetch => f.write_str("fetch to allocation"),
        }
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The cycles per iteration that a part would take alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// The part.
    pub part: Part,
    /// Cycles per iteration.
    pub cycles: f64,
}

/// An instruction and its uops.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Instruction {
    /// In assembly language.
    pub text: String,
    /// Uops per iteration, with those that need no port.
    pub uops: f64,
    /// Those that issue to each port.
    pub ports: BTreeMap<u8, f64>,
    /// Whether it uses the divider.
    #[serde(skip)]
    divides: bool,
}

/// Where the cycles of a block come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The prediction that it explains.
    #[serde(skip)]
    pub prediction: Prediction,
    /// Numbers of the core's ports.
    #[serde(skip)]
    pub ports: Vec<u8>,
    /// The instructions in order.
    pub instructions: Vec<Instruction>,
    /// The chain, if iterations depend on each other.
    pub chain: Option<Chain>,
    /// What each part would take alone, the longest first; parts that the block does not use are
    /// left out.
    pub limits: Vec<Limit>,
}

impl Analysis {
    /// From what the observer saw. `fetched`: cycles per iteration without execution.
    pub fn new(
        prediction: Prediction,
        text: Vec<String>,
        ports: Vec<u8>,
        trace: &Trace,
        fetched: f64,
    ) -> Self {
        let per_iteration = |count: u64| count as f64 / prediction.iterations as f64;
        let instruction = |(text, seen): (String, &Issued)| Instruction {
            text,
            uops: per_iteration(seen.uops()),
            ports: ports
                .iter()
                .map(|&port| (port, per_iteration(seen.ports[usize::from(port)])))
                .filter(|(_, uops)| *uops >= VISIBLE)
                .collect(),
            divides: seen.divider > 0,
        };
        let instructions: Vec<_> = text.into_iter().zip(&trace.issued).map(instruction).collect();
        let chain = trace.chain().filter(|chain| chain.cycles >= VISIBLE);
        let busy = |port: &u8| instructions.iter().filter_map(|i| i.ports.get(port)).sum();
        let port = |port: &u8| Limit { part: Part::Port(*port), cycles: busy(port) };
        let mut limits: Vec<_> = ports.iter().map(port).collect();
        let divider = trace.issued.iter().map(|seen| seen.divider).sum();
        limits.push(Limit { part: Part::Divider, cycles: per_iteration(divider) });
        limits.push(Limit { part: Part::Fetch, cycles: fetched });
        limits.extend(chain.as_ref().map(|c| Limit { part: Part::Chain, cycles: c.cycles }));
        limits.retain(|limit| limit.cycles >= VISIBLE);
        limits.sort_by(|a, b| b.cycles.total_cmp(&a.cycles).then(a.part.cmp(&b.part)));
        Self { prediction, ports, instructions, chain, limits }
    }

    fn is_bottleneck(&self, limit: &Limit) -> bool {
        limit.cycles >= REACHED * self.prediction.cycles_per_iteration
    }

    /// The parts that take as long as the block does.
    pub fn bottlenecks(&self) -> Vec<Part> {
        let reached = self.limits.iter().filter(|limit| self.is_bottleneck(limit));
        reached.map(|limit| limit.part).collect()
    }

    /// Their names; `none alone` without one.
    pub fn short(&self) -> String {
        let names: Vec<_> = self.bottlenecks().iter().map(Part::to_string).collect();
        if names.is_empty() { "none alone".to_owned() } else { names.join(", ") }
    }

    /// The bottleneck, and what the other parts would take.
    pub fn sentence(&self) -> String {
        let cycles = self.prediction.cycles_per_iteration;
        let (reached, others): (Vec<&Limit>, Vec<&Limit>) =
            self.limits.iter().partition(|limit| self.is_bottleneck(limit));
        let alone = alone(&others);
        if reached.is_empty() {
            let stack =
                self.prediction.bound_by.iter().map(|(name, share)| {
                    format!("{} {:.0} %", name.replace('_', " "), share * 100.0)
                });
            let stack = stack.collect::<Vec<_>>().join(", ");
            return format!(
                "No single bottleneck: no part alone takes the {cycles:.2} cycles per iteration.\
                 {alone} CPI stack: {stack}."
            );
        }
        let shared = self.ports_together(&reached);
        let parts: Vec<_> = shared.iter().map(|parts| self.described(parts)).collect();
        let (noun, verb) = if shared.iter().flatten().count() > 1 {
            ("Bottlenecks", "each take")
        } else {
            ("Bottleneck", "takes")
        };
        let parts = listed(&parts);
        format!("{noun}: {parts} {verb} {cycles:.2} of {cycles:.2} cycles per iteration.{alone}")
    }

    /// The parts, with all ports in one group.
    fn ports_together(&self, limits: &[&Limit]) -> Vec<Vec<Part>> {
        let is_port = |limit: &&&Limit| matches!(limit.part, Part::Port(_));
        let ports: Vec<_> = limits.iter().filter(is_port).map(|limit| limit.part).collect();
        let others = limits.iter().filter(|limit| !is_port(limit)).map(|limit| vec![limit.part]);
        others.chain((!ports.is_empty()).then_some(ports)).collect()
    }

    /// A group of parts with the instructions that occupy them.
    fn described(&self, parts: &[Part]) -> String {
        let numbers: Vec<_> = parts.iter().filter_map(Part::port).collect();
        let using = |uses: &dyn Fn(&Instruction) -> bool| {
            let texts = self.instructions.iter().filter(|i| uses(i)).map(|i| i.text.clone());
            some(texts.collect())
        };
        match parts {
            [Part::Chain] => {
                let Some(chain) = &self.chain else { return phrase(Part::Chain) };
                let step = |(at, cycles): &(usize, u64)| {
                    format!("{} ({cycles})", self.instructions[*at].text)
                };
                let steps: Vec<_> = chain.steps.iter().map(step).collect();
                let span = match chain.iterations {
                    1 => String::new(),
                    more => format!(" over {more} iterations"),
                };
                format!("the dependency chain{span} [{}]", steps.join(" → "))
            }
            [Part::Divider] => format!("the divider [{}]", using(&|i| i.divides)),
            [Part::Fetch] => "fetch, decode and allocation".to_owned(),
            _ => {
                let of_these =
                    |i: &Instruction| numbers.iter().any(|port| i.ports.contains_key(port));
                let plural = if numbers.len() > 1 { "s" } else { "" };
                let numbers: Vec<_> = numbers.iter().map(u8::to_string).collect();
                format!("port{plural} {} [{}]", listed(&numbers), using(&of_these))
            }
        }
    }

    /// The uops of each instruction by port.
    pub fn table(&self) -> Table {
        let mut columns = vec![Column::left("instruction"), Column::right("uops").at_least(5)];
        columns.extend(self.ports.iter().map(|port| Column::right(format!("p{port}")).at_least(5)));
        let mut table = Table::new(columns);
        let shown = |uops: f64| if uops < VISIBLE { "-".to_owned() } else { format!("{uops:.2}") };
        for i in &self.instructions {
            let cell = |port| shown(i.ports.get(port).copied().unwrap_or(0.0));
            let cells = [i.text.clone(), shown(i.uops)];
            table.row(cells.into_iter().chain(self.ports.iter().map(cell)));
        }
        let sum = |port| self.instructions.iter().filter_map(|i| i.ports.get(port)).sum();
        let all = self.instructions.iter().map(|i| i.uops).sum();
        let cells = ["all".to_owned(), shown(all)];
        table.row(cells.into_iter().chain(self.ports.iter().map(|port| shown(sum(port)))));
        table
    }
}

impl Part {
    fn port(&self) -> Option<u8> {
        match self {
            Self::Port(number) => Some(*number),
            _ => None,
        }
    }
}

/// What the parts that are no bottleneck would take; of the ports, the busiest stands for all.
fn alone(limits: &[&Limit]) -> String {
    let busiest = limits.iter().find_map(|limit| limit.part.port());
    let shown = limits.iter().filter(|limit| limit.part.port().is_none_or(|p| Some(p) == busiest));
    let shown = shown.enumerate().map(|(at, limit)| {
        let take = if at == 0 { " would take" } else { "" };
        format!("{}{take} {:.2}", phrase(limit.part), limit.cycles)
    });
    let shown: Vec<_> = shown.collect();
    if shown.is_empty() { String::new() } else { format!(" Alone, {}.", listed(&shown)) }
}

/// A part within a sentence.
fn phrase(part: Part) -> String {
    match part {
        Part::Port(_) | Part::Fetch => part.to_string(),
        Part::Chain | Part::Divider => format!("the {part}"),
    }
}

/// `a, b and c`.
fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The first three.
fn some(mut items: Vec<String>) -> String {
    let more = items.len().saturating_sub(3);
    items.truncate(3);
    let rest = if more > 0 { format!("; {more} more") } else { String::new() };
    format!("{}{rest}", items.join("; "))
}
