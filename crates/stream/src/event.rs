//! Dynamic events, packed into 64-bit words.
//!
//! | bits 63..62 | event | rest |
//! |---|---|---|
//! | `00` | memory access | 61..52 instruction index in the block, 51 store, 50..48 log2 of the size, 47..0 address |
//! | `01` | block entered | 31..0 block id |
//! | `10` | marker value | 61..52 instruction index of the operand store; **the next word is the raw value** |
//! | `11` | control | 61..56 [`Control`], 55..48 count of raw words that follow, 47..0 payload |
//!
//! A block's memory and value events follow its entry, in program order. An access wider than 8
//! bytes may arrive as several events with the same instruction index (16 bytes as two of 8); an
//! instruction that accesses memory under a mask or in a loop may have any number of events.

/// Kinds of control event, each with its payload and the raw words that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Control {
    /// A system call is made. Payload: its number; raw words: the first four arguments.
    Syscall = 0,
    /// The thread of this packet starts. Payload: 0.
    ThreadStart = 1,
    /// The thread of this packet ends. Payload: 0.
    ThreadEnd = 2,
    /// A child process was created by fork or vfork and left the stream. Payload: 0.
    Fork = 3,
    /// The program replaced itself: what follows is the new image. Payload: 0.
    Exec = 4,
    /// The program ended. Payload: its exit code; if a signal killed it, bit 47 is set and the low
    /// bits hold the signal's number.
    Exit = 5,
}

impl Control {
    /// The control kind of a 6-bit code.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0 => Self::Syscall,
            1 => Self::ThreadStart,
            2 => Self::ThreadEnd,
            3 => Self::Fork,
            4 => Self::Exec,
            5 => Self::Exit,
            _ => return None,
        })
    }
}

/// One decoded event. [`decode`] reads it from a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A memory access by instruction `insn` of the current block.
    Mem {
        /// Instruction index in the block.
        insn: u16,
        /// Whether it is a store; otherwise a load.
        store: bool,
        /// Bytes accessed: 1, 2, 4, … 128.
        size: u8,
        /// Virtual address, 48 bits.
        addr: u64,
    },
    /// A block is entered.
    Block {
        /// Its number ([`crate::BlockDef::id`]).
        id: u32,
    },
    /// A marker operand; the next word is its raw value.
    Value {
        /// Instruction index of the operand store.
        insn: u16,
    },
    /// A control event; `extra` raw words follow.
    Control {
        /// What happened.
        kind: Control,
        /// How many raw words follow.
        extra: u8,
        /// See [`Control`].
        payload: u64,
    },
}

/// Mask of the 48 address or payload bits.
pub const LOW48: u64 = (1 << 48) - 1;
/// Bit 47 of the [`Control::Exit`] payload: ended by a signal.
pub const EXIT_SIGNALLED: u64 = 1 << 47;

/// A memory access word. `size` in bytes is rounded up to a power of two.
#[inline(always)]
pub fn mem(insn: u16, store: bool, size_log2: u8, addr: u64) -> u64 {
    (u64::from(insn) << 52)
        | (u64::from(store) << 51)
        | (u64::from(size_log2) << 48)
        | (addr & LOW48)
}

/// A block entry word.
#[inline(always)]
pub fn block(id: u32) -> u64 {
    (0b01 << 62) | u64::from(id)
}

/// A marker value event's first word; the raw value follows it.
#[inline(always)]
pub fn value(insn: u16) -> u64 {
    (0b10 << 62) | (u64::from(insn) << 52)
}

/// A control word; `extra` raw words must follow it.
#[inline(always)]
pub fn control(kind: Control, extra: u8, payload: u64) -> u64 {
    (0b11 << 62) | ((kind as u64) << 56) | (u64::from(extra) << 48) | (payload & LOW48)
}

/// Decodes one word; `None` for an unknown control kind. The caller must skip raw words.
#[inline(always)]
pub fn decode(word: u64) -> Option<Event> {
    let insn = ((word >> 52) & 0x3ff) as u16;
    Some(match word >> 62 {
        0b00 => Event::Mem {
            insn,
            store: (word >> 51) & 1 != 0,
            size: 1 << ((word >> 48) & 7),
            addr: word & LOW48,
        },
        0b01 => Event::Block { id: word as u32 },
        0b10 => Event::Value { insn },
        _ => Event::Control {
            kind: Control::from_code(((word >> 56) & 0x3f) as u8)?,
            extra: ((word >> 48) & 0xff) as u8,
            payload: word & LOW48,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reads_back_as_it_was_written() {
        let a = 0x7fff_ffff_fff8;
        assert_eq!(
            decode(mem(1023, true, 5, a)),
            Some(Event::Mem { insn: 1023, store: true, size: 32, addr: a })
        );
        assert_eq!(
            decode(mem(0, false, 0, 1)),
            Some(Event::Mem { insn: 0, store: false, size: 1, addr: 1 })
        );
        assert_eq!(decode(block(u32::MAX)), Some(Event::Block { id: u32::MAX }));
        assert_eq!(decode(value(7)), Some(Event::Value { insn: 7 }));
        for code in 0..64 {
            if let Some(kind) = Control::from_code(code) {
                assert_eq!(
                    decode(control(kind, 4, 231)),
                    Some(Event::Control { kind, extra: 4, payload: 231 })
                );
            }
        }
        assert_eq!(decode((0b11 << 62) | (63 << 56)), None);
    }
}
