//! What the uops of a block did in the core model: their ports, the divider's time, and when they
//! would be done if nothing but their operands held them up.

use decode::{Reg, Uop, UopFlags, UopKind};
use memory::Alias;
use uarch::{Observer, Times};

use crate::unroll::PLACE_MASK;

/// Ports have numbers below this.
const PORTS: usize = 16;
/// Stores that a load is compared with: more than any store queue has.
const STORES: usize = 128;

/// A uop of the dependence graph.
#[derive(Clone, Copy)]
struct Node {
    /// Its instruction, and its number among the uops of that.
    place: (u16, u16),
    copy: u64,
    /// When it would be done.
    done: u64,
    /// The uop that it would wait for.
    after: Option<usize>,
}

/// A store's data uop.
#[derive(Clone, Copy)]
struct Stored {
    address: u64,
    size: u64,
    /// When it would issue, and when it did in the core.
    free_issue: u64,
    issued: u64,
    after: Option<usize>,
}

/// The chain of operations that takes longest from copy to copy.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Chain {
    /// Cycles per iteration.
    pub cycles: f64,
    /// Its instructions, by index in the block, each with the cycles that it adds.
    pub steps: Vec<(usize, u64)>,
    /// Iterations that these steps span.
    pub iterations: u64,
}

/// The uops of an instruction.
#[derive(Clone, Debug, Default)]
pub struct Issued {
    /// Those that issued to each port.
    pub ports: [u64; PORTS],
    /// Those that needed none.
    pub renamed: u64,
    /// Cycles that they kept the divider busy.
    pub divider: u64,
}

impl Issued {
    /// All of them.
    pub fn uops(&self) -> u64 {
        self.ports.iter().sum::<u64>() + self.renamed
    }
}

/// Observes the measured copies.
pub struct Trace {
    watching: bool,
    copy: u64,
    addresses: Vec<u64>,
    sizes: Vec<u64>,
    store_forward: u64,
    /// The uops of each instruction.
    pub issued: Vec<Issued>,
    nodes: Vec<Node>,
    last: [Option<usize>; Reg::COUNT],
    stores: Vec<Stored>,
    /// The latest `done` after each copy.
    done: Vec<u64>,
    place: (u16, u16),
    /// A load waited for a store that it overlaps in part, which the graph cannot express.
    unclear: bool,
}

impl Trace {
    /// For a block of so many instructions, whose memory operands have these sizes in bytes, on a
    /// core that forwards a store in so many cycles.
    pub fn new(instructions: usize, sizes: Vec<u64>, store_forward: u64) -> Self {
        Self {
            watching: false,
            copy: 0,
            addresses: Vec::new(),
            sizes,
            store_forward,
            issued: vec![Issued::default(); instructions],
            nodes: Vec::new(),
            last: [None; Reg::COUNT],
            stores: Vec::new(),
            done: Vec::new(),
            place: (u16::MAX, 0),
            unclear: false,
        }
    }

    /// The next uops are those of a copy with these addresses.
    pub fn begin(&mut self, addresses: &[u64]) {
        self.copy += u64::from(self.watching);
        self.watching = true;
        self.place = (u16::MAX, 0);
        self.addresses.clear();
        self.addresses.extend_from_slice(addresses);
    }

    /// After the uops of a copy.
    pub fn end(&mut self) {
        let latest = self.done.last().copied().unwrap_or(0);
        let from = self.nodes.partition_point(|node| node.copy < self.copy);
        let own = self.nodes[from..].iter().map(|node| node.done);
        self.done.push(own.fold(latest, u64::max));
    }

    /// The chain that takes longest, from the second half of the copies; `None` if copies do not
    /// depend on each other, or if a load waited in a way that is not known.
    pub fn chain(&self) -> Option<Chain> {
        let (all, half) = (self.done.len(), self.done.len() / 2);
        if self.unclear || all < 2 {
            return None;
        }
        let longer = self.done[all - 1] - self.done[half - 1];
        let cycles = longer as f64 / (all - half) as f64;
        let end = (0..self.nodes.len()).rev().find(|&at| self.nodes[at].done == self.done[all - 1]);
        let (steps, iterations) = self.round(end?, half as u64)?;
        Some(Chain { cycles, steps, iterations })
    }

