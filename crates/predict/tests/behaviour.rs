//! What the predictor learns and what it cannot: expected counts derived from the patterns
//! themselves.

use mallacc_predict::{BranchKind, PredictParams, PredictStatistics, Predictor};

fn new() -> Predictor {
    Predictor::new(&PredictParams::default()).unwrap()
}

fn conditional(predictor: &mut Predictor, pc: u64, taken: bool) -> bool {
    predictor.predict_and_update(BranchKind::Conditional, pc, taken, pc + 100, pc + 2).mispredicted
}

/// Xorshift: random outcomes that no table can learn.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

/// Mispredictions over `count` branches of a pattern, after as many to learn it.
fn after_learning(count: u64, mut taken: impl FnMut(u64) -> bool) -> u64 {
    let mut predictor = new();
    (0..2 * count)
        .map(|n| u64::from(conditional(&mut predictor, 0x400, taken(n))) * (n / count))
        .sum()
}

#[test]
fn a_biased_branch_and_an_alternating_one_are_learned_wholly() {
    assert_eq!(after_learning(1_000, |_| true), 0);
    assert_eq!(after_learning(1_000, |_| false), 0);
    assert_eq!(after_learning(1_000, |n| n % 2 == 0), 0);
    assert_eq!(after_learning(1_000, |n| n % 6 < 2), 0);
}

#[test]
fn loops_with_a_constant_trip_count_are_learned_wholly() {
    for trips in [2, 3, 7, 20, 60, 150, 1_000] {
        let round = trips + 1;
        let missed = after_learning(30 * round, |n| n % round != trips);
        assert_eq!(missed, 0, "{trips} trips");
    }
}

#[test]
fn a_random_branch_is_right_about_half_the_time() {
    let mut state = 0x1234_5678_9abc_def1;
    let count = 20_000;
    let missed = after_learning(count, |_| random(&mut state) & 1 == 0);
    // Half, and five standard deviations of a fair coin: sqrt(count) / 2 each.
    let five_sigma = 5.0 * (count as f64).sqrt() / 2.0;
    assert!((missed as f64 - count as f64 / 2.0).abs() < five_sigma, "{missed} of {count}");
}

#[test]
fn a_rare_random_outcome_costs_little_more_than_its_own_rate() {
    let mut state = 0x1234_5678_9abc_def1;
    let count = 40_000;
    let mut rare = 0;
    let missed = after_learning(count, |n| {
        let taken = random(&mut state).is_multiple_of(16);
        rare += u64::from(taken && n >= count);
        taken
    });
    assert!(missed <= rare * 3 / 2, "{missed} missed, {rare} rare outcomes");
}

#[test]
fn a_branch_that_repeats_another_is_learned_from_the_history_between_them() {
    for between in [0, 3, 25] {
        let mut predictor = new();
        let mut state = 0x1234_5678_9abc_def1;
        let mut missed = 0;
        let rounds = 30_000;
        for round in 0..rounds {
            let outcome = random(&mut state) & 1 == 0;
            conditional(&mut predictor, 0x100, outcome);
            for n in 0..between {
                conditional(&mut predictor, 0x200 + n * 8, true);
            }
            let wrong = conditional(&mut predictor, 0x900, outcome);
            missed += u64::from(wrong && round >= rounds / 2);
        }
        // The first branch is random; the second is determined by it.
        assert!(missed < rounds / 2 / 50, "{between} between: {missed}");
    }
}

fn call(predictor: &mut Predictor, pc: u64, target: u64) {
    predictor.predict_and_update(BranchKind::Call, pc, true, target, pc + 5);
}

fn returns(predictor: &mut Predictor, pc: u64, target: u64) -> bool {
    predictor.predict_and_update(BranchKind::Return, pc, true, target, pc + 1).mispredicted
}

/// Mispredicted returns, innermost first, of a chain of calls each from a different address.
fn chain(calls: u64) -> Vec<bool> {
    let mut predictor = new();
    for n in 0..calls {
        call(&mut predictor, 0x1000 * (n + 1), 0x1000 * (n + 2));
    }
    let at = |n: u64| 0x1000 * (n + 2) + 0x80;
    (0..calls).rev().map(|n| returns(&mut predictor, at(n), 0x1000 * (n + 1) + 5)).collect()
}

