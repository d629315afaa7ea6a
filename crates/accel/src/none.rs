//! The baseline: no hardware help. Markers are dropped.

use params::{ConfigError, ParamDoc, toml};

use crate::{Accelerator, Completed, Marker, Model, Reply, Role, Setting};

/// The baseline's registry entry.
pub struct NoneModel;

impl Model for NoneModel {
    fn name(&self) -> &'static str {
        "none"
    }
    fn describe(&self) -> &'static str {
        "the baseline: the plain allocator, markers dropped"
    }
    fn role(&self) -> Role {
        Role::Baseline
    }
    fn parameters(&self) -> &'static [ParamDoc] {
        &[]
    }
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError> {
        params::check_keys(settings, "none", &[])?;
        Ok(Box::new(Baseline))
    }
    fn defaults(&self) -> toml::Value {
        toml::Value::Table(toml::Table::new())
    }
    fn disabled(&self) -> toml::Value {
        self.defaults()
    }
    fn usual(&self) -> &'static [&'static [Setting]] {
        &[&[]]
    }
}

struct Baseline;

impl Accelerator for Baseline {
    fn on_marker(&mut self, _marker: &Marker, _reply: &mut Reply) {}
    fn completed(&mut self, _completed: Completed) {}
    fn context_switch(&mut self) {}
}
