//! Selects the machine that describes this processor.

/// A processor's identification (`cpuid`, as printed by `/proc/cpuinfo`).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Family {
    /// Vendor, such as `GenuineIntel`.
    pub vendor: String,
    /// Display family.
    pub family: u32,
    /// Display model.
    pub model: u32,
    /// Its name.
    pub name: String,
}

/// The core families that have a machine, with their models in Intel's family 6 (Linux,
/// `arch/x86/include/asm/intel-family.h`).
const FAMILY_6: &[(&str, &[u32])] = &[
    // Client, server, ULT, GT3e.
    ("haswell", &[0x3c, 0x3f, 0x45, 0x46]),
    // Golden Cove: Alder Lake, Alder Lake L, Sapphire Rapids. Raptor Cove, the same core with a
    // larger second level in clients: Raptor Lake, Raptor Lake P and S, Emerald Rapids.
    ("goldencove", &[0x97, 0x9a, 0x8f, 0xb7, 0xba, 0xbf, 0xcf]),
];

/// The machine to use if the processor is unknown.
pub const FALLBACK: &str = "haswell";

impl Family {
    /// From the text of `/proc/cpuinfo`; missing fields stay empty.
    pub fn parse(cpuinfo: &str) -> Self {
        let value = |key: &str| {
            let lines = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            let found = lines.into_iter().find(|(name, _)| name.trim() == key);
            found.map_or("", |(_, value)| value.trim()).to_owned()
        };
        let number = |key: &str| value(key).parse().unwrap_or(0);
        Self {
            vendor: value("vendor_id"),
            family: number("cpu family"),
            model: number("model"),
            name: value("model name"),
        }
    }

    /// The machine of its core family.
    pub fn machine(&self) -> Option<&'static str> {
        if self.vendor != "GenuineIntel" || self.family != 6 {
            return None;
        }
        let known = FAMILY_6.iter().find(|(_, models)| models.contains(&self.model));
        known.map(|(machine, _)| *machine)
    }

    /// The message for a processor without a machine.
    pub fn unknown(&self) -> String {
        let who = match self.vendor.as_str() {
            "" => "This processor does not identify itself".to_owned(),
            "AuthenticAMD" | "HygonGenuine" => format!(
                "AMD family {} model {} ({}): no machine file describes an AMD core",
                self.family, self.model, self.name
            ),
            vendor => format!(
                "{vendor} family {} model {} ({}): no machine file describes its core",
                self.family, self.model, self.name
            ),
        };
        format!(
            "{who}; compared with {FALLBACK} instead, so errors compare two different cores. Choose \
             another machine with --machine."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intel(model: u32) -> Family {
        Family { vendor: "GenuineIntel".into(), family: 6, model, name: "a name".into() }
    }

    #[test]
    fn each_core_family_has_its_machine_and_every_machine_exists() {
        for (model, machine) in [(60, "haswell"), (143, "goldencove"), (207, "goldencove")] {
            assert_eq!(intel(model).machine(), Some(machine), "{model}");
        }
        for (machine, models) in FAMILY_6 {
            assert!(uarch::Machine::find(machine).is_ok(), "{machine}");
            assert!(models.iter().all(|&model| intel(model).machine() == Some(machine)));
        }
        assert!(uarch::Machine::find(FALLBACK).is_ok());
    }

    #[test]
    fn other_processors_are_named_and_the_way_out_too() {
        // Skylake; family 15, whose models reuse these numbers; AMD.
        assert_eq!(intel(0x5e).machine(), None);
        assert_eq!(Family { family: 15, ..intel(60) }.machine(), None);
        let amd = Family { vendor: "AuthenticAMD".into(), family: 25, ..intel(1) };
        assert_eq!(amd.machine(), None);
        assert!(amd.unknown().starts_with("AMD family 25 model 1 (a name): no machine file"));
        for family in [amd, intel(0x5e), Family::default()] {
            let text = family.unknown();
            assert!(text.contains("--machine") && text.contains(FALLBACK), "{text}");
        }
    }

    #[test]
    fn the_first_processor_of_cpuinfo_is_read() {
        let text = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n\
                    model name\t: Intel(R) Xeon(R)\n\nprocessor\t: 1\nmodel\t\t: 1\n";
        let family = Family::parse(text);
        assert_eq!((family.family, family.model), (6, 207));
        assert_eq!(family.name, "Intel(R) Xeon(R)");
        assert_eq!(Family::parse("nothing"), Family::default());
    }
}