#[test]
fn sixteen_nested_calls_return_exactly_and_the_seventeenth_loses_the_oldest() {
    let depth = u64::from(PredictParams::default().returns.entries);
    assert!(chain(depth).iter().all(|wrong| !wrong));
    for extra in [1, 5] {
        let wrong = chain(depth + extra);
        assert_eq!(wrong.iter().filter(|w| **w).count() as u64, extra);
        assert!(wrong[depth as usize..].iter().all(|w| *w), "the oldest are the lost ones");
    }
}

#[test]
fn a_call_of_the_next_instruction_does_not_push() {
    let mut predictor = new();
    call(&mut predictor, 0x100, 0x500);
    predictor.predict_and_update(BranchKind::Call, 0x500, true, 0x505, 0x505);
    assert!(!returns(&mut predictor, 0x520, 0x105));
}

fn indirect(predictor: &mut Predictor, pc: u64, target: u64) -> bool {
    let kind = BranchKind::IndirectJump;
    predictor.predict_and_update(kind, pc, true, target, pc + 2).mispredicted
}

#[test]
fn an_indirect_jump_to_one_target_is_missed_once() {
    let mut predictor = new();
    let missed: Vec<bool> = (0..100).map(|_| indirect(&mut predictor, 0x40, 0x999)).collect();
    assert!(missed[0] && !missed[1..].contains(&true));
}

#[test]
fn an_indirect_jump_that_goes_with_the_history_is_learned() {
    let mut predictor = new();
    let mut state = 0x1234_5678_9abc_def1;
    let (rounds, mut missed) = (20_000, 0);
    for round in 0..rounds {
        // Two random bits select one of four targets.
        let coins = random(&mut state) % 4;
        conditional(&mut predictor, 0x100, coins & 1 != 0);
        conditional(&mut predictor, 0x120, coins & 2 != 0);
        let wrong = indirect(&mut predictor, 0x140, 0x1000 + coins * 0x40);
        missed += u64::from(wrong && round >= rounds / 2);
    }
    assert!(missed < rounds / 2 / 50, "{missed}");
}

#[test]
fn an_interpreter_loop_over_a_fixed_program_is_learned() {
    let mut predictor = new();
    let program = [3_u64, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9];
    let mut missed = 0;
    for round in 0..2_000 {
        for op in program {
            let wrong = indirect(&mut predictor, 0x140, 0x1000 + op * 0x40);
            missed += u64::from(wrong && round >= 1_000);
        }
    }
    assert!(missed < 1_000 * program.len() as u64 / 50, "{missed}");
}

#[test]
fn a_change_of_habit_is_learned_anew() {
    let mut predictor = new();
    let programs = [[0_u64, 1, 2, 3, 4, 5, 6, 7, 8, 9], [5, 0, 9, 2, 7, 4, 3, 6, 1, 8]];
    for phase in 0..6 {
        let mut missed = 0;
        for round in 0..2_000 {
            for op in programs[phase % 2] {
                let wrong = indirect(&mut predictor, 0x140, 0x1000 + op * 0x40)
                    | conditional(&mut predictor, 0x200, op < 3);
                missed += u64::from(wrong && round >= 1_000);
            }
        }
        assert!(missed < 1_000 * 10 / 50, "phase {phase}: {missed}");
    }
}

#[test]
fn a_taken_branch_misses_the_target_buffer_once_and_again_when_it_was_put_out() {
    let params = PredictParams::default();
    let mut predictor = new();
    let kind = BranchKind::Jump;
    let miss = |predictor: &mut Predictor, pc: u64| {
        let outcome = predictor.predict_and_update(kind, pc, true, pc + 50, pc + 2);
        assert!(!outcome.mispredicted, "the decoder knows a direct target");
        outcome.btb_miss
    };
    // Addresses of one set: the part above the index is folded into it and cancels out.
    let bits = (params.btb.entries / params.btb.assoc).trailing_zeros();
    let pc = |n: u64| n << bits | (0x40 ^ n);
    assert!(miss(&mut predictor, pc(0)));
    assert!(!miss(&mut predictor, pc(0)));
    for n in 1..=u64::from(params.btb.assoc) {
        assert!(miss(&mut predictor, pc(n)));
    }
    assert!(miss(&mut predictor, pc(0)), "a set holds as many branches as it has ways");
}

#[test]
fn a_branch_predicted_not_taken_needs_no_target() {
    let mut predictor = new();
    let outcomes: Vec<_> = (0..50)
        .map(|_| predictor.predict_and_update(BranchKind::Conditional, 0x80, false, 0x90, 0x82))
        .collect();
    assert!(outcomes[5..].iter().all(|o| !o.btb_miss && !o.mispredicted));
}

