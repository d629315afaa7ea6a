//! One machine on its own thread.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use decode::Block;
use results::Phase;
use stats::{Layout, Reading};
use uarch::{Core, Steps};

use crate::batch::{Batch, Item};
use crate::course::Course;
use crate::measured::Measured;
use crate::totals::{OpenSample, Totals};
use crate::variation::Stack;

/// A running machine.
pub struct Worker {
    core: Box<dyn Core>,
    /// Index of the core's view among a batch's decodings.
    view: usize,
    blocks: Vec<Arc<Block>>,
    timed: bool,
    /// Counters at the start of the current timed stretch.
    stretch: Reading,
    sample: Option<OpenSample>,
    whole: Totals,
    sampled: Totals,
    points: Vec<results::SamplePoint>,
    stack: Stack,
    course: Course,
    /// Cycles and allocator cycles at the start of the open phase.
    phase_from: (u64, u64),
}

impl Worker {
    /// A machine at the start of the stream. `view` is the index of its view of code in each batch,
    /// `seed` is the machine's.
    pub fn new(core: Box<dyn Core>, view: usize, seed: u64) -> Self {
        Self {
            stretch: Reading::of(&*core),
            core,
            view,
            blocks: Vec::new(),
            timed: false,
            sample: None,
            whole: Totals::default(),
            sampled: Totals::default(),
            points: Vec::new(),
            stack: Stack::new(seed),
            course: Course::default(),
            phase_from: (0, 0),
        }
    }

    /// Runs until the channel closes.
    pub fn run(mut self, batches: &Receiver<Arc<Batch>>) -> Measured {
        while let Ok(batch) = batches.recv() {
            self.batch(&batch);
        }
        self.finish()
    }

    /// Executes one batch.
    pub fn batch(&mut self, batch: &Batch) {
        self.blocks.extend(batch.blocks.iter().map(|block| Arc::clone(&block[self.view])));
        let mut next = 0;
        for item in &batch.items {
            match *item {
                Item::Steps(count) => {
                    self.steps(batch, next, next + count as usize);
                    next += count as usize;
                }
                Item::Timed(timed) => self.set_timed(timed),
                Item::Caller(caller) => self.core.state_mut().calls_mut().caller = caller,
                Item::SampleBegin => {
                    self.drain_calls();
                    let from = Reading::of(&*self.core);
                    self.sample =
                        Some(OpenSample { from, start: self.core.cycles(), calls: Vec::new() });
                }
                Item::SampleEnd { instructions } => self.end_sample(instructions),
                Item::PhaseEnd { instructions } => self.end_phase(instructions),
                Item::ContextSwitch => self.core.context_switch(),
                Item::Unmap { addr, len } => self.core.state_mut().unmap(addr, len),
                Item::Stack(addr) => self.stack.begins(addr),
                Item::Restart => self.restart(),
            }
        }
        self.drain_calls();
    }

    fn steps(&mut self, batch: &Batch, from: usize, to: usize) {
        let records = &batch.steps[from..to];
        let first = |step: usize| {
            let record = batch.steps.get(step);
            record.map_or(batch.addresses.len(), |record| record.first_address as usize)
        };
        let addresses = match self.stack.moves() {
            true => self.stack.moved(&batch.addresses, first(from)..first(to)),
            false => &batch.addresses,
        };
        let steps = Steps::new(&self.blocks, records, addresses, &batch.values);
        self.core.run(steps, self.timed);
    }

    fn set_timed(&mut self, timed: bool) {
        if self.timed == timed {
            return;
        }
        self.drain_calls();
        if timed {
            self.stretch = Reading::of(&*self.core);
        } else {
            self.end_stretch();
        }
        self.timed = timed;
        self.core.state_mut().calls_mut().abandon();
    }

    fn end_stretch(&mut self) {
        let now = Reading::of(&*self.core);
        self.whole.counters.add_difference(&self.stretch, &now);
        self.stretch = now;
    }

    fn drain_calls(&mut self) {
        let calls = &mut self.core.state_mut().calls_mut().finished;
        self.whole.calls(calls);
        if let Some(sample) = &mut self.sample {
            sample.calls.extend_from_slice(calls);
        }
        calls.clear();
    }

    fn end_sample(&mut self, instructions: u64) {
        self.drain_calls();
        let Some(sample) = self.sample.take() else { return };
        let now = Reading::of(&*self.core);
        let end = self.core.cycles();
        self.points.push(sample.finish(&now, end, instructions, &mut self.sampled));
    }

    fn end_phase(&mut self, instructions: u64) {
        self.drain_calls();
        let now = (self.core.cycles(), self.whole.allocator_cycles);
        let (cycles, allocator_cycles) = self.phase_from;
        self.course.add(Phase {
            instructions,
            cycles: now.0 - cycles,
            allocator_cycles: now.1 - allocator_cycles,
        });
        self.phase_from = now;
    }

    fn restart(&mut self) {
        self.drain_calls();
        self.core.state_mut().calls_mut().abandon();
        self.sample = None;
        self.whole = Totals::default();
        self.sampled = Totals::default();
        self.points.clear();
        self.course = Course::default();
        self.phase_from = (self.core.cycles(), 0);
        self.stretch = Reading::of(&*self.core);
    }

    /// The stream has ended. A sample that is still open is dropped with its calls.
    pub fn finish(mut self) -> Measured {
        self.drain_calls();
        if self.timed {
            self.end_stretch();
        }
        Measured {
            layout: Layout::of(&*self.core),
            last: Reading::of(&*self.core),
            checks: self.core.state().accelerator().checks(),
            abandoned_calls: self.core.state_mut().calls_mut().abandoned,
            whole: self.whole,
            sampled: self.sampled,
            points: self.points,
            phases: self.course.finish(),
            replicates: Vec::new(),
        }
    }
}
