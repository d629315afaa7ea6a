//! From the simulator's measurements to what is reported and stored.

use std::collections::BTreeMap;

use accel::area::Source;
use params::toml::Value;
use results::{Configuration, Exit, ParameterValue, Role, Sampling};
use sim::{ConfigSpec, Outcome, Plan, StreamFacts};
use stats::Schema;
use stream::event::EXIT_SIGNALLED;

/// Configuration number `index` of a run, as it is reported.
pub fn configuration(spec: &ConfigSpec, outcome: &Outcome, index: usize) -> Configuration {
    let model = spec.accelerator.model();
    let areas = spec.accelerator.build().map(|model| model.area()).unwrap_or_default();
    let area = |source| accel::area::find(&areas, source, accel::area::NM_28);
    let (estimate, rtl) = (area(Source::Estimate), area(Source::Synthesis));
    Configuration {
        name: spec.name.clone(),
        machine: spec.machine.name.clone(),
        accelerator: model.name().to_owned(),
        role: role(spec),
        parameters: parameters(spec),
        resolved_machine: spec.machine.resolved(),
        area_um2: estimate.map(|area| area.um2_max),
        area_rtl_um2_min: rtl.map(|area| area.um2_min),
        area_rtl_um2_max: rtl.map(|area| area.um2_max),
        ..outcome.measured[index].configuration(outcome.facts.sampled)
    }
}

fn role(spec: &ConfigSpec) -> Role {
    match spec.accelerator.role() {
        accel::Role::Baseline => Role::Baseline,
        accel::Role::Limit => Role::Limit,
        accel::Role::Bound => Role::Bound,
        accel::Role::Part => Role::Part,
        accel::Role::Candidate if spec.subject => Role::Subject,
        accel::Role::Candidate => Role::Candidate,
    }
}

/// What the machines of a run can count, and what this version has a place for besides.
pub fn schema(outcome: &Outcome) -> Schema {
    let measured = outcome.measured.iter().map(|measured| measured.layout.schema());
    measured.fold(sim::declared(), |all, one| all.merged(&one))
}

fn parameters(spec: &ConfigSpec) -> BTreeMap<String, ParameterValue> {
    let value = |value: Value| match value {
        Value::Boolean(on) => ParameterValue::Bool(on),
        Value::Integer(number) => ParameterValue::Integer(number),
        Value::Float(number) => ParameterValue::Real(number),
        Value::String(text) => ParameterValue::Text(text),
        other => ParameterValue::Text(other.to_string()),
    };
    let all = spec.accelerator.parameters();
    all.into_iter().map(|(name, parameter)| (name.to_owned(), value(parameter))).collect()
}

/// How the run was sampled, if it was.
pub fn sampling(plan: &Plan, facts: &StreamFacts, samples: usize) -> Option<Sampling> {
    facts.sampled.then_some(Sampling {
        period: plan.sample.period,
        warm: plan.sample.warm,
        measure: plan.sample.measure,
        samples: samples as u64,
        population: facts.population,
    })
}

/// How the program ended, from the payload of its exit event.
pub fn exit(payload: u64) -> Exit {
    // Exit codes and signal numbers are small; the mask ensures that for any payload.
    let number = (payload & 0xff) as i32;
    if payload & EXIT_SIGNALLED != 0 { Exit::Signal(number) } else { Exit::Code(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{SAMPLE, Seeds};
    use std::sync::atomic::AtomicBool;
    use stream::{Packet, Source, StreamError};

    #[test]
    fn an_exit_event_is_a_code_or_a_signal() {
        assert_eq!(exit(0), Exit::Code(0));
        assert_eq!(exit(7), Exit::Code(7));
        assert_eq!(exit(EXIT_SIGNALLED | 11), Exit::Signal(11));
    }

    struct Empty;

    impl Source for Empty {
        fn next(&mut self, _packet: &mut Packet) -> Result<bool, StreamError> {
            Ok(false)
        }
    }

    #[test]
    fn a_run_of_nothing_reports_every_counter_as_zero() {
        let machine = uarch::Machine::find("haswell").unwrap();
        let accelerator = accel::Choice::parse("mallacc").unwrap();
        let spec = ConfigSpec::new("m", machine, accelerator);
        let plan = Plan {
            skip: 0,
            max: None,
            sample: SAMPLE,
            budget: None,
            roi_only: false,
            seeds: Seeds::ONE,
        };
        let stop = AtomicBool::new(false);
        let specs = std::slice::from_ref(&spec);
        let outcome = sim::run(&mut Empty, plan, specs, &stop, &mut ()).unwrap();
        let item = configuration(&spec, &outcome, 0);
        assert_eq!(item.parameters["entries"], ParameterValue::Integer(16));
        let groups: Vec<&str> = item.counted.iter().map(|(path, _)| path).collect();
        let declared: Vec<String> =
            outcome.measured[0].layout.schema().groups().iter().map(|g| g.path()).collect();
        assert_eq!(groups, declared);
        assert!(item.counted.iter().flat_map(|(_, group)| group).all(|(_, value)| *value == 0));
    }
}
