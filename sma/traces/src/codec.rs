//! Events as bytes: the contents of a block. Both directions keep the same running state, which
//! continues from block to block.

use crate::event::{Action, Event, Source};

/// Set in the key byte when the thread differs from that of the previous event.
const THREAD: u8 = 0x08;

const ALLOC: u8 = 0;
const CALLOC: u8 = 1;
const ALIGNED: u8 = 2;
const FREE: u8 = 3;
const REALLOC: u8 = 4;
const EXEC: u8 = 5;

/// The largest binary logarithm of an alignment.
const ALIGN_LOG_MAX: u64 = 63;

/// The state relative to which the next event is encoded.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    time_ns: u64,
    thread: u32,
    /// The number of the next allocation.
    pub next_id: u64,
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn get(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or("a number ends with its block")?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            break;
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number is longer than 64 bits".into())
}

/// Maps small differences of either sign to small numbers.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Appends an event.
pub fn encode(event: &Event, state: &mut State, out: &mut Vec<u8>) {
    let kind = match event.action {
        Action::Alloc { source: Source::Malloc, .. } => ALLOC,
        Action::Alloc { source: Source::Calloc, .. } => CALLOC,
        Action::Alloc { source: Source::Aligned(_), .. } => ALIGNED,
        Action::Free { .. } => FREE,
        Action::Realloc { .. } => REALLOC,
        Action::Exec => EXEC,
    };
    let moved = event.thread != state.thread;
    out.push(kind | if moved { THREAD } else { 0 });
    put(out, zigzag(event.time_ns.wrapping_sub(state.time_ns) as i64));
    if moved {
        put(out, u64::from(event.thread));
    }
    (state.time_ns, state.thread) = (event.time_ns, event.thread);
    match event.action {
        Action::Alloc { bytes, source } => {
            if let Source::Aligned(log) = source {
                put(out, u64::from(log));
            }
            put(out, bytes);
            state.next_id += 1;
        }
        Action::Free { id } => put(out, state.next_id - 1 - id),
        Action::Realloc { id, bytes } => {
            put(out, state.next_id - 1 - id);
            put(out, bytes);
            state.next_id += 1;
        }
        Action::Exec => {}
    }
}

/// Removes the next event from `bytes`.
pub fn decode(bytes: &mut &[u8], state: &mut State) -> Result<Event, String> {
    let (&key, rest) = bytes.split_first().ok_or("an event is missing")?;
    *bytes = rest;
    let step = unzigzag(get(bytes)?);
    state.time_ns = state.time_ns.wrapping_add(step as u64);
    if key & THREAD != 0 {
        let thread = get(bytes)?;
        state.thread =
            u32::try_from(thread).map_err(|_| format!("thread {thread}: at most {}", u32::MAX))?;
    }
    let before = |state: &State, back: u64| {
        let last = state.next_id.checked_sub(1).and_then(|last| last.checked_sub(back));
        last.ok_or(format!("allocation {back} before the last of {}", state.next_id))
    };
    let action = match key & !THREAD {
        kind @ (ALLOC | CALLOC | ALIGNED) => {
            let source = match kind {
                ALLOC => Source::Malloc,
                CALLOC => Source::Calloc,
                _ => match get(bytes)? {
                    log @ 0..=ALIGN_LOG_MAX => Source::Aligned(log as u8),
                    log => return Err(format!("alignment 2^{log}: at most 2^{ALIGN_LOG_MAX}")),
                },
            };
            state.next_id += 1;
            Action::Alloc { bytes: get(bytes)?, source }
        }
        FREE => Action::Free { id: before(state, get(bytes)?)? },
        REALLOC => {
            let id = before(state, get(bytes)?)?;
            state.next_id += 1;
            Action::Realloc { id, bytes: get(bytes)? }
        }
        EXEC => Action::Exec,
        kind => return Err(format!("event kind {kind}: the last is {EXEC}")),
    };
    Ok(Event { time_ns: state.time_ns, thread: state.thread, action })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_event_takes_the_bytes_that_the_document_says() {
        let mut state = State::default();
        let mut out = Vec::new();
        let malloc = Action::Alloc { bytes: 300, source: Source::Malloc };
        encode(&Event { time_ns: 5, thread: 0, action: malloc }, &mut state, &mut out);
        // Kind 0; +5 as 10; 300 = 2 * 128 + 44.
        assert_eq!(out, [0x00, 10, 0x80 | 44, 2]);
        out.clear();
        let free = Action::Free { id: 0 };
        encode(&Event { time_ns: 4, thread: 1, action: free }, &mut state, &mut out);
        // Kind 3 with another thread; -1 as 1; thread 1; the last allocation.
        assert_eq!(out, [0x0b, 1, 1, 0]);
    }

    #[test]
    fn what_no_writer_writes_is_refused() {
        let refused = |bytes: &[u8]| decode(&mut &*bytes, &mut State::default()).unwrap_err();
        assert!(refused(&[]).contains("missing"));
        assert!(refused(&[6, 0]).contains("kind 6"));
        assert!(refused(&[FREE, 0, 0]).contains("of 0"));
        assert!(refused(&[ALLOC, 0x80]).contains("ends"));
        assert!(refused(&[ALIGNED, 0, 64, 1]).contains("2^64"));
        let eleven = [[ALLOC].as_slice(), &[0xff; 10], &[1]].concat();
        assert!(refused(&eleven).contains("64 bits"));
    }

    prop_compose! {
        fn action()(kind in 0..6u8, bytes in prop_oneof![0..400u64, any::<u64>()], back in 0..9u64,
                    log in 0..64u8) -> (u8, u64, u64, u8) {
            (kind, bytes, back, log)
        }
    }

    proptest! {
        #[test]
        fn what_is_decoded_is_what_was_encoded(
            plan in prop::collection::vec((action(), any::<u64>(), 0..3u32), 0..200)
        ) {
            let (mut state, mut out, mut events) = (State::default(), Vec::new(), Vec::new());
            for ((kind, bytes, back, log), time_ns, thread) in plan {
                let id = state.next_id.checked_sub(1 + back);
                let action = match (kind, id) {
                    (3, Some(id)) => Action::Free { id },
                    (4, Some(id)) => Action::Realloc { id, bytes },
                    (5, _) => Action::Exec,
                    (1, _) => Action::Alloc { bytes, source: Source::Calloc },
                    (2, _) => Action::Alloc { bytes, source: Source::Aligned(log) },
                    _ => Action::Alloc { bytes, source: Source::Malloc },
                };
                events.push(Event { time_ns, thread, action });
                encode(events.last().unwrap(), &mut state, &mut out);
            }
            let (mut state, mut rest) = (State::default(), out.as_slice());
            for event in &events {
                prop_assert_eq!(decode(&mut rest, &mut state), Ok(*event));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let (mut state, mut rest) = (State::default(), bytes.as_slice());
            while !rest.is_empty() && decode(&mut rest, &mut state).is_ok() {}
        }
    }
}
