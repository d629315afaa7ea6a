//! One machine on its own thread.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use decode::Block;
use uarch::{Core, Observer, Step};

use crate::batch::{Batch, Item};
use crate::totals::{Counters, OpenSample, Totals};

/// What a machine counted.
pub struct Measured {
    /// Over everything timed since the start or the region of interest.
    pub whole: Totals,
    /// Over the samples only.
    pub sampled: Totals,
    /// The samples.
    pub points: Vec<results::SamplePoint>,
    /// Names of the counters.
    pub names: Vec<String>,
    /// Invariant violations over the whole run, warmed or timed.
    pub violations: u64,
    /// Calls begun and not ended when timing stopped, or left by a jump.
    pub abandoned_calls: u64,
    /// All pops of the run, warmed or timed.
    pub pops: u64,
}

/// A machine at work.
pub struct Worker<O: Observer = ()> {
    core: Core<O>,
    /// Which of a batch's decodings is the core's.
    family: usize,
    blocks: Vec<Arc<Block>>,
    timed: bool,
    /// Reading at the start of the current timed stretch.
    stretch: Counters,
    sample: Option<OpenSample>,
    whole: Totals,
    sampled: Totals,
    points: Vec<results::SamplePoint>,
}

impl<O: Observer> Worker<O> {
    /// A machine at the start of the stream, of the given number among its core families.
    pub fn new(core: Core<O>, family: usize) -> Self {
        Self {
            stretch: Counters::read(&core),
            core,
            family,
            blocks: Vec::new(),
            timed: false,
            sample: None,
            whole: Totals::default(),
            sampled: Totals::default(),
            points: Vec::new(),
        }
    }

    /// Works until the channel closes.
    pub fn run(mut self, batches: &Receiver<Arc<Batch>>) -> Measured {
        while let Ok(batch) = batches.recv() {
            self.batch(&batch);
        }
        self.finish()
    }

    /// Takes one batch.
    pub fn batch(&mut self, batch: &Batch) {
        self.blocks.extend(batch.blocks.iter().map(|block| Arc::clone(&block[self.family])));
        let mut next = 0;
        for item in &batch.items {
            match *item {
                Item::Steps(count) => {
                    self.steps(batch, next, next + count as usize);
                    next += count as usize;
                }
                Item::Timed(timed) => self.set_timed(timed),
                Item::SampleBegin => {
                    self.drain_calls();
                    let from = Counters::read(&self.core);
                    self.sample = Some(OpenSample { from, ..OpenSample::default() });
                }
                Item::SampleEnd { instructions } => self.end_sample(instructions),
                Item::ContextSwitch => self.core.context_switch(),
                Item::Unmap { addr, len } => self.core.memory_mut().unmap(addr, len),
                Item::Restart => self.restart(),
            }
        }
        self.drain_calls();
    }

    fn steps(&mut self, batch: &Batch, from: usize, to: usize) {
        for record in &batch.steps[from..to] {
            let block = &*self.blocks[record.block as usize];
            let (address, value) = (record.first_address as usize, record.first_value as usize);
            let repeats = address + block.slots.len();
            let step = Step {
                block,
                addresses: &batch.addresses[address..repeats],
                repeats: &batch.addresses[repeats..repeats + record.repeats as usize],
                values: &batch.values[value..value + record.values as usize],
                next: record.next,
            };
            if self.timed {
                self.core.execute(&step);
            } else {
                self.core.warm(&step);
            }
        }
    }

    fn set_timed(&mut self, timed: bool) {
        if self.timed == timed {
            return;
        }
        self.drain_calls();
        if timed {
            self.stretch = Counters::read(&self.core);
        } else {
            self.end_stretch();
        }
        self.timed = timed;
        self.core.calls_mut().abandon();
    }

    fn end_stretch(&mut self) {
        let now = Counters::read(&self.core);
        self.whole.counters.add_difference(&self.stretch, &now);
        self.stretch = now;
    }

    fn drain_calls(&mut self) {
        let calls = &mut self.core.calls_mut().finished;
        self.whole.calls(calls);
        if let Some(sample) = &mut self.sample {
            sample.calls.extend_from_slice(calls);
        }
        calls.clear();
    }

    fn end_sample(&mut self, instructions: u64) {
        self.drain_calls();
        let Some(sample) = self.sample.take() else { return };
        let now = Counters::read(&self.core);
        self.points.push(sample.finish(&now, instructions, &mut self.sampled));
    }

    fn restart(&mut self) {
        self.drain_calls();
        self.core.calls_mut().abandon();
        self.sample = None;
        self.whole = Totals::default();
        self.sampled = Totals::default();
        self.points.clear();
        self.stretch = Counters::read(&self.core);
    }

    /// The stream is over. A sample still open is dropped with its calls.
    pub fn finish(mut self) -> Measured {
        self.drain_calls();
        if self.timed {
            self.end_stretch();
        }
        let counters = self.core.accelerator().counters();
        Measured {
            names: Counters::names(&self.core),
            violations: counters.invariant_violations,
            pops: counters.pop_hits + counters.pop_misses,
            abandoned_calls: self.core.calls_mut().abandoned,
            whole: self.whole,
            sampled: self.sampled,
            points: self.points,
        }
    }
}
