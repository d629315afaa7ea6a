//! The instruction table of a core family: measurements of each instruction form.

use std::collections::HashMap;

use iced_x86::Mnemonic;

use crate::family::{Family, ports};
use crate::key::{self, Key, OPERANDS, Prefix};

/// Further uops are dropped; only privileged and system instructions have more.
const UOPS_MAX: usize = 160;

/// Uops that share a port set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of uops.
    pub count: u8,
    /// Bit n = port n.
    pub ports: u8,
}

/// The measurements of one instruction form.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Slots in the fused domain, without an index register in the address.
    pub fused: u8,
    /// Uops in the unfused domain.
    pub unfused: u8,
    /// The uops by port set, in the order of the table.
    pub groups: Vec<Group>,
    /// Smallest latency over the operand pairs; `None` if not measured.
    pub latency_min: Option<u8>,
    /// Largest latency over the operand pairs.
    pub latency_max: Option<u8>,
    /// Whether the largest latency is only an upper bound.
    pub latency_bound: bool,
    /// Measured cycles per instruction in a sequence of independent ones.
    pub cycles: f32,
}

impl Row {
    /// Number of uops whose port set is exactly `ports`.
    pub fn count(&self, ports: u8) -> usize {
        self.groups.iter().filter(|g| g.ports == ports).map(|g| usize::from(g.count)).sum()
    }

    /// The uops that are neither loads nor stores, one port set each, in the table's order.
    pub fn exec(&self) -> impl Iterator<Item = u8> {
        self.groups
            .iter()
            .filter(|g| ![ports::LOAD, ports::STORE_ADDRESS, ports::STORE_DATA].contains(&g.ports))
            .flat_map(|g| std::iter::repeat_n(g.ports, usize::from(g.count)))
    }
}

/// Why a table cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("instruction table line {line}: {what} `{value}`: {rule}")]
pub struct TableError {
    /// Line number from 1.
    pub line: usize,
    /// What is wrong.
    pub what: &'static str,
    /// The text found.
    pub value: String,
    /// What would be valid.
    pub rule: &'static str,
}

/// All rows of a core family, by form.
#[derive(Clone, Debug)]
pub struct InstructionTable {
    rows: HashMap<u64, Row>,
    family: &'static Family,
}

impl InstructionTable {
    /// The table of a family: its own rows replace its base's rows for the same forms.
    pub fn of(family: &'static Family) -> InstructionTable {
        let mut table = match family.base {
            Some(base) => InstructionTable { family, ..InstructionTable::of(base) },
            None => InstructionTable { rows: HashMap::with_capacity(4096), family },
        };
        for text in family.tables {
            // The texts are compiled in; a test verifies that all their rows are read.
            let _ = table.add(text);
        }
        table
    }

    /// Adds the rows of a text in the format that its header describes; they replace earlier rows
    /// for the same forms. Ports are numbered as in the family. After an error, the remaining rows
    /// are not added.
    fn add(&mut self, text: &str) -> Result<(), TableError> {
        let names: HashMap<String, Mnemonic> =
            Mnemonic::values().map(|m| (format!("{m:?}").to_lowercase(), m)).collect();
        for (i, line) in text.lines().enumerate() {
            if line.starts_with('#') || line.starts_with("form\t") || line.is_empty() {
                continue;
            }
            let row = parse_row(line, &names, self.family);
            let (key, row) = row.map_err(|(what, value, rule)| TableError {
                line: i + 1,
                what,
                value: value.to_string(),
                rule,
            })?;
            self.rows.insert(key.packed(), row);
        }
        Ok(())
    }

    /// The family that it belongs to.
    pub fn family(&self) -> &'static Family {
        self.family
    }

    /// The row of exactly this form.
    pub fn exact(&self, key: Key) -> Option<&Row> {
        self.rows.get(&key.packed())
    }

    /// The row of a form or of its nearest relaxation, and the form that was found.
    pub fn find(&self, key: Key) -> Option<(Key, &Row)> {
        let found = |k| self.exact(k).map(|row| (k, row));
        found(key).or_else(|| key::relaxations(key).find_map(found))
    }
}

type Fault<'a> = (&'static str, &'a str, &'static str);

fn parse_row<'a>(
    line: &'a str,
    names: &HashMap<String, Mnemonic>,
    family: &Family,
) -> Result<(Key, Row), Fault<'a>> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [form, fused, unfused, groups, low, high, cycles] = cells[..] else {
        return Err(("row", line, "seven columns separated by tabs"));
    };
    let row = Row {
        fused: count(fused)?,
        unfused: count(unfused)?,
        groups: parse_groups(groups, family)?,
        latency_min: latency(low)?,
        latency_max: latency(high)?,
        latency_bound: high.starts_with('<'),
        cycles: cycles.parse().map_err(|_| ("cycles", cycles, "a number"))?,
    };
    Ok((parse_form(form, names)?, row))
}

