//! A machine: core, memory hierarchy and predictors, read strictly from a TOML file.

use memory::MemoryParams;
use params::{ConfigError, Param, params, toml, unknown_name};
use predict::PredictParams;

use crate::params::CoreParams;

params! {
    /// A whole machine.
    pub struct Machine {
        /// Name in reports.
        name: String = "haswell".into(), "";
        /// The core.
        core: CoreParams = CoreParams::default(), "";
        /// The memory hierarchy.
        memory: MemoryParams = MemoryParams::default(), "";
        /// The branch predictors.
        predict: PredictParams = PredictParams::default(), "";
    }
}

/// Machines that come with the program: name and file text.
pub const BUILT_IN: &[(&str, &str)] =
    &[("haswell", include_str!("../../../machines/haswell.toml"))];

impl Machine {
    /// A built-in machine by name, or a file by path (a name with a slash or ending in `.toml`).
    pub fn find(name: &str) -> Result<Self, ConfigError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            return Self::parse(text, name);
        }
        if name.ends_with(".toml") || name.contains('/') {
            let text = std::fs::read_to_string(name)
                .map_err(|e| ConfigError(format!("machine file {name}: cannot read: {e}")))?;
            return Self::parse(&text, name);
        }
        let valid: Vec<&str> = BUILT_IN.iter().map(|(n, _)| *n).collect();
        let ConfigError(text) = unknown_name("machine", name, name, &valid);
        Err(ConfigError(format!("{text}, or a path to a machine file (…/name.toml)")))
    }

    /// Reads a machine file's text; `origin` stands before each message.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ConfigError> {
        let located = |e: ConfigError| ConfigError(format!("{origin}: {}", e.0));
        let value = params::parse(text).map_err(located)?;
        let machine = Self::read(&value, "").map_err(located)?;
        machine.check().map_err(located)?;
        Ok(machine)
    }

    /// The fully resolved configuration as TOML.
    pub fn resolved(&self) -> String {
        match self.write() {
            toml::Value::Table(table) => table.to_string(),
            other => other.to_string(),
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let core = &self.core;
        for (name, value, low, high) in [
            ("core.allocate_width", core.allocate_width, 1, 16),
            ("core.retire_width", core.retire_width, 1, 16),
            ("core.rob", core.rob, 8, 512),
            ("core.rs", core.rs, 4, 250),
            ("core.lq", core.lq, 4, 256),
            ("core.sq", core.sq, 4, 64),
            ("core.idq", core.idq, 4, 256),
            ("core.decode.queue", core.decode.queue, 4, 64),
            ("core.decode.width", core.decode.width, 1, 8),
            ("core.decode.predecode_width", core.decode.predecode_width, 1, 16),
            ("core.uop_cache.width", core.uop_cache.width, 1, 16),
            ("core.uop_cache.ways", core.uop_cache.ways, 1, 16),
            ("core.uop_cache.line_uops", core.uop_cache.line_uops, 1, 16),
            ("core.taken_branch", core.taken_branch, 1, 100),
            ("core.store_forward", core.store_forward, 1, 100),
        ] {
            if !(low..=high).contains(&value) {
                let rule = format!("must be {low} to {high}");
                let near = value.clamp(low, high);
                return Err(ConfigError::rule(name, value, &rule, &format!("try {near}")));
            }
        }
        for (name, value) in [
            ("core.uop_cache.sets", core.uop_cache.sets),
            ("core.decode.predecode_bytes", core.decode.predecode_bytes),
        ] {
            if !value.is_power_of_two() {
                let near = format!("try {}", value.next_power_of_two());
                return Err(ConfigError::rule(name, value, "must be a power of two", &near));
            }
        }
        Ok(())
    }
}
