//! Numbers as bytes: seven bits at a time, low bits first; signed numbers are folded (LEB128,
//! zigzag).

/// Appends a number.
#[inline(always)]
pub fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the front; `None` if it is cut short or longer than 64 bits.
#[inline(always)]
pub fn get(from: &mut &[u8]) -> Option<u64> {
    let (&first, rest) = from.split_first()?;
    *from = rest;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let (mut value, mut shift) = (u64::from(first & 0x7f), 7);
    loop {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        if shift == 63 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

/// Folds a signed number so that small magnitudes become small numbers.
#[inline(always)]
pub fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Undoes [`fold`].
#[inline(always)]
pub fn unfold(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Takes `len` bytes off the front.
pub fn take<'a>(from: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = from.split_at_checked(len)?;
    *from = rest;
    Some(taken)
}

/// Takes 4 bytes off the front, low byte first.
pub fn take_u32(from: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(from, 4)?.try_into().ok()?))
}

/// Takes 8 bytes off the front, low byte first.
pub fn take_u64(from: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(from, 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_at_every_length() {
        for bit in 0..64 {
            for value in [1u64 << bit, (1 << bit) - 1, !(1 << bit)] {
                let mut bytes = Vec::new();
                put(&mut bytes, value);
                for cut in 0..bytes.len() {
                    assert_eq!(get(&mut &bytes[..cut]), None);
                }
                assert_eq!(get(&mut bytes.as_slice()), Some(value));
                assert_eq!(unfold(fold(value as i64)), value as i64);
            }
        }
        assert_eq!((fold(0), fold(-1), fold(1)), (0, 1, 2));
    }

    #[test]
    fn numbers_beyond_64_bits_are_refused() {
        assert_eq!(get(&mut [0xff; 11].as_slice()), None);
        let mut over = [0xff; 10];
        over[9] = 2;
        assert_eq!(get(&mut over.as_slice()), None);
    }
}
