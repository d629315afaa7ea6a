//! The whole predictor.

use crate::branch::{BranchKind, Outcome};
use crate::btb::Btb;
use crate::history::History;
use crate::indirect::Indirect;
use crate::loops::Loops;
use crate::params::PredictParams;
use crate::ras::ReturnStack;
use crate::statistics::PredictStatistics;
use crate::tage::{Tage, spread};
use params::ConfigError;

/// Direction, indirect target and return prediction of one core.
///
/// ```
/// use mallacc_predict::{BranchKind, PredictParams, Predictor};
/// let mut predictor = Predictor::new(&PredictParams::default()).unwrap();
/// for n in 0..1_000 {
///     let outcome =
///         predictor.predict_and_update(BranchKind::Conditional, 0x400, true, 0x300, 0x402);
///     assert!(n == 0 || outcome == Default::default());
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Predictor {
    history: History,
    tage: Tage,
    loops: Loops,
    indirect: Indirect,
    btb: Btb,
    returns: ReturnStack,
    statistics: PredictStatistics,
}

impl Predictor {
    /// An untrained predictor, or an error for the first rule that the parameters break.
    pub fn new(params: &PredictParams) -> Result<Self, ConfigError> {
        params.validate()?;
        let tage = &params.tage;
        let index_bits = tage.entries.trailing_zeros();
        Ok(Self {
            history: History::new(&tage.histories, index_bits, tage.tag_bits),
            tage: Tage::new(tage),
            loops: Loops::new(params.loops.entries),
            indirect: Indirect::new(&params.indirect, tage),
            btb: Btb::new(&params.btb),
            returns: ReturnStack::new(params.returns.entries),
            statistics: PredictStatistics::default(),
        })
    }

    /// Predicts the branch at `pc` and trains with its outcome: whether it was `taken` (true unless
    /// it is a conditional branch), its `target` when taken, and `next_pc`, the address of the
    /// instruction that follows it in memory (where a call returns to).
    ///
    /// Call it for every branch, in program order. A branch injected by an accelerator is predicted
    /// in the same way, under an address that no instruction has.
    #[inline]
    pub fn predict_and_update(
        &mut self,
        kind: BranchKind,
        pc: u64,
        taken: bool,
        target: u64,
        next_pc: u64,
    ) -> Outcome {
        let outcome = if kind == BranchKind::Conditional {
            self.conditional(pc, taken, target)
        } else {
            self.always(kind, pc, target, next_pc)
        };
        let counters = &mut self.statistics.kinds[kind as usize];
        counters.executed += 1;
        counters.taken += u64::from(taken);
        counters.mispredicted += u64::from(outcome.mispredicted);
        counters.btb_misses += u64::from(outcome.btb_miss);
        outcome
    }

    /// Trains without returning a prediction: the same state and counters as
    /// [`Predictor::predict_and_update`].
    #[inline]
    pub fn warm(&mut self, kind: BranchKind, pc: u64, taken: bool, target: u64, next_pc: u64) {
        self.predict_and_update(kind, pc, taken, target, next_pc);
    }

    #[inline]
    fn conditional(&mut self, pc: u64, taken: bool, target: u64) -> Outcome {
        let direction = self.tage.predict_and_update(pc, taken, &self.history);
        let predicted = self.loops.predict_and_update(pc, direction, taken);
        self.history.push(taken);
        let held = if taken {
            self.btb.taken(pc, target).is_some()
        } else {
            !predicted || self.btb.holds(pc)
        };
        Outcome { mispredicted: predicted != taken, btb_miss: predicted && !held }
    }

    fn always(&mut self, kind: BranchKind, pc: u64, target: u64, next_pc: u64) -> Outcome {
        let last = self.btb.taken(pc, target);
        let predicted = match kind {
            BranchKind::Conditional | BranchKind::Jump | BranchKind::Call => Some(target),
            BranchKind::IndirectJump | BranchKind::IndirectCall => {
                self.indirect.predict_and_update(pc, last, target, &self.history)
            }
            BranchKind::Return => self.returns.pop().or(last),
        };
        match kind {
            // A call to the next instruction only reads the instruction pointer; the stack ignores
            // it (Intel's Optimization Reference Manual, on inlining and call/return).
            BranchKind::Call | BranchKind::IndirectCall if target != next_pc => {
                self.returns.push(next_pc);
            }
            _ => {}
        }
        self.remember(kind, pc, target);
        Outcome { mispredicted: predicted != Some(target), btb_miss: last.is_none() }
    }

    /// Unconditional branches enter the history too: which way an indirect branch went, and from
    /// where a function was called.
    fn remember(&mut self, kind: BranchKind, pc: u64, target: u64) {
        match kind {
            BranchKind::IndirectJump | BranchKind::IndirectCall => {
                let hash = spread(target);
                self.history.push(hash >> 63 != 0);
                self.history.push(hash >> 62 & 1 != 0);
            }
            BranchKind::Call => self.history.push(spread(pc) >> 63 != 0),
            BranchKind::Conditional | BranchKind::Jump | BranchKind::Return => {}
        }
    }

    /// The counters since the last reset.
    pub fn statistics(&self) -> PredictStatistics {
        self.statistics
    }

    /// Sets all counters to zero; the learned state stays.
    pub fn reset_statistics(&mut self) {
        self.statistics = PredictStatistics::default();
    }
}
