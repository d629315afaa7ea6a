//! The instruction table: its origin, its coverage of real code, and that decoding agrees with it.

use crate::common;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use iced_x86::{Decoder as Bytes, DecoderOptions, Instruction};
use mallacc_decode::family::ports;
use mallacc_decode::key::Key;
use mallacc_decode::table::Group;
use mallacc_decode::{Decoder, Family, InstructionTable, UopFlags};
use proptest::prelude::*;
use stream::BlockDef;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the data folder beside the repository, if it is there.
fn shared(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    skips::without(format_args!("{name} is not beside the repository"));
    None
}

fn measured_blocks() -> Option<Vec<Vec<u8>>> {
    let text = std::fs::read_to_string(shared("bhive_haswell_dev.csv")?).expect("readable");
    Some(text.lines().skip(1).filter_map(|l| l.split(',').next()).map(common::bytes).collect())
}

#[test]
fn the_committed_table_is_what_the_generator_makes() {
    let Some(csv) = shared("uops_haswell.csv") else { return };
    let script = root().join("tools/uops_table.py");
    let run = match Command::new("python3").arg(script).arg(csv).output() {
        Ok(run) => run,
        Err(e) => return skips::without_tool(format_args!("python3 does not run: {e}")),
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let committed = include_str!("../data/haswell.tsv");
    assert!(String::from_utf8_lossy(&run.stdout) == committed, "regenerate data/haswell.tsv");
}

#[test]
fn golden_coves_table_is_what_the_generator_makes() {
    const MCA: &str = "llvm-mca-22";
    let data = root().join("crates/decode/data");
    if Command::new(MCA).arg("--version").output().is_err() {
        return skips::without_tool(format_args!("{MCA} is missing; run make setup-tests"));
    }
    let script = root().join("tools/llvm_table.py");
    let mut command = Command::new("python3");
    command.arg(script).args([MCA, "sapphirerapids"]).arg(data.join("haswell.tsv"));
    let run = match command.output() {
        Ok(run) => run,
        Err(e) => return skips::without_tool(format_args!("python3 does not run: {e}")),
    };
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let committed = include_str!("../data/goldencove.tsv");
    assert!(String::from_utf8_lossy(&run.stdout) == committed, "regenerate data/goldencove.tsv");
}

fn golden_cove() -> &'static Family {
    Family::find("goldencove").unwrap()
}

#[test]
fn golden_coves_rows_stand_in_place_of_haswells() {
    let table = InstructionTable::of(golden_cove());
    let row = |hex: &str| {
        let code = common::bytes(hex);
        let mut decoder = Bytes::with_ip(64, &code, common::BASE, DecoderOptions::NONE);
        let insn = decoder.decode();
        let immediate = decoder.get_constant_offsets(&insn).has_immediate();
        table.exact(Key::of(&insn, immediate)).expect(hex).clone()
    };
    // add rax,rbx: five ports; add [rax],rbx: those of loads, addresses and data too.
    assert_eq!(row("4801d8").groups, [Group { count: 1, ports: ports::ALU }]);
    let all = [ports::STORE_DATA, ports::STORE_ADDRESS, ports::LOAD, ports::ALU];
    assert_eq!(row("480118").groups, all.map(|ports| Group { count: 1, ports }));
    // lea rax,[rbx+rcx*4]: ports 1, 5 and 11, which is bit 7. jmp: Haswell's port 6.
    assert_eq!(row("488d048b").groups, [Group { count: 1, ports: 0b1010_0010 }]);
    assert_eq!(row("eb00").groups, [Group { count: 1, ports: 0b0100_0000 }]);
}

#[test]
fn an_addition_that_rename_carries_out_depends_on_its_register_and_needs_no_port() {
    let code = common::bytes("4883c008"); // add rax,8
    let uop = |family| {
        Decoder::new(family, common::LINE).block(&common::def_at(common::BASE, &code)).uops[0]
    };
    let [old, new] = [common::haswell(), golden_cove()].map(uop);
    assert!(new.flags.has_all(UopFlags::RENAMED) && !old.flags.has_all(UopFlags::RENAMED));
    assert_eq!((new.srcs, new.dsts), (old.srcs, old.dsts));
}

