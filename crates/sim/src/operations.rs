//! The operations that a program requests of a malloc cache, extracted from its instruction stream.
//! These operation streams drive the RTL (`mcache::ops`).

use mcache::ops::Op;
use stream::event::{self, Event};
use stream::{MarkerOp, Packet, Source, StreamError, marker};

/// Follows the blocks of a stream and converts their markers into operations.
#[derive(Default)]
pub struct Operations {
    /// Markers of each block, in order.
    markers: Vec<Vec<MarkerOp>>,
    block: Option<u32>,
    values: Vec<u64>,
    thread: u32,
}

impl Operations {
    /// Passes the operations of the whole stream to `sink`, in program order. `sink` returns false
    /// to stop early. Returns the number of operations.
    pub fn read(
        source: &mut dyn Source,
        mut sink: impl FnMut(Op) -> bool,
    ) -> Result<u64, StreamError> {
        let mut operations = Self::default();
        let mut packet = Packet::default();
        let (mut count, mut goes_on) = (0, true);
        while goes_on && source.next(&mut packet)? {
            operations.packet(&packet, &mut |op| {
                if goes_on {
                    count += 1;
                    goes_on = sink(op);
                }
            });
        }
        operations.close(&mut |op| {
            if goes_on {
                count += 1;
                goes_on = sink(op);
            }
        });
        Ok(count)
    }

    fn packet(&mut self, packet: &Packet, sink: &mut impl FnMut(Op)) {
        for block in &packet.blocks {
            let (sites, _) = marker::scan(block.insns().map(|(_, code)| code));
            self.markers.push(sites.iter().map(|site| site.op).collect());
        }
        if packet.thread != self.thread {
            self.close(sink);
            self.thread = packet.thread;
            sink(Op::Flush);
        }
        let mut words = packet.events.iter();
        while let Some(&word) = words.next() {
            match event::decode(word) {
                Some(Event::Block { id }) => {
                    self.close(sink);
                    self.block = Some(id);
                }
                Some(Event::Value { .. }) => self.values.extend(words.next()),
                Some(Event::Control { extra, .. }) => {
                    words.by_ref().take(usize::from(extra)).for_each(drop);
                }
                Some(Event::Mem { .. }) | None => {}
            }
        }
    }

    /// The block in progress is complete: its markers have all their values.
    fn close(&mut self, sink: &mut impl FnMut(Op)) {
        let markers = self.block.take().and_then(|id| self.markers.get(id as usize));
        let mut values = self.values.iter().copied();
        for &op in markers.into_iter().flatten() {
            let mut operands = [0; 4];
            for (to, from) in operands.iter_mut().zip(values.by_ref().take(op.values())) {
                *to = from;
            }
            if let Some(op) = operation(op, operands) {
                sink(op);
            }
        }
        self.values.clear();
    }
}

/// The operation of a marker; `None` if a malloc cache does not react to it.
fn operation(op: MarkerOp, [a, b, c, d]: [u64; 4]) -> Option<Op> {
    Some(match op {
        MarkerOp::Lookup => Op::Lookup { size: a },
        MarkerOp::Update => Op::Update { size: a, alloc_size: b, class: c as u32 },
        MarkerOp::Sample => Op::Sample { size: a },
        MarkerOp::Pop => Op::Pop { class: a as u32 },
        MarkerOp::PopEnd => Op::PopEnd { head: a, next: b },
        MarkerOp::Push => Op::Push { class: a as u32, pointer: b },
        MarkerOp::Prefetch => Op::Prefetch { class: a as u32, head: b, next: c, word: d },
        MarkerOp::Invalidate => Op::Invalidate { class: a as u32 },
        MarkerOp::Flush => Op::Flush,
        _ => return None,
    })
}
