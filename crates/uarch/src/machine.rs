//! A machine: core, memory hierarchy and predictors, read strictly from a TOML file.

use std::ops::{Deref, DerefMut};

use accel::Accelerator;
use decode::{Decoder, Family};
use memory::MemoryParams;
use params::{ConfigError, Param, ParamDoc, check_keys, params, toml, unknown_name};
use predict::PredictParams;

use crate::core::Core;
use crate::kind::Kind;
use crate::params::CoreParams;

params! {
    /// A whole machine.
    pub struct Machine {
        /// Name in reports.
        name: String = "haswell".into(), "";
        /// The core.
        core: CoreSection = CoreSection::default(), "";
        /// The memory hierarchy.
        memory: MemoryParams = MemoryParams::default(), "";
        /// The branch predictors.
        predict: PredictParams = PredictParams::default(), "";
    }
}

/// The `[core]` section, with the keys that its kind of core takes. The parameters that all cores
/// share are accessible as fields; those of one kind are in [`CoreSection::own`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CoreSection {
    params: CoreParams,
    own: toml::Table,
}

impl CoreSection {
    /// Reads a section for a kind of core; its `kind`, if present, is ignored.
    pub fn of(kind: Kind, value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        let mut value = value.clone();
        if let Some(table) = value.as_table_mut() {
            table.remove("kind");
        }
        let mut shared = check_keys(&value, path, kind.parameters())?;
        let mut own = kind.own_defaults();
        for (key, own) in &mut own {
            if let Some(value) = shared.remove(key) {
                *own = value;
            }
        }
        let shared = CoreParams::read(&toml::Value::Table(shared), path)?;
        Ok(Self { params: CoreParams { kind, ..shared }, own })
    }

    /// The parameters that only its kind has, for that kind to read.
    pub fn own(&self) -> toml::Value {
        toml::Value::Table(self.own.clone())
    }
}

impl Deref for CoreSection {
    type Target = CoreParams;

    fn deref(&self) -> &CoreParams {
        &self.params
    }
}

impl DerefMut for CoreSection {
    fn deref_mut(&mut self) -> &mut CoreParams {
        &mut self.params
    }
}

impl Param for CoreSection {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        let kind = match value.get("kind") {
            Some(name) => Kind::read(name, &params::join(path, "kind"))?,
            None => Kind::default(),
        };
        Self::of(kind, value, path)
    }

    fn write(&self) -> toml::Value {
        let parameters = self.kind.parameters();
        let taken = |key: &str| key == "kind" || parameters.iter().any(|doc| doc.name == key);
        let mut table = self.own.clone();
        if let toml::Value::Table(shared) = self.params.write() {
            table.extend(shared.into_iter().filter(|(key, _)| taken(key)));
        }
        toml::Value::Table(table)
    }

    fn section() -> Option<&'static [ParamDoc]> {
        Some(Kind::default().parameters())
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
        let text = Self::file(name)?;
        match BUILT_IN.iter().any(|(known, _)| *known == name) {
            true => Self::parse(&text, name),
            false => Self::from_file(&text, name),
        }
    }

    /// The machine of a user's file: it has a name of its own if it is no built-in machine.
    pub fn from_file(text: &str, file: &str) -> Result<Self, ConfigError> {
        Ok(Self::parse(text, file)?.named_apart(file))
    }

    /// The same machine as a user-level simulator sees it: system calls and page faults are those
    /// of the program, but the operating system's work for them takes no time.
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

    /// Reads a machine file's text; `origin` prefixes each message.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ConfigError> {
        let located = |e: ConfigError| ConfigError(format!("{origin}: {}", e.0));
        let value = params::parse(text).map_err(located)?;
        let machine = Self::read(&value, "").map_err(located)?;
        machine.check().map_err(located)?;
        Ok(machine)
    }

    /// The declared parameters of a machine with this kind of core.
    pub fn parameters(&self) -> Vec<ParamDoc> {
        let mut all = Self::declared().to_vec();
        for doc in all.iter_mut().filter(|doc| doc.name == "core") {
            doc.section = Some(self.core.kind.parameters());
        }
        all
    }

    /// The machine of a file that leaves out every value but the kind of core and the names of the
    /// levels: what each key has by default.
    pub fn defaults(&self) -> Result<Self, ConfigError> {
        let mut core = toml::Table::new();
        core.insert("kind".into(), self.core.kind.write());
        let named = |level: &memory::LevelParams| {
            let name = toml::Value::String(level.name.clone());
            toml::Value::Table([("name".to_owned(), name)].into_iter().collect())
        };
        let mut memory = toml::Table::new();
        let levels = self.memory.level.iter().map(named).collect();
        memory.insert("level".into(), toml::Value::Array(levels));
        let sections = [("core", core), ("memory", memory)];
        let table = sections.map(|(name, table)| (name.to_owned(), toml::Value::Table(table)));
        Self::read(&toml::Value::Table(table.into_iter().collect()), "")
    }

    /// The configuration as a machine file, every value with its unit and source.
    pub fn documented(&self) -> String {
        params::documented(&self.parameters(), &self.write())
    }

    /// The fully resolved configuration as TOML.
    pub fn resolved(&self) -> String {
        match self.write() {
            toml::Value::Table(table) => table.to_string(),
            other => other.to_string(),
        }
    }

    /// The core family, which determines its instruction table and ports.
    pub fn family(&self) -> Result<&'static Family, ConfigError> {
        let name = &self.core.instructions;
        Family::find(name).ok_or_else(|| {
            let valid: Vec<&str> = Family::all().iter().map(|family| family.name).collect();
            unknown_name("instruction table", name, name, &valid)
        })
    }

    /// What decoding depends on. Machines with equal views can share decoded blocks.
    pub fn view(&self) -> Result<CodeView, ConfigError> {
        Ok(CodeView { family: self.family()?, line: self.memory.line })
    }

    /// Its core, with cold caches and predictors.
    pub fn build(&self, accelerator: Box<dyn Accelerator>) -> Result<Box<dyn Core>, ConfigError> {
        self.core.kind.build(self, accelerator)
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.family()?;
        self.memory.validate().map_err(|error| ConfigError(format!("memory.{}", error.0)))?;
        self.core.kind.check(self)
    }
}

/// Everything that decoding depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeView {
    /// The core family.
    pub family: &'static Family,
    /// Line size of the instruction cache in bytes.
    pub line: u64,
}

impl CodeView {
    /// A decoder for it.
    pub fn decoder(self) -> Decoder {
        Decoder::new(self.family, self.line)
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
            let baseline = accel::Choice::baseline().build().unwrap();
            assert!(machine.build(baseline).is_ok(), "{name}");
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
            ("[core]\nrobb = 4", "Did you mean \"rob\""),
            ("[core.uop_cache]\nsets = 33", "must be a power of two; try 64"),
            ("[core]\ninstructions = \"hasvell\"", "Did you mean \"haswell\""),
            ("[core]\nkind = \"oo\"", "Did you mean \"ooo\"? The valid ones are: ooo"),
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
