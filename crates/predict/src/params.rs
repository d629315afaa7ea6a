//! The declared parameters; the defaults stand in for Haswell's unpublished predictor.

use params::{ConfigError, params};

use crate::history::{HISTORY_BITS, TABLES_MAX};

params! {
    /// Direction.
    pub struct TageParams {
        /// Two-bit counters of the base predictor, indexed by address alone.
        bimodal_entries: u32 = 8192, "";
        /// Entries of each tagged table: 3-bit counter, 2-bit usefulness and tag.
        entries: u32 = 2048, "";
        /// Bits of a tag.
        tag_bits: u32 = 11, "bits";
        /// History length of each tagged table: a geometric series, as the TAGE paper advises.
        histories: Vec<u32> = vec![5, 9, 18, 33, 62, 117, 220], "branches";
    }
}

params! {
    /// Loops with a constant trip count that is longer than the histories.
    pub struct LoopParams {
        /// Entries; 0 for none.
        entries: u32 = 64, "";
    }
}

params! {
    /// Targets of indirect branches.
    pub struct IndirectParams {
        /// Entries of each tagged table.
        entries: u32 = 256, "";
        /// Which of the direction tables' histories its tables use, counted from 0.
        histories: Vec<u32> = vec![0, 2, 4], "";
    }
}

params! {
    /// Branch target buffer: where fetch learns of taken branches.
    pub struct BtbParams {
        /// Entries: 4096 in 4 ways as Godbolt measured on Haswell ("Inside the Ivy Bridge and
        /// Haswell BTB", 2016); its smarter replacement is not known, so LRU stands in.
        entries: u32 = 4096, "";
        /// Ways of a set.
        assoc: u32 = 4, "";
    }
}

params! {
    /// Return address stack.
    pub struct ReturnParams {
        /// Entries; 16 on this family (Fog, "The microarchitecture of Intel, AMD and VIA CPUs").
        entries: u32 = 16, "";
    }
}

params! {
    /// Branch prediction.
    pub struct PredictParams {
        /// Direction.
        tage: TageParams = TageParams::default(), "";
        /// Long loops.
        loops: LoopParams = LoopParams::default(), "";
        /// Indirect targets.
        indirect: IndirectParams = IndirectParams::default(), "";
        /// Branch target buffer.
        btb: BtbParams = BtbParams::default(), "";
        /// Returns.
        returns: ReturnParams = ReturnParams::default(), "";
    }
}

impl PredictParams {
    /// Checks every rule; the error names the first broken one and the remedy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let tage = &self.tage;
        power_of_two("tage.bimodal_entries", tage.bimodal_entries, 2, 1 << 24)?;
        power_of_two("tage.entries", tage.entries, 2, 1 << 14)?;
        within("tage.tag_bits", tage.tag_bits, 4, 15)?;
        let tables = tage.histories.len() as u32;
        within("the number of tage.histories", tables, 1, TABLES_MAX as u32)?;
        let mut least = 1;
        for (n, length) in tage.histories.iter().enumerate() {
            within(&format!("tage.histories[{n}]"), *length, least, HISTORY_BITS)?;
            least = length + 1;
        }
        if self.loops.entries != 0 {
            power_of_two("loops.entries", self.loops.entries, 1, 1 << 16)?;
        }
        power_of_two("indirect.entries", self.indirect.entries, 2, 1 << 14)?;
        let mut least = 0;
        for (n, table) in self.indirect.histories.iter().enumerate() {
            if least == tables {
                let key = "the number of indirect.histories";
                let rule = "must be at most that of tage.histories";
                return Err(ConfigError::rule(key, n + 1, rule, "leave some out"));
            }
            within(&format!("indirect.histories[{n}]"), *table, least, tables - 1)?;
            least = table + 1;
        }
        within("btb.assoc", self.btb.assoc, 1, 64)?;
        within("btb.entries", self.btb.entries, self.btb.assoc, 1 << 24)?;
        let sets = self.btb.entries / self.btb.assoc;
        if !sets.is_power_of_two() || sets * self.btb.assoc != self.btb.entries {
            let rule = format!("must be btb.assoc ({}) times a power of two", self.btb.assoc);
            let near = sets.next_power_of_two() * self.btb.assoc;
            let remedy = format!("try {near}");
            return Err(ConfigError::rule("btb.entries", self.btb.entries, &rule, &remedy));
        }
        within("returns.entries", self.returns.entries, 1, 1 << 16)
    }

    /// Bits of direction storage: the measure by which predictors are compared.
    pub fn direction_bits(&self) -> u64 {
        let tage = &self.tage;
        let entry = u64::from(3 + 2 + tage.tag_bits);
        let tagged = tage.histories.len() as u64 * u64::from(tage.entries) * entry;
        u64::from(tage.bimodal_entries) * 2 + tagged
    }
}

fn within(name: &str, value: u32, least: u32, most: u32) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    if least > most {
        let rule = format!("must increase and be at most {most}");
        return Err(ConfigError::rule(name, value, &rule, "leave it out"));
    }
    let rule = format!("must be from {least} to {most}");
    let near = value.clamp(least, most);
    Err(ConfigError::rule(name, value, &rule, &format!("try {near}")))
}

fn power_of_two(name: &str, value: u32, least: u32, most: u32) -> Result<(), ConfigError> {
    within(name, value, least, most)?;
    if value.is_power_of_two() {
        return Ok(());
    }
    let near = value.next_power_of_two();
    Err(ConfigError::rule(name, value, "must be a power of two", &format!("try {near}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_keeps_every_rule_and_the_stated_budget() {
        let params = PredictParams::default();
        assert_eq!(params.validate(), Ok(()));
        let kilobytes = params.direction_bits() as f64 / 8.0 / 1024.0;
        assert!((28.0..=32.0).contains(&kilobytes), "{kilobytes} KB");
    }

    #[test]
    fn each_broken_rule_names_its_key_and_value() {
        type Change = fn(&mut PredictParams);
        let cases: [(Change, &str); 8] = [
            (|p| p.tage.entries = 1000, "tage.entries = 1000: must be a power of two; try 1024"),
            (|p| p.tage.tag_bits = 16, "tage.tag_bits = 16: must be from 4 to 15; try 15"),
            (|p| p.tage.histories = vec![], "the number of tage.histories = 0:"),
            (|p| p.tage.histories = vec![8, 8], "tage.histories[1] = 8: must be from 9"),
            (|p| p.tage.histories = vec![256, 300], "tage.histories[1] = 300: must increase"),
            (|p| p.btb.entries = 4000, "btb.entries = 4000: must be btb.assoc (4) times"),
            (|p| p.indirect.histories = vec![7], "indirect.histories[0] = 7: must be from 0 to 6"),
            (|p| p.returns.entries = 0, "returns.entries = 0: must be from 1"),
        ];
        for (change, part) in cases {
            let mut params = PredictParams::default();
            change(&mut params);
            let message = params.validate().unwrap_err().0;
            assert!(message.contains(part), "{message}");
        }
    }
}
