//! Event cycles of every uop of a few iterations.

use decode::{Uop, UopFlags, UopKind};
use documents::{Column, Layout, Table};
use memory::Alias;
use uarch::{Observer, Times};

/// One uop and its event cycles, counted from the first event of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct UopEvents {
    /// Iteration, from 0.
    pub iteration: u64,
    /// Index of its instruction in the block.
    pub instruction: usize,
    /// Its kind: `exec`, `load`, `store-address`, `store-data`, `rename` (needs no execution unit).
    pub kind: &'static str,
    /// Shares its slot with the previous uop.
    pub fused: bool,
    /// Port, if it needed one.
    pub port: Option<u8>,
    /// Entered the decoded-uop queue.
    pub delivered: u64,
    /// Was allocated.
    pub allocated: u64,
    /// Its operands were ready.
    pub ready: u64,
    /// Left the reservation station.
    pub issued: u64,
    /// Its result was ready.
    pub completed: u64,
    /// Its fused uop retired.
    pub retired: u64,
}

/// The uops of some iterations in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Timeline {
    /// Instructions of the block in assembly language.
    pub instructions: Vec<String>,
    /// Their uops.
    pub uops: Vec<UopEvents>,
}

/// Collects events from the core.
#[derive(Default)]
pub struct UopLog {
    watching: bool,
    iteration: u64,
    delivered: u64,
    allocated: u64,
    /// First uop of the fused uop in progress.
    open: usize,
    uops: Vec<UopEvents>,
}

impl UopLog {
    /// The following events belong to this iteration.
    pub fn begin(&mut self, iteration: u64) {
        self.watching = true;
        self.iteration = iteration;
    }

    /// The timeline, with cycles counted from its first event.
    pub fn finish(mut self, instructions: Vec<String>) -> Timeline {
        let start = self.uops.iter().map(|u| u.delivered).min().unwrap_or(0);
        for u in &mut self.uops {
            let cycles = [
                &mut u.delivered,
                &mut u.allocated,
                &mut u.ready,
                &mut u.issued,
                &mut u.completed,
                &mut u.retired,
            ];
            cycles.into_iter().for_each(|cycle| *cycle = cycle.saturating_sub(start));
        }
        Timeline { instructions, uops: self.uops }
    }
}

impl Observer for UopLog {
    type Mapping = Alias;

    fn allocated(&mut self, delivered: u64, allocated: u64) {
        self.delivered = delivered;
        self.allocated = allocated;
        self.open = self.uops.len();
    }

    fn delayed(&mut self, allocated: u64) {
        self.allocated = allocated;
        let from = self.open.min(self.uops.len());
        self.uops[from..].iter_mut().for_each(|u| u.allocated = allocated);
    }

    fn executed(&mut self, uop: &Uop, times: Times) {
        if !self.watching {
            return;
        }
        let kind = match uop.kind {
            _ if times.port.is_none() => "rename",
            UopKind::Exec => "exec",
            UopKind::Load => "load",
            UopKind::StoreAddress => "store-address",
            UopKind::StoreData => "store-data",
        };
        let split = uop.flags.has(UopFlags::UNLAMINATED);
        self.uops.push(UopEvents {
            iteration: self.iteration,
            instruction: usize::from(uop.insn),
            kind,
            fused: uop.flags.has(UopFlags::FUSED) && !split,
            port: times.port,
            delivered: self.delivered,
            allocated: self.allocated,
            ready: times.ready,
            issued: times.issued,
            completed: times.completed,
            retired: 0,
        });
    }

    fn retired(&mut self, cycle: u64) {
        let from = self.open.min(self.uops.len());
        self.uops[from..].iter_mut().for_each(|u| u.retired = cycle);
    }
}

impl Timeline {
    /// One line per uop with its event cycles.
    pub fn text(&self) -> String {
        let right = |name: &str, width: usize| Column::right(name).at_least(width).after(1);
        let mut table = Table::new([
            Column::right("iter"),
            // As wide as the widest of all instructions, including those without uops.
            Column::left("instruction")
                .at_least(self.instructions.iter().map(|i| i.chars().count()).max().unwrap_or(0))
                .after(1),
            Column::left("uop").at_least(13).after(1),
            right("port", 4),
            right("delivered", 9),
            right("allocated", 9),
            right("ready", 6),
            right("issued", 6),
            right("completed", 9),
            right("retired", 7),
        ]);
        let mut last = None;
        for u in &self.uops {
            let place = (u.iteration, u.instruction);
            let known = self.instructions.get(u.instruction).map_or("", String::as_str);
            let name = if last == Some(place) { "" } else { known };
            last = Some(place);
            table.row([
                u.iteration.to_string(),
                name.to_owned(),
                format!("{}{}", if u.fused { "+ " } else { "" }, u.kind),
                u.port.map_or("-".to_owned(), |p| p.to_string()),
                u.delivered.to_string(),
                u.allocated.to_string(),
                u.ready.to_string(),
                u.issued.to_string(),
                u.completed.to_string(),
                u.retired.to_string(),
            ]);
        }
        table.text(&Layout::PLAIN)
    }
}
