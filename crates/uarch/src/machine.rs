//! A machine: core, memory hierarchy and predictors, read strictly from a TOML file.

use decode::Family;
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
pub const BUILT_IN: &[(&str, &str)] = &[
    ("haswell", include_str!("../../../machines/haswell.toml")),
    ("goldencove", include_str!("../../../machines/goldencove.toml")),
];

impl Machine {
    /// A built-in machine by name, or a file by path (a name with a slash or ending in `.toml`).
    pub fn find(name: &str) -> Result<Self, ConfigError> {
        Self::parse(&Self::file(name)?, name)
    }

    /// The same machine as a user-level simulator sees it: system calls and page faults are those
    /// of the program, and what the operating system does for them takes no time.
    #[must_use]
    pub fn user_level(mut self) -> Self {
        self.name += "-user";
        self.core.syscall = 0;
        self.memory.page_fault.cycles = 0;
        self
    }

    /// The text of its file.
    pub fn file(name: &str) -> Result<String, ConfigError> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) {
            return Ok((*text).to_owned());
        }
        if name.ends_with(".toml") || name.contains('/') {
            return std::fs::read_to_string(name)
                .map_err(|e| ConfigError(format!("machine file {name}: cannot read: {e}")));
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

    /// The configuration as a machine file, every value with its unit and source.
    pub fn documented(&self) -> String {
        params::documented(Self::declared(), &self.write())
    }

    /// The fully resolved configuration as TOML.
    pub fn resolved(&self) -> String {
        match self.write() {
            toml::Value::Table(table) => table.to_string(),
            other => other.to_string(),
        }
    }

    /// Whose instruction table and ports it has.
    pub fn family(&self) -> Result<Family, ConfigError> {
        let name = &self.core.instructions;
        let valid = Family::ALL.map(|(name, _)| name);
        let unknown = || unknown_name("instruction table", name, name, &valid);
        Family::find(name).ok_or_else(unknown)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.family()?;
        self.memory.validate().map_err(|error| ConfigError(format!("memory.{}", error.0)))?;
        let core = &self.core;
        for (name, value, low, high) in [
            ("core.allocate_width", core.allocate_width, 1, 16),
            ("core.retire_width", core.retire_width, 1, 16),
            ("core.rob", core.rob, 8, 512),
            ("core.rs", core.rs, 4, 250),
            ("core.rs_loads", core.rs_loads, 1, 250),
            ("core.lq", core.lq, 4, 256),
            ("core.sq", core.sq, 4, 128),
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
        let near = core.near_branches;
        if near != 0 && (near < 4 || !near.is_power_of_two()) {
            let rule = "must be 0 or a power of two from 4 on";
            let remedy = format!("try {}", near.next_power_of_two().max(4));
            return Err(ConfigError::rule("core.near_branches", near, rule, &remedy));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_haswell_file_states_every_default_with_unit_and_source() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/haswell.toml");
        let text = Machine::default().documented();
        if std::env::var_os("MALLACC_UPDATE_DOCS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        assert_eq!(Machine::find("haswell"), Ok(Machine::default()));
    }

    #[test]
    fn every_built_in_machine_builds_and_has_its_name() {
        for (name, _) in BUILT_IN {
            let machine = Machine::find(name).unwrap();
            assert_eq!(machine.name, *name);
            let none = accel::registry::find("none").unwrap();
            let none = none.build(&none.defaults()).unwrap();
            assert!(crate::Core::new(&machine, none, ()).is_ok(), "{name}");
        }
    }

    #[test]
    fn every_value_of_a_built_in_machine_has_a_note_in_its_file() {
        for (name, text) in BUILT_IN {
            assert_eq!(params::Notes::of(text).missing(), Vec::<&str>::new(), "{name}");
        }
    }

    #[test]
    fn bad_machine_files_are_refused_in_one_sentence() {
        for (text, part) in [
            ("[core]\nrob = 4", "core.rob = 4: must be 8 to 512; try 8"),
            ("[core]\nrobb = 4", "did you mean \"rob\""),
            ("[core.uop_cache]\nsets = 33", "must be a power of two; try 64"),
            ("[core]\ninstructions = \"hasvell\"", "did you mean \"haswell\""),
            ("core = 3", "must be a section"),
            ("[core", "line 1: not valid TOML"),
        ] {
            let error = Machine::parse(text, "x.toml").unwrap_err().0;
            assert!(error.starts_with("x.toml: ") && error.contains(part), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
        assert!(Machine::find("haswel").unwrap_err().0.contains("\"haswell\""));
        assert!(Machine::find("./none.toml").unwrap_err().0.contains("cannot read"));
    }

    #[test]
    fn at_user_level_only_the_operating_systems_time_is_gone() {
        let machine = Machine::find("goldencove").unwrap();
        let user = machine.clone().user_level();
        assert_eq!((user.core.syscall, user.memory.page_fault.cycles), (0, 0));
        let mut back = user;
        back.name = machine.name.clone();
        back.core.syscall = machine.core.syscall;
        back.memory.page_fault.cycles = machine.memory.page_fault.cycles;
        assert_eq!(back, machine);
    }

    #[test]
    fn the_resolved_configuration_reads_back_the_same() {
        let mut machine = Machine::default();
        machine.core.rob = 96;
        assert_eq!(Machine::parse(&machine.resolved(), ""), Ok(machine));
    }
}
