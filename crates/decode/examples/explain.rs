//! Prints the uops of machine code given in hex: `explain 4801d8 4829d9` (one block).

use decode::{Block, Decoder, Family, Reg, UopFlags, UopKind};
use iced_x86::{Decoder as Bytes, DecoderOptions, Formatter, NasmFormatter};
use mallacc_decode as decode;
use stream::BlockDef;

/// Bytes of a line.
const LINE: u64 = 64;

const FLAGS: [(u16, &str); 14] = [
    (UopFlags::FIRST, "first"),
    (UopFlags::LAST, "last"),
    (UopFlags::FUSED, "fused"),
    (UopFlags::NO_EXEC, "no-exec"),
    (UopFlags::MOVE, "move"),
    (UopFlags::UNLAMINATED, "unlaminated"),
    (UopFlags::INDEXED, "indexed"),
    (UopFlags::BRANCH, "branch"),
    (UopFlags::FENCE, "fence"),
    (UopFlags::SERIALIZE, "serialize"),
    (UopFlags::VECTOR, "vector"),
    (UopFlags::PREFETCH, "prefetch"),
    (UopFlags::SIMPLE_ADDRESS, "simple"),
    (UopFlags::MERGE, "merge"),
];

fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect::<Option<_>>()?;
    digits.chunks(2).map(|p| (p.len() == 2).then(|| (p[0] * 16 + p[1]) as u8)).collect()
}

fn name(reg: Reg) -> String {
    const GPR: [&str; 16] = [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15",
    ];
    match reg.0 {
        n @ 0..=15 => GPR[usize::from(n)].to_string(),
        n @ 16..=31 => format!("v{}", n - 16),
        n @ 32..=39 => format!("x87.{}", n - 32),
        n @ 40..=43 => ["ah", "ch", "dh", "bh"][usize::from(n - 40)].to_string(),
        44 => "cf".to_string(),
        45 => "spazo".to_string(),
        46 => "status".to_string(),
        47 => "fs".to_string(),
        n @ 48..=55 => format!("t{}", n - 48),
        n => format!("#{n}"),
    }
}

fn names(regs: &[Reg]) -> String {
    regs.iter().filter(|&&r| r != Reg::NONE).map(|&r| name(r)).collect::<Vec<_>>().join(" ")
}

fn ports(mask: u8) -> String {
    (0..8).filter(|n| mask & (1 << n) != 0).map(|n| n.to_string()).collect()
}

fn main() {
    let text: String = std::env::args().skip(1).collect();
    let Some(code) = bytes(&text).filter(|c| !c.is_empty()) else {
        eprintln!("usage: explain HEX… (pairs of hex digits of x86-64 machine code)");
        std::process::exit(2);
    };
    let mut lens = Vec::new();
    let mut lines = Vec::new();
    let mut decoder = Bytes::with_ip(64, &code, 0x40_0000, DecoderOptions::NONE);
    let mut formatter = NasmFormatter::new();
    for insn in &mut decoder {
        lens.push(insn.len() as u8);
        let mut line = String::new();
        formatter.format(&insn, &mut line);
        lines.push(line);
    }
    let def = BlockDef { id: 0, addr: 0x40_0000, lens, bytes: code };
    print(&Decoder::new(<&Family>::default(), LINE).block(&def), &lines);
}

fn print(block: &Block, lines: &[String]) {
    for (i, insn) in block.insns.iter().enumerate() {
        println!(
            "{}  [{} slots, {:?}{}{}{}]",
            lines[i],
            insn.fused_uops,
            insn.class,
            if insn.lcp { ", lcp" } else { "" },
            if insn.fused_with_previous { ", fused with previous" } else { "" },
            if insn.reads_rsp { ", reads rsp" } else { "" },
        );
        let first = usize::from(insn.first_uop);
        for uop in &block.uops[first..first + usize::from(insn.uops)] {
            let kind = match uop.kind {
                UopKind::Exec => "exec",
                UopKind::Load => "load",
                UopKind::StoreAddress => "sta",
                UopKind::StoreData => "std",
            };
            let flags: Vec<&str> =
                FLAGS.iter().filter(|(bit, _)| uop.flags.has(*bit)).map(|(_, n)| *n).collect();
            println!(
                "    {kind:4} p{:5} lat {:2} busy {:2}  {} <- {}  {}",
                ports(uop.ports),
                uop.latency,
                uop.busy,
                names(&uop.dsts),
                names(&uop.srcs),
                flags.join(",")
            );
        }
    }
    println!("{:?}, {} unknown", block.branch, block.unknown);
}
