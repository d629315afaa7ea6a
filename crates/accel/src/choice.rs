//! An accelerator as named in a configuration.

use params::{ConfigError, toml};

use crate::Accelerator;
use crate::registry::{Model, Role, find, model_of};

/// A model with settings: built in code ([`Choice::of`], [`Choice::with`]) or read from
/// `name:key=value,key=value` ([`Choice::parse`]).
#[derive(Clone)]
pub struct Choice {
    model: &'static dyn Model,
    given: Vec<Setting>,
    part: bool,
}

/// A setting that was given; all others keep their defaults.
#[derive(Clone, Debug)]
struct Setting {
    key: String,
    value: toml::Value,
    /// `key=value` as it was written.
    text: String,
}

impl Choice {
    /// A model with its defaults.
    pub fn of(model: &'static dyn Model) -> Self {
        Self { model, given: Vec::new(), part: false }
    }

    /// The baseline.
    pub fn baseline() -> Self {
        Self::of(model_of(Role::Baseline))
    }

    /// The same with one more setting. [`Choice::build`] checks whether the model has it and
    /// accepts the value.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<toml::Value>) -> Self {
        let value = value.into();
        let shown = match &value {
            toml::Value::Boolean(on) => if *on { "on" } else { "off" }.to_owned(),
            other => other.to_string(),
        };
        self.given.push(Setting { key: key.to_owned(), value, text: format!("{key}={shown}") });
        self
    }

    /// Reads `name:key=value,…`. Values are numbers, or `on`/`off`/`true`/`false`, or names.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let (model, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut choice = Self::of(find(model)?);
        for pair in rest.split(',').filter(|p| !p.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                return Err(ConfigError(format!(
                    "accelerator {text:?}: {pair:?} is not key=value; try {model}:{pair}=on"
                )));
            };
            let (key, value) = (key.trim().to_owned(), scalar(value.trim()));
            choice.given.push(Setting { key, value, text: pair.to_owned() });
        }
        choice.build()?;
        Ok(choice)
    }

    /// The same, as a part of an accelerator: measured to see what the part contributes.
    #[must_use]
    pub fn part(self) -> Self {
        Self { part: true, ..self }
    }

    /// What it is measured for.
    pub fn role(&self) -> Role {
        if self.part {
            return Role::Part;
        }
        let all = self.parameters().into_iter().map(|(name, value)| (name.to_owned(), value));
        self.model.role_with(&toml::Value::Table(all.collect()))
    }

    /// The model.
    pub fn model(&self) -> &'static dyn Model {
        self.model
    }

    /// `name:key=value,…`, which [`Choice::parse`] reads.
    pub fn text(&self) -> String {
        let settings: Vec<&str> = self.given.iter().map(|s| s.text.as_str()).collect();
        match settings.as_slice() {
            [] => self.model.name().to_owned(),
            all => format!("{}:{}", self.model.name(), all.join(",")),
        }
    }

    /// A fresh instance; unknown or invalid settings are refused.
    pub fn build(&self) -> Result<Box<dyn Accelerator>, ConfigError> {
        self.model.build(&toml::Value::Table(self.settings()))
    }

    /// All parameters with their values, defaults filled in, in declared order.
    pub fn parameters(&self) -> Vec<(&'static str, toml::Value)> {
        let (given, defaults) = (self.settings(), self.model.defaults());
        let value = |name| given.get(name).or_else(|| defaults.get(name)).cloned();
        let declared = self.model.parameters().iter();
        declared.filter_map(|doc| Some((doc.name, value(doc.name)?))).collect()
    }

    /// The value of the parameter that gives the model's size ([`Model::size`]).
    pub fn size(&self) -> Option<toml::Value> {
        let size = self.model.size()?;
        self.parameters().into_iter().find(|(name, _)| *name == size).map(|(_, value)| value)
    }

    /// The settings given, except the size, as they were written.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        let size = self.model.size();
        let others = self.given.iter().filter(move |s| Some(s.key.as_str()) != size);
        others.map(|setting| setting.text.as_str())
    }

    fn settings(&self) -> toml::Table {
        self.given.iter().map(|s| (s.key.clone(), s.value.clone())).collect()
    }
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

/// The same model with the same values.
impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.model.name() == other.model.name() && self.settings() == other.settings()
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
        assert!(parameters.contains(&("entries", 32.into())));
        assert!(parameters.contains(&("index", false.into())));
        for (text, part) in [
            ("mallacc:entires=3", "entries"),
            (
                "mallacc:entries=0",
                "mallacc.entries = 0: must be a whole number from 1 to 64; try 1",
            ),
            ("mallacc:entries=-3", "= -3: must be a whole number from 1 to 64; try 1"),
            ("mallacc:entries=2.5", "= 2.5: must be a whole number from 1 to 64; try 3"),
            ("mallacc:entries=300", "= 300: must be a whole number from 1 to 64; try 64"),
            ("mallacc:entries", "key=value"),
            ("none:x=1", "x"),
        ] {
            let error = Choice::parse(text).unwrap_err().0;
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_built_in_code_is_what_its_text_says() {
        let model = find("mallacc").unwrap();
        let choice = Choice::of(model).with("entries", 8).with("index", false);
        assert_eq!(choice.text(), "mallacc:entries=8,index=off");
        assert_eq!(Choice::parse(&choice.text()).unwrap(), choice);
        assert_eq!(choice.size(), Some(8.into()));
        assert_eq!(choice.others().collect::<Vec<_>>(), ["index=off"]);
        let error = Choice::of(model).with("entries", 65).build().err().unwrap().0;
        assert!(error.contains("1 to 64"), "{error}");
    }
}
