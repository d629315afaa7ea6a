//! Markers: how an allocator tells the machine which step it is in. See `docs/markers.md`.

/// Displacement of a carrier without its operation, which is the low byte: "Mal" and a zero.
pub const MAGIC: u32 = 0x4d61_4c00;
/// Displacement of an operand store from the stack pointer, below the 128-byte red zone.
pub const SLOT: i32 = -136;

/// Which allocator entry point a call goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum CallKind {
    Malloc = 0,
    Free = 1,
    Calloc = 2,
    Realloc = 3,
    New = 4,
    Delete = 5,
    SizedDelete = 6,
    Memalign = 7,
}

impl CallKind {
    /// All kinds in code order.
    pub const ALL: [CallKind; 8] = [
        Self::Malloc,
        Self::Free,
        Self::Calloc,
        Self::Realloc,
        Self::New,
        Self::Delete,
        Self::SizedDelete,
        Self::Memalign,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Free => "free",
            Self::Calloc => "calloc",
            Self::Realloc => "realloc",
            Self::New => "new",
            Self::Delete => "delete",
            Self::SizedDelete => "sized_delete",
            Self::Memalign => "memalign",
        }
    }

    /// Whether the call returns memory (otherwise it frees memory). Realloc returns memory.
    pub fn allocates(self) -> bool {
        !matches!(self, Self::Free | Self::Delete | Self::SizedDelete)
    }
}

/// A marker's operation. Operands are listed in `docs/markers.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MarkerOp {
    Lookup,
    Update,
    Sample,
    SampleEnd,
    Pop,
    PopEnd,
    Push,
    Prefetch,
    Invalidate,
    Flush,
    RoiBegin,
    RoiEnd,
    Trash,
    CallBegin(CallKind),
    CallEnd,
}

impl MarkerOp {
    /// The operation of a carrier's low byte.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x01 => Self::Lookup,
            0x02 => Self::Update,
            0x03 => Self::Sample,
            0x04 => Self::SampleEnd,
            0x05 => Self::Pop,
            0x06 => Self::PopEnd,
            0x07 => Self::Push,
            0x08 => Self::Prefetch,
            0x09 => Self::Invalidate,
            0x0a => Self::Flush,
            0x10 => Self::RoiBegin,
            0x11 => Self::RoiEnd,
            0x12 => Self::Trash,
            0x20..=0x27 => Self::CallBegin(CallKind::ALL[usize::from(code - 0x20)]),
            0x30 => Self::CallEnd,
            _ => return None,
        })
    }

    /// The low byte of the carrier's displacement.
    pub fn code(self) -> u8 {
        match self {
            Self::Lookup => 0x01,
            Self::Update => 0x02,
            Self::Sample => 0x03,
            Self::SampleEnd => 0x04,
            Self::Pop => 0x05,
            Self::PopEnd => 0x06,
            Self::Push => 0x07,
            Self::Prefetch => 0x08,
            Self::Invalidate => 0x09,
            Self::Flush => 0x0a,
            Self::RoiBegin => 0x10,
            Self::RoiEnd => 0x11,
            Self::Trash => 0x12,
            Self::CallBegin(kind) => 0x20 + kind as u8,
            Self::CallEnd => 0x30,
        }
    }

    /// Number of operand stores that follow the carrier.
    pub fn operands(self) -> usize {
        match self {
            Self::Update | Self::Prefetch => 3,
            Self::PopEnd | Self::Push => 2,
            Self::Lookup
            | Self::Sample
            | Self::Pop
            | Self::Invalidate
            | Self::CallBegin(_)
            | Self::CallEnd => 1,
            Self::SampleEnd | Self::Flush | Self::RoiBegin | Self::RoiEnd | Self::Trash => 0,
        }
    }

    /// How many values a marker has in the stream: its operands, and for [`MarkerOp::Prefetch`] the
    /// word at `next`, which arrives as a second value event of the last operand store.
    pub fn values(self) -> usize {
        self.operands() + usize::from(self == Self::Prefetch)
    }
}

/// A marker found in a block's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkerSite {
    /// Instruction index of the carrier in its block.
    pub insn: u16,
    /// What it says.
    pub op: MarkerOp,
    /// General-purpose register numbers (0 = rax … 15 = r15) of the operands.
    pub regs: [u8; 3],
}

/// The operation of a carrier's machine code, if these bytes are a carrier: `[REX] 0F 1F /0` with a
/// 32-bit displacement of [`MAGIC`] plus a valid operation.
pub fn carrier(code: &[u8]) -> Option<(MarkerOp, u8)> {
    let (rex, rest) = match code {
        [b @ 0x40..=0x4f, rest @ ..] => (*b, rest),
        _ => (0, code),
    };
    let [0x0f, 0x1f, modrm, tail @ ..] = rest else { return None };
    let (mode, low) = (modrm >> 6, modrm & 7);
    if mode != 0b10 || (modrm >> 3) & 7 != 0 {
        return None;
    }
    // rsp and r12 as a base need a SIB byte with no index: 0x24.
    let disp = match (low, tail) {
        (4, [0x24, disp @ ..]) => disp,
        (4, _) => return None,
        (_, disp) => disp,
    };
    let disp = u32::from_le_bytes(disp.try_into().ok()?);
    if disp & 0xffff_ff00 != MAGIC {
        return None;
    }
    Some((MarkerOp::from_code(disp as u8)?, low | ((rex & 1) << 3)))
}

