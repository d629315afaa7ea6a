//! A core with hand-assembled code, and the event times of every uop.
#![allow(dead_code)]

use accel::Choice;
use decode::{Block, Decoder, Uop};
use mallacc_uarch::{Machine, NO_ADDRESS, Observer, OutOfOrder, Step, Times};
use memory::{Flat, Mapping};
use std::marker::PhantomData;
use stream::BlockDef;
use stream::marker::{MAGIC, MarkerOp, SLOT};

/// Where the test's data lies: one page, touched before anything is timed.
pub const DATA: u64 = 0x10_0000;

/// What was observed of one fused uop.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub delivered: u64,
    pub allocated: u64,
    pub retired: u64,
    /// It waited for an entry of the RS, LQ or SQ.
    pub delayed: bool,
    /// Its uops: none for those that the core inserts.
    pub uops: Vec<(Uop, Times)>,
}

/// Keeps all event times of a core with this mapping of data addresses.
pub struct Log<M>(pub Vec<Seen>, PhantomData<M>);

impl<M: Mapping> Observer for Log<M> {
    type Mapping = M;

    fn allocated(&mut self, delivered: u64, allocated: u64) {
        self.0.push(Seen { delivered, allocated, ..Seen::default() });
    }
    fn delayed(&mut self, allocated: u64) {
        let slot = self.0.last_mut().unwrap();
        (slot.allocated, slot.delayed) = (allocated, true);
    }
    fn executed(&mut self, uop: &Uop, times: Times) {
        self.0.last_mut().unwrap().uops.push((*uop, times));
    }
    fn retired(&mut self, cycle: u64) {
        self.0.last_mut().unwrap().retired = cycle;
    }
}

/// A core under test.
pub struct Rig<M: Mapping = Flat> {
    pub machine: Machine,
    pub core: OutOfOrder<Log<M>>,
    decoder: Decoder,
    blocks: u32,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(Machine::default())
    }

    pub fn with(machine: Machine) -> Self {
        Self::accelerated(machine, "none")
    }

    pub fn accelerated(machine: Machine, accelerator: &str) -> Self {
        Self::mapped(machine, accelerator)
    }
}

impl<M: Mapping> Rig<M> {
    pub fn mapped(machine: Machine, accelerator: &str) -> Self {
        let accelerator = Choice::parse(accelerator).unwrap().build().unwrap();
        let core = OutOfOrder::new(&machine, accelerator, Log(Vec::new(), PhantomData)).unwrap();
        let decoder = machine.view().unwrap().decoder();
        Self { machine, core, decoder, blocks: 0 }
    }

    /// Decodes instructions, each a hexadecimal text, at an address.
    pub fn block(&mut self, addr: u64, insns: &[&str]) -> Block {
        let codes: Vec<Vec<u8>> = insns.iter().map(|text| bytes(text)).collect();
        let def = BlockDef {
            id: self.blocks,
            addr,
            lens: codes.iter().map(|c| c.len() as u8).collect(),
            bytes: codes.concat(),
        };
        self.blocks += 1;
        let block = self.decoder.block(&def);
        assert_eq!(block.unknown, 0, "{insns:?}");
        block
    }

    /// Touches code and data so that neither misses.
    pub fn touch(&mut self, block: &Block, addresses: &[u64]) {
        self.core.functional_mut().warm(&Step {
            block,
            addresses,
            repeats: &[],
            values: &[],
            next: 0,
        });
    }

    /// Executes a block once.
    pub fn step(&mut self, block: &Block, addresses: &[u64], next: u64) {
        self.core.execute(&Step { block, addresses, repeats: &[], values: &[], next });
    }

    /// Executes a block once with marker values.
    pub fn step_marked(&mut self, block: &Block, addresses: &[u64], values: &[u64]) {
        self.core.execute(&Step { block, addresses, repeats: &[], values, next: 0 });
    }

    /// Average cycles of a block over the second half of `count` executions in place, with marker
    /// values.
    pub fn repeated(&mut self, block: &Block, values: &[u64], count: u64) -> f64 {
        let mut middle = 0;
        for i in 0..count {
            if i == count / 2 {
                middle = self.core.cycles();
            }
            self.step_marked(block, &[], values);
        }
        (self.core.cycles() - middle) as f64 / (count - count / 2) as f64
    }

    /// Average cycles of one iteration of straight-line code, laid out back to back, over the
    /// second half of `count` iterations. All memory operands have the addresses given.
    pub fn unrolled(&mut self, insns: &[&str], addresses: &[u64], count: u64) -> f64 {
        let mut at = 0x40_0000;
        let first = self.block(at, insns);
        let len = u64::from(first.len);
        let mut middle = 0;
        for i in 0..count {
            let block = Block { addr: at, ..first.clone() };
            let block = shift(block, at - first.addr);
            self.touch(&block, addresses);
            if i == count / 2 {
                middle = self.core.cycles();
            }
            self.step(&block, addresses, at + len);
            at += len;
        }
        (self.core.cycles() - middle) as f64 / (count - count / 2) as f64
    }

    /// Average cycles of one iteration of a loop whose last instruction is a taken backward branch.
    pub fn looped(&mut self, insns: &[&str], addresses: &[u64], count: u64) -> f64 {
        let block = self.block(0x40_0000, insns);
        self.touch(&block, addresses);
        let mut middle = 0;
        for i in 0..count {
            if i == count / 2 {
                middle = self.core.cycles();
            }
            self.step(&block, addresses, block.addr);
        }
        (self.core.cycles() - middle) as f64 / (count - count / 2) as f64
    }

    /// Event times so far.
    pub fn log(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.core.observer_mut().0)
    }
}

fn shift(mut block: Block, by: u64) -> Block {
    block.branch.addr += by;
    block.branch.next += by;
    block
}

/// Bytes of a hexadecimal text; blanks are ignored.
pub fn bytes(text: &str) -> Vec<u8> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap())
        .collect()
}

/// A marker's machine code as hexadecimal texts.
pub fn marker(op: MarkerOp, regs: &[u8]) -> Vec<String> {
    let first = regs.first().copied().unwrap_or(0);
    let displacement = (MAGIC + u32::from(op.code())).to_le_bytes();
    let text = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let mut code = vec![format!("0f1f{:02x}{}", 0x80 | first, text(&displacement))];
    let slot = text(&SLOT.to_le_bytes());
    code.extend(regs.iter().map(|reg| format!("4889{:02x}24{slot}", 0x84 | reg << 3)));
    code
}

/// No memory operand has an address.
pub const NOWHERE: u64 = NO_ADDRESS;

/// Asserts that two cycle counts agree to a hundredth.
#[track_caller]
pub fn close(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 0.011, "measured {measured}, expected {expected}");
}
