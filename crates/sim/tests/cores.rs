//! Cores of several kinds in one run: the real one beside a made-up one.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::program::Program;
use accel::{Accelerator, Choice};
use mallacc_sim::{ConfigSpec, Outcome, Plan, Sample, Seeds, run};
use params::{ConfigError, Param, ParamDoc, toml};
use stats::{Counts, Walk};
use stream::CallKind;
use uarch::functional::{Functional, SiteCursor, State};
use uarch::kind::{CoreKind, Kind};
use uarch::machine::CoreSection;
use uarch::{Component, Core, CoreCounters, CpiStack, Machine, Step};

const GRID: Sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
const WHOLE: Plan =
    Plan { skip: 0, max: None, sample: GRID, budget: None, roi_only: false, seeds: Seeds::ONE };

params::params! {
    /// A core that takes its instructions one by one, and as long for each.
    pub struct ScalarParams {
        /// Cycles of an instruction.
        instruction: u32 = 1, "cycles";
    }
}

struct ScalarKind;

impl CoreKind for ScalarKind {
    fn name(&self) -> &'static str {
        "scalar"
    }
    fn describe(&self) -> &'static str {
        "in order, so many cycles for each instruction, whatever it is"
    }
    fn parameters(&self) -> &'static [ParamDoc] {
        ScalarParams::declared()
    }
    fn own_defaults(&self) -> toml::Table {
        ScalarParams::default().write().try_into().unwrap_or_default()
    }
    fn check(&self, machine: &Machine) -> Result<(), ConfigError> {
        ScalarParams::read(&machine.core.own(), "core").map(|_| ())
    }
    fn build(
        &self,
        machine: &Machine,
        accelerator: Box<dyn Accelerator>,
    ) -> Result<Box<dyn Core>, ConfigError> {
        let functional = Functional::new(machine, accelerator)?;
        let params = ScalarParams::read(&machine.core.own(), "core")?;
        Ok(Box::new(Scalar { functional, params, counters: CoreCounters::default() }))
    }
}

struct Scalar {
    functional: Functional,
    params: ScalarParams,
    counters: CoreCounters,
}

impl Counts for Scalar {
    fn visit(&self, walk: &mut Walk<'_>) {
        walk.one(&CoreCounters { cycles: self.cycles(), ..self.counters });
        let mut stack = CpiStack::default();
        stack.0[Component::Base as usize] = self.cycles();
        walk.one(&stack);
        self.functional.visit(walk);
    }
}

impl Core for Scalar {
    fn execute(&mut self, step: &Step) {
        let mut sites = SiteCursor::new(step);
        let first = self.cycles() + u64::from(self.params.instruction);
        for (index, insn) in step.block.insns.iter().enumerate() {
            if let Some((site, values)) = sites.at(index) {
                let pc = step.block.addr + u64::from(insn.offset);
                let answer = self.functional.marker(site, values, pc, Some(first));
                self.counters.injected += answer.reply.inject.len() as u64;
                self.functional.markers.take_back(answer);
            }
            match (insn.marker, self.functional.markers.eliding()) {
                (true, _) => {}
                (false, true) => self.counters.elided += 1,
                (false, false) => self.counters.retired += 1,
            }
        }
        if self.functional.markers.eliding() {
            self.functional.warm_branch(step);
        } else {
            self.functional.resolve_branch(step, self.cycles());
        }
    }
    fn context_switch(&mut self) {
        self.functional.context_switch();
    }
    fn cycles(&self) -> u64 {
        let all = self.counters.retired + self.counters.injected;
        all * u64::from(self.params.instruction)
    }
    fn warm(&mut self, step: &Step) {
        self.functional.warm(step);
    }
    fn state(&self) -> &dyn State {
        &self.functional
    }
    fn state_mut(&mut self) -> &mut dyn State {
        &mut self.functional
    }
}

fn section(text: &str) -> Result<CoreSection, ConfigError> {
    CoreSection::of(Kind(&ScalarKind), &params::parse(text)?, "core")
}