/// A seeded mix of all kinds, over more addresses than any table has entries.
fn mix(predictor: &mut Predictor, count: u64, seed: u64) -> Vec<(bool, bool)> {
    let mut state = seed;
    let mut stack = Vec::new();
    let one = |_| {
        let r = random(&mut state);
        let pc = r % (1 << 20);
        let kind = BranchKind::ALL[(r >> 24) as usize % 6];
        let taken = kind != BranchKind::Conditional || r >> 32 & 1 == 0;
        let mut target = (r >> 33) % 1_000 * 16;
        match kind {
            BranchKind::Call | BranchKind::IndirectCall => stack.push(pc + 5),
            BranchKind::Return => target = stack.pop().unwrap_or(target),
            _ => {}
        }
        let outcome = predictor.predict_and_update(kind, pc, taken, target, pc + 5);
        (outcome.mispredicted, outcome.btb_miss)
    };
    (0..count).map(one).collect()
}

#[test]
fn the_same_branches_get_the_same_predictions() {
    let (mut one, mut two) = (new(), new());
    assert!(mix(&mut one, 100_000, 7) == mix(&mut two, 100_000, 7));
    assert_eq!(one.statistics(), two.statistics());
}

#[test]
fn far_more_branches_than_entries_do_no_harm_and_add_up() {
    let mut predictor = new();
    let outcomes = mix(&mut predictor, 300_000, 3);
    let s = predictor.statistics();
    let total = s.total();
    assert_eq!(total.executed, outcomes.len() as u64);
    assert_eq!(total.mispredicted, outcomes.iter().filter(|o| o.0).count() as u64);
    assert_eq!(total.btb_misses, outcomes.iter().filter(|o| o.1).count() as u64);
    for kind in BranchKind::ALL {
        let k = s.kind(kind);
        assert!(k.executed > 0 && k.taken <= k.executed && k.mispredicted <= k.executed);
        assert!(kind == BranchKind::Conditional || k.taken == k.executed);
    }
    assert_eq!(s.kind(BranchKind::Jump).mispredicted, 0);
    assert_eq!(s.kind(BranchKind::Call).mispredicted, 0);
    let layout = stats::Layout::of(&s);
    let values = layout.values(&stats::Reading::of(&s));
    let indirect = [BranchKind::IndirectJump, BranchKind::IndirectCall].map(|kind| s.kind(kind));
    let sums = [
        ("conditional", s.kind(BranchKind::Conditional).executed),
        ("indirect", indirect[0].executed + indirect[1].executed),
        ("indirect_mispredicted", indirect[0].mispredicted + indirect[1].mispredicted),
        ("returns", s.kind(BranchKind::Return).executed),
    ];
    for (name, sum) in sums {
        assert_eq!(values.get("predictor", name), Some(sum), "{name}");
    }
    predictor.reset_statistics();
    assert_eq!(predictor.statistics(), PredictStatistics::default());
}

#[test]
fn warming_trains_like_predicting() {
    let (mut one, mut two) = (new(), new());
    let mut state = 5;
    for n in 0..50_000 {
        let r = random(&mut state);
        let (pc, taken) = (r % 4_000, n % (2 + r % 3) == 0);
        conditional(&mut one, pc, taken);
        two.warm(BranchKind::Conditional, pc, taken, pc + 100, pc + 2);
    }
    assert_eq!(one.statistics(), two.statistics());
    assert!(mix(&mut one, 20_000, 9) == mix(&mut two, 20_000, 9));
}

#[test]
fn tables_of_any_allowed_size_work() {
    for (tables, entries, tag_bits) in [(1, 2, 4), (8, 16_384, 15), (3, 64, 8)] {
        let mut params = PredictParams::default();
        params.tage.histories = (1..=tables).map(|n| n * n * 4).collect();
        (params.tage.entries, params.tage.tag_bits) = (entries, tag_bits);
        (params.tage.bimodal_entries, params.loops.entries) = (2, 1);
        params.indirect.entries = 2;
        params.indirect.histories = vec![tables - 1];
        (params.btb.entries, params.btb.assoc) = (1, 1);
        params.returns.entries = 1;
        let mut predictor = Predictor::new(&params).unwrap();
        assert_eq!(mix(&mut predictor, 20_000, 1).len(), 20_000);
    }
    let mut params = PredictParams::default();
    params.loops.entries = 0;
    params.indirect.histories = vec![];
    let mut predictor = Predictor::new(&params).unwrap();
    mix(&mut predictor, 20_000, 1);
}
