//! Both ends in one process.

use super::layout::{FULL_WORDS, SLOTS, Slot};
use super::producer::head_of;
use super::{Fate, LiveRing, LiveSource, Producer};
use crate::event::{self, Control, EXIT_SIGNALLED};
use crate::{BlockDef, Packet, Source, StreamError};
use std::sync::atomic::{AtomicBool, Ordering};

fn running() -> super::Watch {
    Box::new(|| Fate::Running)
}

fn push(slot: *mut Slot, word: u64) {
    let head = head_of(slot);
    // SAFETY: tests stay within the slot.
    unsafe {
        *(*head).cursor = word;
        (*head).cursor = (*head).cursor.add(1);
    }
}

fn block(addr: u64) -> BlockDef {
    BlockDef { id: 0, addr, lens: vec![1, 2], bytes: vec![0x90, 0x66, 0x90] }
}

fn all(source: &mut LiveSource) -> Vec<Packet> {
    let (mut packet, mut found) = (Packet::default(), Vec::new());
    while source.next(&mut packet).unwrap() {
        found.push(packet.clone());
    }
    found
}

#[test]
fn packets_arrive_in_order_with_definitions_before_their_first_use() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let rounds = 5 * SLOTS as u64;
    let feeder = std::thread::spawn(move || {
        let thread = producer.new_thread();
        let mut slot = producer.first_slot(thread);
        for round in 0..rounds {
            let id = producer.define(&mut block(round));
            push(slot, event::block(id));
            push(slot, event::mem(1, false, 3, round));
            // SAFETY: the slot is this thread's.
            slot = unsafe { producer.publish(slot) };
        }
        // SAFETY: not used again.
        unsafe { producer.retire(slot) };
        producer.finish();
    });
    let packets = all(&mut ring.into_source(running()));
    feeder.join().unwrap();
    assert_eq!(packets.len() as u64, rounds, "more than the ring holds at once");
    for (round, packet) in packets.iter().enumerate() {
        let expected = BlockDef { id: round as u32, ..block(round as u64) };
        assert_eq!(packet.blocks, [expected]);
        let words = [event::block(round as u32), event::mem(1, false, 3, round as u64)];
        assert_eq!(packet.events, words);
    }
}

#[test]
fn more_threads_than_slots_still_get_through() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let threads = 3 * SLOTS as u32;
    let feeder = std::thread::spawn(move || {
        let mut slots: Vec<_> = (0..threads)
            .map(|_| {
                let thread = producer.new_thread();
                producer.first_slot(thread)
            })
            .collect();
        for _ in 0..3 {
            for (thread, slot) in slots.iter_mut().enumerate() {
                push(*slot, event::control(Control::Syscall, 0, thread as u64));
                // SAFETY: one thread uses all slots.
                *slot = unsafe { producer.publish(*slot) };
            }
        }
        for slot in slots {
            // SAFETY: not used again.
            unsafe { producer.retire(slot) };
        }
        producer.finish();
    });
    let packets = all(&mut ring.into_source(running()));
    feeder.join().unwrap();
    let seen: Vec<u32> = packets.iter().map(|p| p.thread).collect();
    let expected: Vec<u32> = (0..3).flat_map(|_| 0..threads).collect();
    assert_eq!(seen, expected);
    for packet in packets {
        let word = event::control(Control::Syscall, 0, u64::from(packet.thread));
        assert_eq!(packet.events, [word]);
    }
}

#[test]
fn a_producer_that_dies_leaves_its_last_words_and_the_signal() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let thread = producer.new_thread();
    let slot = producer.first_slot(thread);
    let id = producer.define(&mut block(0x1000));
    push(slot, event::block(id));
    std::mem::forget(producer);
    let mut source = ring.into_source(Box::new(|| Fate::Killed(11)));
    let packets = all(&mut source);
    assert_eq!(packets.len(), 2);
    assert_eq!(packets[0].blocks, [block(0x1000)]);
    assert_eq!(packets[0].events, [event::block(0)]);
    assert_eq!(packets[1].events, [event::control(Control::Exit, 0, EXIT_SIGNALLED | 11)]);
}

#[test]
fn a_new_image_goes_on_with_the_numbers_of_the_old_one() {
    let ring = LiveRing::create().unwrap();
    let mut old = Producer::attach(ring.path()).unwrap();
    assert!(old.is_first_image());
    let main = old.new_thread();
    let slot = old.first_slot(main);
    let other = old.new_thread();
    old.first_slot(other);
    assert_eq!((main, other), (0, 1));
    push(slot, event::block(old.define(&mut block(1))));
    drop(old);
    let mut new = Producer::attach(ring.path()).unwrap();
    assert!(!new.is_first_image());
    let main = new.new_thread();
    assert_eq!(main, 0);
    let slot = new.first_slot(main);
    assert_eq!(new.new_thread(), 2);
    push(slot, event::control(Control::Exec, 0, 0));
    push(slot, event::block(new.define(&mut block(2))));
    // SAFETY: not used again.
    unsafe { new.retire(slot) };
    new.finish();
    let mut source = ring.into_source(running());
    let packets = all(&mut source);
    assert_eq!(source.counts().images, 2);
    assert_eq!(packets.iter().flat_map(|p| &p.blocks).map(|b| b.id).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(packets[0].events, [event::block(0)]);
    assert_eq!(packets[1].events[1], event::block(1));
}

#[test]
fn a_consumer_that_leaves_releases_a_waiting_producer() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    static WAITED: AtomicBool = AtomicBool::new(false);
    let feeder = std::thread::spawn(move || {
        let mut slot = producer.first_slot(0);
        for _ in 0..10 * SLOTS {
            push(slot, event::block(0));
            // SAFETY: the slot is this thread's.
            slot = unsafe { producer.publish(slot) };
        }
        WAITED.store(true, Ordering::Relaxed);
        assert!(producer.detached());
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!WAITED.load(Ordering::Relaxed), "{} slots are the bound", SLOTS);
    drop(ring.into_source(running()));
    feeder.join().unwrap();
}

#[test]
fn a_stopper_ends_a_source_that_waits() {
    let ring = LiveRing::create().unwrap();
    let stopper = ring.stopper();
    let mut source = ring.into_source(running());
    let waiter = std::thread::spawn(move || source.next(&mut Packet::default()));
    std::thread::sleep(std::time::Duration::from_millis(20));
    stopper.detach();
    assert!(!waiter.join().unwrap().unwrap());
}

#[test]
fn a_producer_that_never_came_is_an_error_with_its_exit_code() {
    let ring = LiveRing::create().unwrap();
    let mut source = ring.into_source(Box::new(|| Fate::Exited(1)));
    match source.next(&mut Packet::default()) {
        Err(StreamError::Feeder(text)) => assert!(text.contains("exit code 1"), "{text}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_damaged_ring_is_an_error() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let slot = producer.first_slot(0);
    push(slot, event::block(0));
    // SAFETY: the slot is ours; the damage is what is tested.
    unsafe {
        let kept = (*slot).head.base;
        let next = producer.publish(slot);
        assert_eq!((*slot).head.base, kept);
        (*slot).head.len = FULL_WORDS as u32 * 2;
        assert_ne!(next, slot);
    }
    let mut source = ring.into_source(running());
    assert!(matches!(source.next(&mut Packet::default()), Err(StreamError::Feeder(_))));
}