/// Whether machine code contains the marker that begins an allocator call.
pub fn begins_calls(code: &[u8]) -> bool {
    let [_, m0, m1, m2] = MAGIC.to_le_bytes();
    let displacement = |window: &[u8]| window[1..] == [m0, m1, m2];
    let ends = code.windows(4).enumerate().filter(|(_, window)| displacement(window));
    // A carrier has 7 to 9 bytes: a prefix and a SIB byte are optional.
    let begins = |end: usize, length: usize| {
        let carrier = end.checked_sub(length).and_then(|start| carrier(&code[start..end]));
        matches!(carrier, Some((MarkerOp::CallBegin(_), _)))
    };
    ends.map(|(at, _)| at + 4).any(|end| (7..=9).any(|length| begins(end, length)))
}

/// The register of an operand store, if these bytes are an operand store: `movq %reg, -136(%rsp)`.
pub fn operand_store(code: &[u8]) -> Option<u8> {
    match code {
        [rex @ (0x48 | 0x4c), 0x89, modrm, 0x24, d0, d1, d2, d3]
            if modrm & 0xc7 == 0x84 && i32::from_le_bytes([*d0, *d1, *d2, *d3]) == SLOT =>
        {
            Some(((modrm >> 3) & 7) | ((rex & 4) << 1))
        }
        _ => None,
    }
}

/// Finds the markers of a block. Carriers whose operand stores do not follow in the block are
/// returned in the second list (instruction indices): no compiler emits one, so the code was cut.
pub fn scan<'a>(insns: impl Iterator<Item = &'a [u8]>) -> (Vec<MarkerSite>, Vec<u16>) {
    let (mut sites, mut broken) = (Vec::new(), Vec::new());
    let mut open: Option<(MarkerSite, usize)> = None;
    for (index, code) in insns.enumerate() {
        if let Some((mut site, have)) = open.take() {
            if let Some(reg) = operand_store(code) {
                site.regs[have] = reg;
                if have + 1 == site.op.operands() {
                    sites.push(site);
                } else {
                    open = Some((site, have + 1));
                }
                continue;
            }
            broken.push(site.insn);
        }
        if let Some((op, reg)) = carrier(code) {
            let site = MarkerSite { insn: index as u16, op, regs: [reg, 0, 0] };
            if op.operands() == 0 {
                sites.push(site);
            } else {
                open = Some((site, 0));
            }
        }
    }
    if let Some((site, _)) = open {
        broken.push(site.insn);
    }
    (sites, broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes `nopl disp32(%reg)` after the Intel manual, volume 2, NOP and ModR/M tables.
    fn nopl(reg: u8, op: u8) -> Vec<u8> {
        let mut code = Vec::new();
        if reg >= 8 {
            code.push(0x41);
        }
        code.extend([0x0f, 0x1f, 0x80 | (reg & 7)]);
        if reg & 7 == 4 {
            code.push(0x24);
        }
        code.extend((MAGIC + u32::from(op)).to_le_bytes());
        code
    }

    fn store(reg: u8) -> Vec<u8> {
        let mut code = vec![0x48 | ((reg >> 3) << 2), 0x89, 0x84 | ((reg & 7) << 3), 0x24];
        code.extend(SLOT.to_le_bytes());
        code
    }

    #[test]
    fn codes_and_operations_are_one_to_one() {
        let known: Vec<u8> = (0..=255).filter(|&c| MarkerOp::from_code(c).is_some()).collect();
        assert_eq!(known.len(), 13 + 8 + 1);
        for code in known {
            assert_eq!(MarkerOp::from_code(code).map(MarkerOp::code), Some(code));
        }
    }

    #[test]
    fn carriers_are_recognised_with_every_register() {
        for reg in 0..16 {
            assert_eq!(carrier(&nopl(reg, 0x05)), Some((MarkerOp::Pop, reg)));
            assert_eq!(operand_store(&store(reg)), Some(reg));
        }
        assert_eq!(carrier(&nopl(0, 0x00)), None, "op 0 is not an operation");
        assert_eq!(carrier(&[0x0f, 0x1f, 0x80, 0, 0, 0, 0]), None, "an ordinary padding nop");
    }

    #[test]
    fn the_marker_that_begins_a_call_is_found_anywhere_in_code() {
        for reg in 0..16 {
            let begin = nopl(reg, MarkerOp::CallBegin(CallKind::Free).code());
            assert!(begins_calls(&[&[0x90][..], &begin, &[0xc3]].concat()));
            assert!(!begins_calls(&begin[1..]) || reg >= 8, "only its prefix may be missing");
            assert!(!begins_calls(&nopl(reg, MarkerOp::CallEnd.code())));
        }
        assert!(!begins_calls(&[]));
    }

    #[test]
    fn a_scan_pairs_carriers_with_their_operand_stores() {
        let code = [nopl(3, 0x02), store(3), store(9), store(12), vec![0xc3], nopl(0, 0x0a)];
        let (sites, broken) = scan(code.iter().map(Vec::as_slice));
        assert_eq!(broken, []);
        assert_eq!(
            sites,
            [
                MarkerSite { insn: 0, op: MarkerOp::Update, regs: [3, 9, 12] },
                MarkerSite { insn: 5, op: MarkerOp::Flush, regs: [0, 0, 0] },
            ]
        );
        let (sites, broken) = scan(code[..3].iter().map(Vec::as_slice));
        assert_eq!((sites.len(), broken), (0, vec![0]), "cut short");
    }
}
