//! Both ends in one process.

use super::layout::{BUFFERS, Buffer, FULL_WORDS};
use super::producer::head_of;
use super::{Fate, LiveRing, LiveSource, Producer};
use crate::event::{self, Control, EXIT_SIGNALLED};
use crate::{BlockDef, ObjectDef, Packet, Source, StreamError};
use std::sync::atomic::{AtomicBool, Ordering};

fn running() -> super::Watch {
    Box::new(|| Fate::Running)
}

fn push(buffer: *mut Buffer, word: u64) {
    let head = head_of(buffer);
    // SAFETY: tests stay within the buffer.
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
    let rounds = 5 * BUFFERS as u64;
    let feeder = std::thread::spawn(move || {
        let thread = producer.new_thread();
        let mut buffer = producer.first_buffer(thread);
        for round in 0..rounds {
            let id = producer.define(&mut block(round));
            push(buffer, event::block(id));
            push(buffer, event::mem(1, false, 3, round));
            // SAFETY: the buffer is this thread's.
            buffer = unsafe { producer.publish(buffer) };
        }
        // SAFETY: not used again.
        unsafe { producer.retire(buffer) };
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
fn an_object_arrives_with_the_first_block_that_it_holds_for() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let thread = producer.new_thread();
    let buffer = producer.first_buffer(thread);
    push(buffer, event::block(producer.define(&mut block(1))));
    let mut object = ObjectDef { addr: 2, len: 3, path: "/a".into(), ..ObjectDef::default() };
    producer.define_object(&mut object);
    push(buffer, event::block(producer.define(&mut block(2))));
    // SAFETY: not used again.
    unsafe { producer.retire(buffer) };
    producer.finish();
    let packets = all(&mut ring.into_source(running()));
    assert_eq!(packets[0].objects, [ObjectDef { first_block: 1, ..object }]);
    assert_eq!(packets[0].blocks.len(), 2);
}

#[test]
fn more_threads_than_buffers_still_get_through() {
    let ring = LiveRing::create().unwrap();
    let mut producer = Producer::attach(ring.path()).unwrap();
    let threads = 3 * BUFFERS as u32;
    let feeder = std::thread::spawn(move || {
        let mut buffers: Vec<_> = (0..threads)
            .map(|_| {
                let thread = producer.new_thread();
                producer.first_buffer(thread)
            })
            .collect();
        for _ in 0..3 {
            for (thread, buffer) in buffers.iter_mut().enumerate() {
                push(*buffer, event::control(Control::Syscall, 0, thread as u64));
                // SAFETY: one thread uses all buffers.
                *buffer = unsafe { producer.publish(*buffer) };
            }
        }
        for buffer in buffers {
            // SAFETY: not used again.
            unsafe { producer.retire(buffer) };
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
    let buffer = producer.first_buffer(thread);
    let id = producer.define(&mut block(0x1000));
    push(buffer, event::block(id));
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
    let buffer = old.first_buffer(main);
    let other = old.new_thread();
    old.first_buffer(other);
    assert_eq!((main, other), (0, 1));
    push(buffer, event::block(old.define(&mut block(1))));
    drop(old);
    let mut new = Producer::attach(ring.path()).unwrap();
    assert!(!new.is_first_image());
    let main = new.new_thread();
    assert_eq!(main, 0);
    let buffer = new.first_buffer(main);
    assert_eq!(new.new_thread(), 2);
    push(buffer, event::control(Control::Exec, 0, 0));
    push(buffer, event::block(new.define(&mut block(2))));
    // SAFETY: not used again.
    unsafe { new.retire(buffer) };
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
        let mut buffer = producer.first_buffer(0);
        for _ in 0..10 * BUFFERS {
            push(buffer, event::block(0));
            // SAFETY: the buffer is this thread's.
            buffer = unsafe { producer.publish(buffer) };
        }
        WAITED.store(true, Ordering::Relaxed);
        assert!(producer.detached());
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!WAITED.load(Ordering::Relaxed), "{} buffers are the bound", BUFFERS);
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
    let buffer = producer.first_buffer(0);
    push(buffer, event::block(0));
    // SAFETY: the buffer is ours; the damage is what is tested.
    unsafe {
        let kept = (*buffer).head.base;
        let next = producer.publish(buffer);
        assert_eq!((*buffer).head.base, kept);
        (*buffer).head.len = FULL_WORDS as u32 * 2;
        assert_ne!(next, buffer);
    }
    let mut source = ring.into_source(running());
    assert!(matches!(source.next(&mut Packet::default()), Err(StreamError::Feeder(_))));
}