/// A machine with the made-up core, configured by a machine file's `[core]` section.
fn scalar(text: &str) -> Machine {
    Machine { name: "scalar".into(), core: section(text).unwrap(), ..Machine::default() }
}

fn spec(name: &str, machine: Machine, accelerator: &str) -> ConfigSpec {
    ConfigSpec::new(name, machine, Choice::parse(accelerator).unwrap())
}

fn simulate(rounds: u64, specs: &[ConfigSpec]) -> Outcome {
    let stop = AtomicBool::new(false);
    run(&mut Program::new().packets(rounds, 8), WHOLE, specs, &stop, &mut ()).unwrap()
}

fn counters(outcome: &Outcome, index: usize) -> BTreeMap<String, u64> {
    let measured = &outcome.measured[index];
    let values = measured.values(&measured.whole);
    let named = |(path, values): (&str, &[(String, u64)])| -> Vec<_> {
        values.iter().map(|(name, value)| (format!("{path}.{name}"), *value)).collect()
    };
    values.iter().flat_map(named).collect()
}

/// Instructions of a round: call; malloc's lea … je and mov … ret; mov and call; free; work.
const ROUND: u64 = 1 + 11 + 3 + 2 + 4 + 12;
/// Those of them between lookup and update, sample and its end, pop and its end.
const MARKED: u64 = 4 + 3 + 4;

#[test]
fn a_core_of_another_kind_runs_beside_the_real_one() {
    let rounds = 500;
    let specs = [
        spec("real", Machine::default(), "none"),
        spec("one", scalar(""), "none"),
        spec("two", scalar("instruction = 2"), "none"),
        spec("limit", scalar(""), "limit"),
    ];
    let outcome = simulate(rounds, &specs);
    let cycles = |index| counters(&outcome, index)["core.cycles"];
    assert_eq!(cycles(1), rounds * ROUND);
    assert_eq!(cycles(2), 2 * rounds * ROUND);
    // The limit omits what is marked and prefetches the popped object.
    assert_eq!(cycles(3), rounds * (ROUND - MARKED + 1));
    assert_eq!(counters(&outcome, 3)["core.elided"], rounds * MARKED);
    // From the first instruction's retirement to the return's: fourteen in malloc, four in free.
    let calls = &outcome.measured[1].whole.calls;
    assert_eq!(calls[CallKind::Malloc].cycles, rounds * 13);
    assert_eq!(calls[CallKind::Free].cycles, rounds * 3);
    // The other cores do not affect the real one.
    assert_eq!(counters(&outcome, 0), counters(&simulate(rounds, &specs[..1]), 0));
    // Both predict the same branches.
    for index in 0..specs.len() {
        let of = |name: &str| counters(&outcome, index)[name];
        assert_eq!(of("predictor.returns"), counters(&outcome, 0)["predictor.returns"]);
        // The made-up core retires something in every cycle; the real one also stalls.
        assert_eq!(of("cpi.base") == of("core.cycles"), index > 0);
    }
}

#[test]
fn a_kind_of_core_has_keys_of_its_own_and_refuses_all_others() {
    let error = section("instructoin = 2").unwrap_err().0;
    assert!(error.contains("core.instructoin") && error.contains("\"instruction\""), "{error}");
    assert!(section("rob = 192").unwrap_err().0.contains("The valid ones are: instruction"));
    let resolved = scalar("instruction = 3").resolved();
    assert!(resolved.contains("kind = \"scalar\"") && resolved.contains("instruction = 3"));
    assert!(!resolved.contains("rob"), "{resolved}");
}

#[test]
fn machines_with_lines_of_different_sizes_share_a_stream() {
    let wide = || {
        let mut machine = Machine::default();
        machine.memory.line = 128;
        machine
    };
    let specs = [spec("narrow", Machine::default(), "none"), spec("wide", wide(), "none")];
    let together = simulate(500, &specs);
    for (index, spec) in specs.iter().enumerate() {
        let alone = simulate(500, std::slice::from_ref(spec));
        assert_eq!(counters(&together, index), counters(&alone, 0), "{}", spec.name);
    }
}
