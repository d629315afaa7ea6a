//! Ports and bottlenecks that follow from the machine's parameters and tables.

use mallacc_validate::bottleneck::Part;
use mallacc_validate::code::parse_hex;
use mallacc_validate::{Analysis, Blocks};
use uarch::Machine;

fn analyse(hex: &str) -> Analysis {
    Blocks::new(&Machine::default()).unwrap().analyse(&parse_hex(hex).unwrap()).unwrap()
}

fn limit(analysis: &Analysis, part: Part) -> Option<f64> {
    analysis.limits.iter().find(|limit| limit.part == part).map(|limit| limit.cycles)
}

#[track_caller]
fn close(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 0.02), "{found:?}: {expected}");
}

/// Latency of `imul r64, r64` and its only port (uops.info, Haswell).
const MULTIPLY: f64 = 3.0;
const MULTIPLIER: Part = Part::Port(1);

#[test]
fn independent_multiplications_are_bound_by_their_port() {
    // imul rbx, rcx, 3; imul rdx, rcx, 5.
    let analysis = analyse("486bd903 486bd105");
    assert_eq!(analysis.bottlenecks(), [MULTIPLIER]);
    close(limit(&analysis, MULTIPLIER), 2.0);
    for instruction in &analysis.instructions {
        assert_eq!(instruction.ports.iter().map(|(p, n)| (*p, *n)).collect::<Vec<_>>(), [(1, 1.0)]);
    }
    assert_eq!(analysis.chain, None, "no iteration uses a result of another");
    let width = f64::from(Machine::default().core.allocate_width);
    close(limit(&analysis, Part::Fetch), 2.0 / width);
    let text = analysis.sentence();
    assert!(text.starts_with("Bottleneck: port 1 [imul rbx,rcx,3; imul rdx,rcx,5]"), "{text}");
}

#[test]
fn a_chain_is_its_latencies_and_names_its_instructions() {
    // add rax, rbx; imul rax, rbx; and mov rcx, rax, which only hangs on the chain.
    let analysis = analyse("4801d8 480fafc3 4889c1");
    assert_eq!(analysis.bottlenecks(), [Part::Chain]);
    let chain = analysis.chain.as_ref().unwrap();
    assert_eq!((&chain.steps, chain.iterations), (&vec![(0, 1), (1, MULTIPLY as u64)], 1));
    close(Some(chain.cycles), 1.0 + MULTIPLY);
    close(limit(&analysis, MULTIPLIER), 1.0);
    let text = analysis.sentence();
    assert!(text.contains("[add rax,rbx (1) → imul rax,rbx (3)] takes 4.00 of 4.00"), "{text}");
    assert!(text.contains("port 1 would take 1.00"), "{text}");
}

#[test]
fn a_chain_may_span_iterations() {
    // imul rax, rbx; xchg of the two names through rcx: mov rcx, rax; mov rax, rbx; mov rbx, rcx.
    // Each product is used by the next iteration as the other factor.
    let analysis = analyse("480fafc3 4889c1 4889d8 4889cb");
    let chain = analysis.chain.as_ref().unwrap();
    let sum: u64 = chain.steps.iter().map(|(_, cycles)| cycles).sum();
    close(Some(chain.cycles), sum as f64 / chain.iterations as f64);
    assert!(chain.cycles >= MULTIPLY - 0.02, "{chain:?}");
}

#[test]
fn a_chain_goes_through_memory_where_the_core_forwards() {
    // add qword [rdi], 1: forwarding and a cycle.
    let forward = f64::from(Machine::default().core.store_forward);
    let analysis = analyse("48830701");
    assert_eq!(analysis.bottlenecks(), [Part::Chain]);
    close(limit(&analysis, Part::Chain), forward + 1.0);
    // mov [rdi], rax; mov rbx, [rdi]: forwarded, but no iteration needs it.
    assert_eq!(analyse("488907 488b1f").chain, None);
}

#[test]
fn a_pointer_chase_is_a_chain_of_loads() {
    let analysis = analyse("488b00"); // mov rax, [rax]
    close(limit(&analysis, Part::Chain), Machine::default().memory.l1d.latency as f64);
}

#[test]
fn long_instructions_are_bound_by_fetch() {
    // mov rbx, imm64: 10 bytes, 16 per cycle.
    let analysis = analyse("48bb0102030405060708");
    assert_eq!(analysis.bottlenecks(), [Part::Fetch]);
    close(limit(&analysis, Part::Fetch), 10.0 / 16.0);
}

#[test]
fn two_load_ports_share_three_loads() {
    // mov rax, [rdi]; mov rbx, [rsi]; mov rcx, [rdx].
    let analysis = analyse("488b07 488b1e 488b0a");
    assert_eq!(analysis.bottlenecks(), [Part::Port(2), Part::Port(3)]);
    let text = analysis.sentence();
    assert!(text.contains("ports 2 and 3 [") && text.contains("each take 1.50 of 1.50"), "{text}");
}

#[test]
fn an_analysis_is_of_the_cycles_that_are_predicted() {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    for hex in ["4801d8480fafc3", "488b00", "48830701", "505b515a", "31d248f7f1", "f00107"] {
        let code = parse_hex(hex).unwrap();
        let analysis = blocks.analyse(&code).unwrap();
        assert_eq!(analysis.prediction, blocks.predict(&code).unwrap(), "{hex}");
        let uops: f64 = analysis.instructions.iter().map(|i| i.uops).sum();
        assert!((uops - analysis.prediction.uops).abs() < 0.01, "{hex}: {uops}");
        let most = analysis.limits[0].cycles;
        assert!(most <= analysis.prediction.cycles_per_iteration * 1.01, "{hex}: {analysis:?}");
    }
}

/// The ends of the measured copies overlap with their neighbours, by up to a cycle in twenty.
#[test]
fn no_part_alone_takes_longer_than_all_together() {
    let blocks = Blocks::new(&Machine::default()).unwrap();
    let sample = include_str!("data/bhive_haswell_sample.csv");
    let codes = sample.lines().skip(1).filter_map(|line| line.split(',').next());
    let mut explained = 0;
    for hex in codes.clone() {
        let analysis = blocks.analyse(&parse_hex(hex).unwrap()).unwrap();
        let cycles = analysis.prediction.cycles_per_iteration;
        assert!(analysis.limits[0].cycles <= 1.05 * cycles, "{hex}: {analysis:?}");
        explained += usize::from(!analysis.bottlenecks().is_empty());
    }
    assert!(explained * 10 > codes.count() * 8, "{explained} blocks have a bottleneck");
}

#[test]
fn what_no_part_explains_is_not_given_a_bottleneck() {
    // and rbp, -4; test rbp, rbp; mov [rdi], rbp: conflicts of the chain's port.
    let analysis = analyse("4883e5fc 4885ed 48892f");
    assert_eq!(analysis.bottlenecks(), []);
    let text = analysis.sentence();
    assert!(text.starts_with("No single bottleneck") && text.contains("CPI stack: base"), "{text}");
    assert_eq!(analysis.short(), "none alone");
}
