//! All accelerator models and their descriptions.

use params::{ConfigError, ParamDoc, toml, unknown_name};

use crate::{Accelerator, Choice};

/// What a configuration is measured for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What the others are compared with: no hardware help.
    Baseline,
    /// The steps that candidates accelerate, at no cost.
    Limit,
    /// Whole allocator calls at no cost: no help for allocation can beat it.
    Bound,
    /// Hardware under study.
    Candidate,
    /// Some of a model's parts, to see what each contributes. Never what a run is about.
    Part,
}

/// A parameter and a value for it.
pub type Setting = (&'static str, toml::Value);

/// What `--ablations` derives from a model.
#[derive(Clone, Copy, Debug)]
pub struct Ablations {
    /// Prefix of its configurations' names.
    pub prefix: &'static str,
    /// Settings that all of them share.
    pub settings: &'static [Setting],
    /// Switches of its parts: each gets a configuration in which it is the only part switched on.
    pub parts: &'static [&'static str],
    /// Switches that each get a configuration in which everything else is on.
    pub refinements: &'static [&'static str],
}

/// A kind of accelerator, as the registry describes it.
pub trait Model: Sync {
    /// Unique name.
    fn name(&self) -> &'static str;
    /// One clause.
    fn describe(&self) -> &'static str;
    /// What it is measured for with its default settings.
    fn role(&self) -> Role {
        Role::Candidate
    }
    /// What it is measured for with these settings, which are complete and valid.
    fn role_with(&self, _settings: &toml::Value) -> Role {
        self.role()
    }
    /// Declared parameters.
    fn parameters(&self) -> &'static [ParamDoc];
    /// An instance; unknown or invalid settings are refused.
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError>;
    /// Default settings.
    fn defaults(&self) -> toml::Value;
    /// Settings with which the model must equal the baseline cycle for cycle.
    fn disabled(&self) -> toml::Value;
    /// The parameter that gives its size: it is part of its configurations' names, and sweeps vary
    /// it.
    fn size(&self) -> Option<&'static str> {
        None
    }
    /// Settings of the configurations that are simulated by default.
    fn usual(&self) -> &'static [&'static [Setting]] {
        &[]
    }
    /// Its parts, if they can be measured one by one.
    fn ablations(&self) -> Option<Ablations> {
        None
    }
}

/// Every model there is.
pub fn registry() -> &'static [&'static dyn Model] {
    &[&crate::none::NoneModel, &crate::mallacc::MallaccModel, &crate::limit::LimitModel]
}

/// The model with this name; the error lists the valid ones and the nearest.
pub fn find(name: &str) -> Result<&'static dyn Model, ConfigError> {
    registry().iter().copied().find(|m| m.name() == name).ok_or_else(|| {
        let valid: Vec<&str> = registry().iter().map(|m| m.name()).collect();
        unknown_name("accelerator", name, name, &valid)
    })
}

/// The first model with this role. A test asserts that there is one baseline and one limit.
pub fn model_of(role: Role) -> &'static dyn Model {
    let found = registry().iter().copied().find(|model| model.role() == role);
    found.unwrap_or(&crate::none::NoneModel)
}

/// What is simulated by default.
pub fn usual() -> Vec<Choice> {
    let choices = |model: &'static dyn Model| {
        model.usual().iter().map(move |settings| with_all(Choice::of(model), settings))
    };
    registry().iter().copied().flat_map(choices).collect()
}

/// Every model that has a size, at each of these sizes, between the baseline and the limit.
pub fn sweep(sizes: &[u64]) -> Vec<Choice> {
    let mut choices = vec![Choice::baseline()];
    for model in registry().iter().copied() {
        let sized = model.size().into_iter().flat_map(|size| sizes.iter().map(move |n| (size, n)));
        choices.extend(sized.map(|(size, n)| Choice::of(model).with(size, *n as i64)));
    }
    choices.push(Choice::of(model_of(Role::Limit)));
    choices
}

/// Every model with only one of its parts on, then every model without one of its refinements; the
/// names are `prefix/part` and `prefix/no_refinement`.
pub fn ablations() -> Vec<(String, Choice)> {
    let declared = || registry().iter().filter_map(|model| Some((*model, model.ablations()?)));
    let mut all = Vec::new();
    for (model, ablations) in declared() {
        for part in ablations.parts {
            let mut choice = with_all(Choice::of(model), ablations.settings);
            for other in ablations.parts.iter().filter(|other| *other != part) {
                choice = choice.with(other, false);
            }
            all.push((format!("{}/{part}", ablations.prefix), choice.part()));
        }
    }
    for (model, ablations) in declared() {
        for switch in ablations.refinements {
            let choice = with_all(Choice::of(model), ablations.settings).with(switch, false);
            all.push((format!("{}/no_{switch}", ablations.prefix), choice.part()));
        }
    }
    all
}

fn with_all(choice: Choice, settings: &[Setting]) -> Choice {
    settings.iter().fold(choice, |choice, (key, value)| choice.with(key, value.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_described() {
        for (i, model) in registry().iter().enumerate() {
            assert!(!model.describe().is_empty());
            assert!(registry()[..i].iter().all(|m| m.name() != model.name()));
            assert!(model.build(&model.defaults()).is_ok(), "{}", model.name());
            assert!(model.build(&model.disabled()).is_ok(), "{}", model.name());
            for doc in model.parameters() {
                assert!(!doc.text.trim().is_empty() && model.defaults().get(doc.name).is_some());
            }
        }
    }

    #[test]
    fn there_is_one_baseline_and_one_limit() {
        for role in [Role::Baseline, Role::Limit] {
            assert_eq!(registry().iter().filter(|model| model.role() == role).count(), 1);
            assert_eq!(model_of(role).role(), role);
        }
    }

    #[test]
    fn what_models_declare_to_be_measured_can_be_built() {
        let declared = ablations().into_iter().map(|(_, choice)| choice);
        for choice in usual().into_iter().chain(sweep(&[1, 64])).chain(declared) {
            assert!(choice.build().is_ok(), "{choice:?}");
        }
    }

    #[test]
    fn ablations_leave_one_part_on_at_a_time_or_one_refinement_off() {
        for model in registry() {
            let Some(declared) = model.ablations() else { continue };
            let of_model = |(name, choice): &(String, Choice)| {
                let on = |switch: &&&str| {
                    choice.parameters().contains(&(**switch, toml::Value::Boolean(true)))
                };
                let part = name.strip_prefix(declared.prefix)?.strip_prefix('/')?.to_owned();
                let parts: Vec<&str> = declared.parts.iter().filter(on).copied().collect();
                let refined = declared.refinements.iter().filter(on).count();
                Some((part, parts, refined))
            };
            let all: Vec<_> = ablations().iter().filter_map(of_model).collect();
            assert_eq!(all.len(), declared.parts.len() + declared.refinements.len());
            for (name, parts, refined) in all {
                match name.strip_prefix("no_") {
                    None => assert_eq!(
                        (vec![name.as_str()], declared.refinements.len()),
                        (parts, refined)
                    ),
                    Some(_) => {
                        assert_eq!(parts, declared.parts);
                        assert_eq!(refined, declared.refinements.len() - 1);
                    }
                }
            }
        }
    }
}
