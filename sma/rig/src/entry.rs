//! The fuzz entry: takes bytes and panics if heap and model disagree.

use crate::drive::{Driver, Strict, decode};
use crate::memory::Memory;
use sma::{Checked, Deferred, Exact, Fine, Heap, Lm, Long, PowerOfTwo, Quick, state_words};

const BYTES: usize = 2048;

/// The first byte selects the kind of heap; the rest are operations.
pub fn run(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let mut memory = Memory::new(BYTES, state_words::<32, Checked>(BYTES));
    let (region, state) = memory.parts();
    match kind % 5 {
        0 => {
            let heap = Heap::<128, PowerOfTwo, Checked>::new(region, state).unwrap();
            let mut driver = Driver::new(&heap, Strict::Places);
            decode(bytes).for_each(|op| driver.apply(op));
            driver.compare(heap.survey(), heap.check());
        }
        1 => {
            let heap = Heap::<32, Exact, Checked, Long>::new(region, state).unwrap();
            let mut driver = Driver::new(&heap, Strict::Places);
            decode(bytes).for_each(|op| driver.apply(op));
            driver.compare(heap.survey(), heap.check());
        }
        2 => {
            let heap = Fine::<64, PowerOfTwo, Checked>::new(region, state).unwrap();
            let mut driver = Driver::new(&heap, Strict::Places);
            decode(bytes).for_each(|op| driver.apply(op));
            driver.compare(heap.survey(), heap.check());
        }
        3 => {
            let heap = Heap::<32, PowerOfTwo, Checked>::new(region, state).unwrap();
            let pool = Deferred::<_, Quick>::new(&heap).unwrap();
            let mut driver = Driver::new(&pool, Strict::Refusals);
            decode(bytes).for_each(|op| driver.apply(op));
            pool.flush();
            driver.compare(heap.survey(), heap.check());
        }
        _ => {
            let heap = Heap::<128, Exact, Checked>::new(region, state).unwrap();
            let pool = Deferred::<_, Lm<Exact>>::new(&heap).unwrap();
            let mut driver = Driver::new(&pool, Strict::Refusals);
            decode(bytes).for_each(|op| driver.apply(op));
            pool.flush();
            driver.compare(heap.survey(), heap.check());
        }
    }
}
