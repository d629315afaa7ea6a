//! Regions: what opens closes, with values that agree.

use std::collections::HashMap;

use stream::MarkerOp;

use crate::code::Spot;
use crate::finding::{Findings, Kind};

/// The malloc cache's classes have 8 bits.
const CLASS_MAX: u64 = 255;

/// A region that is open in a thread.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    /// The marker that opened it.
    pub op: MarkerOp,
    /// Where.
    pub at: Spot,
    /// Its operand: size or class.
    pub operand: u64,
}

/// The region of one thread.
#[derive(Default)]
pub struct Regions {
    open: Option<Open>,
    /// The last computed class in this call: requested size and bytes handed out.
    pub computed: Option<(u64, u64)>,
}

impl Regions {
    /// The open region.
    pub fn open(&self) -> Option<Open> {
        self.open
    }

    /// A region opens.
    pub fn begin(&mut self, op: MarkerOp, operand: u64, at: Spot, findings: &mut Findings) {
        self.end_any(at, findings);
        self.open = Some(Open { op, at, operand });
        if op == MarkerOp::Pop && operand > CLASS_MAX {
            findings.add(Kind::ClassTooLarge, at, None);
        }
    }

    /// The closing marker of regions that `op` opens; returns the region.
    pub fn end(&mut self, op: MarkerOp, at: Spot, findings: &mut Findings) -> Option<Open> {
        if let Some(open) = self.open.filter(|open| open.op == op) {
            self.open = None;
            return Some(open);
        }
        self.end_any(at, findings);
        let alone = match op {
            MarkerOp::Lookup => Kind::UpdateAlone,
            MarkerOp::Sample => Kind::SampleEndAlone,
            _ => Kind::PopEndAlone,
        };
        findings.add(alone, at, None);
        None
    }

    /// A marker that belongs into no region, at which an open one ends.
    pub fn end_any(&mut self, at: Spot, findings: &mut Findings) {
        let Some(open) = self.open.take() else { return };
        let kind = match open.op {
            MarkerOp::Lookup => Kind::LookupOpen,
            MarkerOp::Sample => Kind::SampleOpen,
            _ => Kind::PopOpen,
        };
        findings.add(kind, open.at, Some(at));
    }

    /// A list of this class (`None`: every list) is declared unknown. The pop of an empty list ends
    /// like this; returns its class.
    pub fn invalidate(
        &mut self,
        class: Option<u64>,
        at: Spot,
        findings: &mut Findings,
    ) -> Option<u64> {
        match self.open {
            Some(Open { op: MarkerOp::Pop, operand, .. }) if class.is_none_or(|c| c == operand) => {
                self.open = None;
                Some(operand)
            }
            _ => {
                self.end_any(at, findings);
                None
            }
        }
    }

    /// A new image or call.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What `UPDATE` markers have said so far.
#[derive(Default)]
pub struct Classes {
    /// Bytes of each class.
    bytes: HashMap<u64, u64>,
    /// Class of each requested size.
    of_size: HashMap<u64, u64>,
}

impl Classes {
    /// Checks the values of an `UPDATE` that closed `lookup`.
    pub fn update(
        &mut self,
        [size, bytes, class]: [u64; 3],
        lookup: Option<Open>,
        at: Spot,
        findings: &mut Findings,
    ) {
        if let Some(lookup) = lookup.filter(|lookup| lookup.operand != size) {
            findings.add(Kind::UpdateSize, at, Some(lookup.at));
        }
        if bytes < size {
            findings.add(Kind::SizeTooSmall, at, None);
        }
        if class > CLASS_MAX {
            findings.add(Kind::ClassTooLarge, at, None);
        }
        let known = *self.bytes.entry(class).or_insert(bytes);
        if known != bytes || *self.of_size.entry(size).or_insert(class) != class {
            findings.add(Kind::ClassAmbiguous, at, None);
        }
    }

    /// A new image may have another allocator.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