#[test]
fn an_addition_fused_with_its_branch_issues_as_that_branch() {
    let code = common::bytes("48ffc975fb"); // dec rcx; jne
    let block =
        Decoder::new(golden_cove(), common::LINE).block(&common::def_at(common::BASE, &code));
    let [uop] = block.uops[..] else { panic!("one uop") };
    assert!(uop.flags.has(UopFlags::BRANCH) && !uop.flags.has(UopFlags::RENAMED));
    assert_eq!((uop.ports, uop.latency), (ports::BRANCH, 1));
}

/// Distinct forms of the measured blocks' instructions.
fn forms(blocks: &[Vec<u8>]) -> HashMap<u64, (Key, Instruction)> {
    let mut forms = HashMap::new();
    for code in blocks {
        let mut decoder = Bytes::with_ip(64, code, common::BASE, DecoderOptions::NONE);
        while decoder.can_decode() {
            let insn = decoder.decode();
            let key = Key::of(&insn, decoder.get_constant_offsets(&insn).has_immediate());
            forms.insert(key.packed(), (key, insn));
        }
    }
    forms
}

#[test]
fn nearly_all_forms_of_measured_code_are_in_the_table() {
    let Some(blocks) = measured_blocks() else { return };
    let table = InstructionTable::of(common::haswell());
    let forms = forms(&blocks);
    let missing: Vec<String> = forms
        .values()
        .filter(|(key, _)| table.find(*key).is_none())
        .map(|(_, insn)| format!("{:?}", insn.code()))
        .collect();
    let share = 1.0 - missing.len() as f64 / forms.len() as f64;
    println!("{} of {} forms missing: {missing:?}", missing.len(), forms.len());
    assert!(share > 0.995, "{share}");
}

#[test]
fn measured_blocks_decode_and_keep_the_invariants() {
    let Some(blocks) = measured_blocks() else { return };
    let decoder = common::decoder();
    for code in &blocks {
        common::check(&decoder.block(&common::def_at(common::BASE, code)));
    }
}

#[test]
fn decoded_instructions_have_the_tables_counts() {
    let Some(blocks) = measured_blocks() else { return };
    let (decoder, table) = (common::decoder(), InstructionTable::of(common::haswell()));
    let mut compared = 0;
    for (key, insn) in forms(&blocks).into_values() {
        let Some(row) = table.exact(key).filter(|r| r.unfused > 0) else { continue };
        let code = encode(&blocks, &insn);
        let block = decoder.block(&common::def_at(common::BASE, &code));
        let executes = |u: &&mallacc_decode::Uop| !u.flags.has(UopFlags::NO_EXEC);
        if block.insns[0].rep || block.uops.iter().any(|u| u.flags.has(UopFlags::MOVE)) {
            continue;
        }
        let count = block.uops.iter().filter(executes).count();
        if count == 0 {
            continue; // a zero idiom
        }
        compared += 1;
        let listed: usize = row.groups.iter().map(|g| usize::from(g.count)).sum();
        assert_eq!(count, listed, "{:?}", insn.code());
        assert_eq!(block.insns[0].fused_uops, row.fused.max(1), "{:?}", insn.code());
    }
    println!("{compared} forms compared");
    assert!(compared > 400, "{compared}");
}

/// The bytes of an instruction found in the blocks.
fn encode(blocks: &[Vec<u8>], wanted: &Instruction) -> Vec<u8> {
    for code in blocks {
        let mut decoder = Bytes::with_ip(64, code, common::BASE, DecoderOptions::NONE);
        while decoder.can_decode() {
            let start = decoder.position();
            let insn = decoder.decode();
            if insn == *wanted && insn.code() == wanted.code() {
                return code[start..start + insn.len()].to_vec();
            }
        }
    }
    Vec::new()
}

proptest! {
    #[test]
    fn any_bytes_decode_without_panic(
        code in proptest::collection::vec(any::<u8>(), 1..64),
        addr in any::<u64>(),
        cuts in proptest::collection::vec(0u8..20, 0..24),
    ) {
        let decoder = decoder();
        common::check(&decoder.block(&common::def_at(addr, &code)));
        // Lengths that are unrelated to the instructions.
        let def = BlockDef { id: 0, addr, lens: cuts, bytes: code };
        common::check(&decoder.block(&def));
    }
}

/// One decoder shared by all cases.
fn decoder() -> &'static Decoder {
    static DECODER: std::sync::OnceLock<Decoder> = std::sync::OnceLock::new();
    DECODER.get_or_init(common::decoder)
}
