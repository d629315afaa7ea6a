//! All accelerator models, and how a configuration names one.

use std::fmt;

use params::{ConfigError, ParamDoc, toml, unknown_name};

use crate::Accelerator;

/// A kind of accelerator: what the registry knows about it.
pub trait Model: Sync {
    /// Unique name.
    fn name(&self) -> &'static str;
    /// One clause.
    fn describe(&self) -> &'static str;
    /// Declared parameters.
    fn parameters(&self) -> &'static [ParamDoc];
    /// An instance; unknown or unfit settings are refused.
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError>;
    /// Default settings.
    fn defaults(&self) -> toml::Value;
    /// Settings with which the model must equal the baseline cycle for cycle.
    fn disabled(&self) -> toml::Value;
}

/// Every model there is.
pub fn registry() -> &'static [&'static dyn Model] {
    &[&crate::none::NoneModel, &crate::mallacc::MallaccModel, &crate::limit::LimitModel]
}

/// The model of a name; the error lists the valid ones and the nearest.
pub fn find(name: &str) -> Result<&'static dyn Model, ConfigError> {
    registry().iter().copied().find(|m| m.name() == name).ok_or_else(|| {
        let valid: Vec<&str> = registry().iter().map(|m| m.name()).collect();
        unknown_name("accelerator", name, name, &valid)
    })
}

/// An accelerator as a configuration names it: `name` or `name:key=value,key=value`.
#[derive(Clone)]
pub struct Choice {
    /// The text it was read from.
    pub text: String,
    /// The model.
    pub model: &'static dyn Model,
    /// Settings given, the rest are defaults.
    pub settings: toml::Value,
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Choice {
    /// A model with its defaults; it need not be in the registry.
    pub fn of(model: &'static dyn Model) -> Self {
        Self {
            text: model.name().to_owned(),
            model,
            settings: toml::Value::Table(toml::Table::new()),
        }
    }

    /// Reads `name:key=value,…`. Values are numbers, or `on`/`off`/`true`/`false`, or names.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let (model, rest) = text.split_once(':').unwrap_or((text, ""));
        let found = find(model)?;
        let mut table = toml::Table::new();
        for pair in rest.split(',').filter(|p| !p.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(ConfigError(format!(
                    "accelerator {text:?}: {pair:?} is not key=value; try {model}:{pair}=on"
                )));
            };
            table.insert(key.trim().to_owned(), scalar(value.trim()));
        }
        let settings = toml::Value::Table(table);
        found.build(&settings)?;
        Ok(Self { text: text.to_owned(), model: found, settings })
    }

    /// A fresh instance.
    pub fn build(&self) -> Result<Box<dyn Accelerator>, ConfigError> {
        self.model.build(&self.settings)
    }

    /// All parameters with their values, defaults filled in, in declared order.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let defaults = self.model.defaults();
        let value = |name: &str| self.settings.get(name).or_else(|| defaults.get(name));
        let declared = self.model.parameters().iter();
        declared.filter_map(|d| value(d.name).map(|v| (d.name.to_owned(), v.to_string()))).collect()
    }
}

fn scalar(text: &str) -> toml::Value {
    match text {
        "on" | "true" | "yes" => toml::Value::Boolean(true),
        "off" | "false" | "no" => toml::Value::Boolean(false),
        _ => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(n), _) => toml::Value::Integer(n),
            (_, Ok(f)) => toml::Value::Float(f),
            _ => toml::Value::String(text.to_owned()),
        },
    }
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
    fn an_unknown_name_lists_the_valid_ones_and_the_nearest() {
        let error = Choice::parse("malacc").unwrap_err().0;
        assert!(
            error.contains("\"mallacc\"?") && error.contains("none, mallacc, limit"),
            "{error}"
        );
    }

    #[test]
    fn settings_are_read_and_checked() {
        let choice = Choice::parse("mallacc:entries=32,index=off").unwrap();
        let parameters = choice.parameters();
        assert!(parameters.contains(&("entries".into(), "32".into())));
        assert!(parameters.contains(&("index".into(), "false".into())));
        for (text, part) in [
            ("mallacc:entires=3", "entries"),
            ("mallacc:entries=0", "1 to 64"),
            ("mallacc:entries", "key=value"),
            ("none:x=1", "x"),
        ] {
            let error = Choice::parse(text).unwrap_err().0;
            assert!(error.contains(part), "{error}");
        }
    }
}