/// Counts above [`UOPS_MAX`] are limited to it.
fn count(text: &str) -> Result<u8, Fault<'_>> {
    let n: usize = text.parse().map_err(|_| ("uop count", text, "a whole number"))?;
    Ok(n.min(UOPS_MAX) as u8)
}

fn latency(text: &str) -> Result<Option<u8>, Fault<'_>> {
    if text == "-" {
        return Ok(None);
    }
    let number = text.trim_start_matches('<');
    let cycles: u32 = number.parse().map_err(|_| ("latency", text, "a number, <number or -"))?;
    Ok(Some(cycles.min(255) as u8))
}

fn parse_groups<'a>(text: &'a str, family: &Family) -> Result<Vec<Group>, Fault<'a>> {
    const RULE: &str = "count*p and port digits, joined by +";
    let mut left = UOPS_MAX;
    let mut groups = Vec::new();
    for part in text.split('+').filter(|p| *p != "-") {
        let (n, ports) = part.split_once("*p").ok_or(("ports", text, RULE))?;
        let n: usize = n.parse().map_err(|_| ("ports", text, RULE))?;
        let mut mask = 0u16;
        for c in ports.chars() {
            let port = c.to_digit(12).ok_or(("ports", text, RULE))?;
            mask |= 1 << port;
        }
        let mask = family.set(mask).ok_or(("ports", text, "a set of ports of the family"))?;
        let count = n.min(left);
        left -= count;
        if count > 0 {
            groups.push(Group { count: count as u8, ports: mask });
        }
    }
    Ok(groups)
}

fn parse_form<'a>(form: &'a str, names: &HashMap<String, Mnemonic>) -> Result<Key, Fault<'a>> {
    let mut words: Vec<&str> = form.split(' ').collect();
    let prefix = match words[0] {
        "lock" => Prefix::Lock,
        "rep" => Prefix::Rep,
        "repne" => Prefix::Repne,
        _ => Prefix::None,
    };
    if prefix != Prefix::None {
        words.remove(0);
    }
    let name = words.first().copied().unwrap_or("");
    let mnemonic = *names.get(name).ok_or(("mnemonic", form, "an x86-64 mnemonic"))?;
    let mut kinds = [0; OPERANDS];
    let operands = words.get(1).copied().unwrap_or("");
    for (i, text) in operands.split(',').filter(|o| !o.is_empty()).enumerate() {
        let slot = kinds.get_mut(i).ok_or(("operands", form, "at most five"))?;
        *slot = key::kind(text).ok_or(("operand", form, "a kind named in the header"))?;
    }
    Ok(Key { mnemonic, prefix, kinds })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_of_every_family_reads_and_has_a_form_of_its_own() {
        for family in Family::all() {
            let mut texts: Vec<&str> = Vec::new();
            let mut next = Some(*family);
            while let Some(family) = next {
                texts.extend(family.tables);
                next = family.base;
            }
            let rows = texts.iter().flat_map(|text| text.lines()).filter(|line| {
                !line.starts_with('#') && !line.starts_with("form\t") && !line.is_empty()
            });
            let forms: BTreeSet<&str> = rows.filter_map(|row| row.split('\t').next()).collect();
            assert_eq!(InstructionTable::of(family).rows.len(), forms.len(), "{}", family.name);
        }
    }

    #[test]
    fn a_bad_row_is_an_error_that_names_it() {
        for (row, what) in [
            ("add r64,r64\t1\t1\t1*p0156\t1\t1", "row"),
            ("add r64,r64\tone\t1\t1*p0156\t1\t1\t1", "uop count"),
            ("add r64,r64\t1\t1\tp0156\t1\t1\t1", "ports"),
            ("add r64,r64\t1\t1\t1*p9\t1\t1\t1", "ports"),
            ("add r64,r64\t1\t1\t1*p0156\tx\t1\t1", "latency"),
            ("add r64,r64\t1\t1\t1*p0156\t1\t1\tfast", "cycles"),
            ("frobnicate r64\t1\t1\t1*p0156\t1\t1\t1", "mnemonic"),
            ("add r65\t1\t1\t1*p0156\t1\t1\t1", "operand"),
        ] {
            let text = format!("# comment\n{row}\n");
            let error = InstructionTable::of(<&Family>::default()).add(&text).expect_err(row);
            assert_eq!((error.line, error.what), (2, what), "{error}");
        }
    }
}
