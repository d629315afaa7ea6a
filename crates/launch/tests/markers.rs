//! Marker values compared with their meaning: free lists behave like lists.

use crate::common::{Bench, options, run_each};
use std::collections::HashMap;
use stream::Packet;
use stream::event::{Event, decode};
use stream::marker::{self, MarkerOp, MarkerSite};

/// Markers with their values, in the order of execution of one thread.
#[derive(Default)]
struct Reader {
    blocks: Vec<Vec<MarkerSite>>,
    current: Vec<MarkerSite>,
    values: Vec<u64>,
}

impl Reader {
    fn read(&mut self, packet: &Packet, mut each: impl FnMut(MarkerOp, &[u64])) {
        for block in &packet.blocks {
            let (sites, broken) = marker::scan(block.insns().map(|(_, code)| code));
            assert_eq!(broken, [], "block at {:#x}", block.addr);
            self.blocks.push(sites);
        }
        let mut words = packet.events.iter();
        while let Some(&word) = words.next() {
            match decode(word).unwrap() {
                Event::Block { id } => {
                    assert!(
                        self.values.is_empty() && self.current.iter().all(|s| s.op.values() == 0)
                    );
                    self.current.clone_from(&self.blocks[id as usize]);
                }
                Event::Value { insn } => {
                    // Markers without values are removed together with the next one.
                    self.current.retain(|s| s.op.values() > 0);
                    let site = self.current[0];
                    let operand = self.values.len().min(site.op.operands() - 1);
                    assert_eq!(usize::from(insn), usize::from(site.insn) + 1 + operand);
                    self.values.push(*words.next().unwrap());
                    if self.values.len() == site.op.values() {
                        each(site.op, &self.values);
                        self.values.clear();
                        self.current.remove(0);
                    }
                }
                Event::Control { extra, .. } => (0..extra).for_each(|_| {
                    words.next().unwrap();
                }),
                Event::Mem { .. } => {}
            }
        }
    }
}

#[test]
fn what_a_prefetch_marker_reads_is_what_the_next_pop_finds() {
    let Some(options) = options() else { return };
    let bench = Bench::new();
    let program = bench.compile("alloc.c", &[]);
    let mut reader = Reader::default();
    // Maps each class to its list's head and the word there, as long as nothing else changes the
    // list.
    let mut lists: HashMap<u64, (u64, u64)> = HashMap::new();
    let (mut class, mut confirmed, mut sizes) = (0, 0, 0);
    let run = run_each(options, &[&program], |packet| {
        reader.read(packet, |op, values| match (op, values) {
            (MarkerOp::Pop, &[of]) => class = of,
            (MarkerOp::PopEnd, &[head, next]) => {
                if let Some((expected, after)) = lists.remove(&class) {
                    assert_eq!((head, next), (expected, after));
                    confirmed += 1;
                }
            }
            (MarkerOp::Prefetch, &[of, _, next, word]) => {
                assert_eq!(of, class);
                if next != 0 {
                    lists.insert(of, (next, word));
                }
            }
            (MarkerOp::Push, &[of, _]) | (MarkerOp::Invalidate, &[of]) => {
                lists.remove(&of);
            }
            (MarkerOp::CallBegin(_), &[size]) => sizes += u64::from((1..=500).contains(&size)),
            _ => {}
        });
    });
    run.unwrap();
    // 20,000 calls to malloc of 1 to 500 bytes; about half of the pops follow a pop.
    assert!(sizes >= 20_000, "{sizes}");
    assert!(confirmed > 1_000, "{confirmed}");
}
