//! Passes markers to the accelerator and its replies back.

use accel::{Accelerator, Completed, Marker, Reply};
use decode::Reg;
use stream::MarkerOp;
use stream::marker::MarkerSite;

use memory::Mapping;

use super::Functional;
use crate::calls::SizeClass;
use crate::step::Step;

/// Counters for the branches to software fallbacks; an allocator has a handful of them.
const FALLBACKS: usize = 64;

/// The accelerator, and what it has decided about the instructions that follow.
pub struct Markers {
    accelerator: Box<dyn Accelerator>,
    /// Kept for its buffers.
    reply: Reply,
    elide_until: Option<MarkerOp>,
    /// Two-bit counters that predict the branches to the software fallbacks, by carrier address.
    fallbacks: [u8; FALLBACKS],
}

/// The response to a marker. The core injects the uops, then the branch, and hands it back
/// ([`Markers::take_back`]).
pub struct MarkerReply {
    /// The accelerator's answer.
    pub reply: Reply,
    /// The branch to the software fallback, if there is one, was mispredicted.
    pub mispredicted: bool,
}

impl Markers {
    pub(super) fn new(accelerator: Box<dyn Accelerator>) -> Self {
        Self { accelerator, reply: Reply::default(), elide_until: None, fallbacks: [0; FALLBACKS] }
    }

    /// The accelerator.
    pub fn accelerator(&self) -> &dyn Accelerator {
        &*self.accelerator
    }

    /// Whether instructions are being left out.
    #[inline(always)]
    pub fn eliding(&self) -> bool {
        self.elide_until.is_some()
    }

    /// The times of an injected uop with a token are known.
    pub fn completed(&mut self, completed: Completed) {
        self.accelerator.completed(completed);
    }

    /// Takes a reply back.
    pub fn take_back(&mut self, reply: MarkerReply) {
        self.reply = reply.reply;
    }

    pub(super) fn context_switch(&mut self) {
        self.accelerator.context_switch();
        self.elide_until = None;
    }

    /// An elided region ends at its closing marker, and at whatever says that it was left. An
    /// elided call contains the markers of its steps.
    fn end_region(&mut self, op: MarkerOp) {
        let Some(end) = self.elide_until else { return };
        let leaves = match op {
            MarkerOp::CallEnd | MarkerOp::CallBegin(_) => true,
            MarkerOp::Invalidate
            | MarkerOp::Flush
            | MarkerOp::Lookup
            | MarkerOp::Sample
            | MarkerOp::Pop => end != MarkerOp::CallEnd,
            _ => false,
        };
        if op == end || leaves {
            self.elide_until = None;
        }
    }

    /// Whether the branch to the software fallback is mispredicted. It has counters of its own: the
    /// branch exists only where there is an accelerator, and must not affect the prediction of the
    /// program's branches.
    fn mispredicts(&mut self, pc: u64, taken: bool) -> bool {
        let counter = &mut self.fallbacks[(pc as usize >> 2) % FALLBACKS];
        let predicted = *counter >= 2;
        *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
        predicted != taken
    }
}

impl<M: Mapping> Functional<M> {
    /// A marker executes. `began`, if the core keeps time: when the first instruction of the
    /// marker's block retired, 0 if it has not yet ([`crate::CallTracker::begin`]); without it,
    /// calls neither begin nor end.
    pub fn marker(
        &mut self,
        site: &MarkerSite,
        values: &[u64],
        pc: u64,
        began: Option<u64>,
    ) -> MarkerReply {
        let mut marker = Marker { op: site.op, regs: site.regs.map(Reg::gpr), values: [0; 4], pc };
        for (to, from) in marker.values.iter_mut().zip(values) {
            *to = *from;
        }
        self.markers.end_region(site.op);
        match (site.op, began) {
            (MarkerOp::CallBegin(kind), Some(began)) => {
                self.calls.begin(kind, marker.values[0], began);
            }
            (MarkerOp::CallEnd, Some(_)) => self.calls.end(),
            (MarkerOp::Update, _) => {
                let [_, bytes, number, _] = marker.values;
                self.calls.class(SizeClass { number: number as u8, bytes });
            }
            (MarkerOp::Trash, _) => self.memory.trash_lru_half(),
            _ => {}
        }
        let markers = &mut self.markers;
        let mut reply = std::mem::take(&mut markers.reply);
        reply.clear();
        markers.accelerator.on_marker(&marker, &mut reply);
        let mispredicted = reply.fallback.is_some_and(|f| markers.mispredicts(pc, f.taken));
        if reply.elide.is_some() {
            markers.elide_until = reply.elide;
        }
        MarkerReply { reply, mispredicted }
    }
}

/// The markers of a step, instruction by instruction.
pub struct SiteCursor<'a> {
    sites: &'a [MarkerSite],
    values: &'a [u64],
}

impl<'a> SiteCursor<'a> {
    /// Positioned before the step's first instruction.
    pub fn new(step: &Step<'a>) -> Self {
        Self { sites: &step.block.markers, values: step.values }
    }

    /// The marker that instruction `index` carries, with its operands' values; `None` if values are
    /// missing. Indices must increase from call to call.
    pub fn at(&mut self, index: usize) -> Option<(&'a MarkerSite, &'a [u64])> {
        let (site, rest) = self.sites.split_first()?;
        if usize::from(site.insn) != index {
            return None;
        }
        self.sites = rest;
        let Some((values, rest)) = self.values.split_at_checked(site.op.values()) else {
            self.values = &[];
            return Some((site, &[]));
        };
        self.values = rest;
        Some((site, values))
    }
}