    /// One round of the chain that leads to a node: from a uop back to the same uop of an earlier
    /// copy.
    fn round(&self, end: usize, first_copy: u64) -> Option<(Vec<(usize, u64)>, u64)> {
        let mut path = vec![end];
        while let Some(before) = self.nodes[*path.last()?].after {
            if self.nodes[before].copy < first_copy {
                break;
            }
            path.push(before);
        }
        // The uops at the end may only hang on the chain: start where the path repeats.
        for (at, &node) in path.iter().enumerate() {
            let uop = self.nodes[node].place;
            let again = path[at + 1..].iter().position(|&n| self.nodes[n].place == uop);
            if let Some(length) = again {
                let round = &path[at..=at + length + 1];
                let iterations = self.nodes[node].copy - self.nodes[*round.last()?].copy;
                return Some((self.steps(round), iterations));
            }
        }
        None
    }

    /// The cycles that each instruction adds between the last node of a path and its first.
    fn steps(&self, path: &[usize]) -> Vec<(usize, u64)> {
        let mut steps: Vec<(usize, u64)> = Vec::new();
        for pair in path.windows(2).rev() {
            let (node, before) = (self.nodes[pair[0]], self.nodes[pair[1]]);
            let (instruction, cycles) = (usize::from(node.place.0), node.done - before.done);
            match steps.last_mut() {
                Some((last, sum)) if *last == instruction => *sum += cycles,
                _ if cycles > 0 => steps.push((instruction, cycles)),
                _ => {}
            }
        }
        steps
    }

    /// When the uop's operands would be there, and the last uop to give one.
    fn operands(&self, uop: &Uop) -> (u64, Option<usize>) {
        let producers = uop.srcs.iter().filter(|src| **src != Reg::NONE);
        let producers = producers.filter_map(|src| self.last[usize::from(src.0)]);
        let latest = producers.max_by_key(|&at| self.nodes[at].done);
        (latest.map_or(0, |at| self.nodes[at].done), latest)
    }

    fn operand(&self, uop: &Uop) -> Option<(u64, u64)> {
        let at = usize::from(uop.mem_operand);
        Some((*self.addresses.get(at)? & PLACE_MASK, *self.sizes.get(at)?))
    }

    /// When a load would be done, given its operands, and what it would wait for.
    fn loaded(
        &mut self,
        uop: &Uop,
        times: Times,
        free: (u64, Option<usize>),
    ) -> (u64, Option<usize>) {
        let cycles = times.completed - times.issued;
        let alone = (free.0 + cycles, free.1);
        let Some((address, size)) = self.operand(uop) else { return alone };
        let overlaps = |store: &&Stored| {
            address < store.address + store.size && store.address < address + size
        };
        let Some(store) = self.stores.iter().rev().find(overlaps).copied() else { return alone };
        let forward = self.store_forward + u64::from(uop.flags.has(UopFlags::VECTOR));
        let extra = u64::from(uop.latency);
        let inside = store.address <= address && address + size <= store.address + store.size;
        let forwarded = (times.issued + forward - 1).max(store.issued + forward) + extra;
        if inside && times.completed == forwarded {
            let by_data = (store.free_issue + forward + extra, store.after);
            let by_address = (free.0 + forward - 1 + extra, free.1);
            return if by_data.0 > by_address.0 { by_data } else { by_address };
        }
        // The store was in the cache already, or the load waited for that.
        self.unclear |= cycles > forward + 1 + extra;
        alone
    }

    fn count(&mut self, uop: &Uop, times: Times) {
        let Some(seen) = self.issued.get_mut(usize::from(uop.insn)) else { return };
        match times.port {
            Some(port) => seen.ports[usize::from(port)] += 1,
            None => seen.renamed += 1,
        }
        seen.divider += u64::from(uop.busy);
    }
}

impl Observer for Trace {
    type Mapping = Alias;

    fn executed(&mut self, uop: &Uop, times: Times) {
        if !self.watching {
            return;
        }
        self.count(uop, times);
        let free = self.operands(uop);
        let (done, after) = match uop.kind {
            // Rename gives results without delay.
            _ if times.port.is_none() => free,
            UopKind::Load => self.loaded(uop, times, free),
            _ => (free.0 + (times.completed - times.issued), free.1),
        };
        if uop.kind == UopKind::StoreData
            && let Some((address, size)) = self.operand(uop)
        {
            if self.stores.len() == 2 * STORES {
                self.stores.drain(..STORES);
            }
            let (free_issue, after) = free;
            self.stores.push(Stored { address, size, free_issue, issued: times.issued, after });
        }
        self.place =
            if self.place.0 == uop.insn { (uop.insn, self.place.1 + 1) } else { (uop.insn, 0) };
        self.nodes.push(Node { place: self.place, copy: self.copy, done, after });
        for dst in uop.dsts.iter().filter(|dst| **dst != Reg::NONE) {
            self.last[usize::from(dst.0)] = Some(self.nodes.len() - 1);
        }
    }
}
