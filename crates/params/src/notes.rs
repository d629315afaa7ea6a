//! The comments of a machine file about its own values.

use std::collections::HashMap;

use toml_edit::{DocumentMut, Table};

use crate::{Described, ParamDoc, join, toml};

/// The comments of a machine file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The lines at the top, up to the first that is not a comment.
    pub head: String,
    /// The comment directly above each key that the file sets; empty if there is none.
    keys: HashMap<String, String>,
}

impl Notes {
    /// The comments of a file's text. If it is not valid TOML, only the head is read.
    pub fn of(text: &str) -> Self {
        let mut notes = Self::default();
        let comments = text.lines().map_while(|line| line.strip_prefix('#'));
        notes.head = comments
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .fold(String::new(), |head, line| head + line + "\n");
        if let Ok(document) = text.parse::<DocumentMut>() {
            notes.section(document.as_table(), "");
        }
        notes
    }

    fn section(&mut self, table: &Table, path: &str) {
        for (name, item) in table {
            let key = join(path, name);
            if let Some(section) = item.as_table() {
                self.section(section, &key);
                continue;
            }
            if let Some(elements) = item.as_array_of_tables() {
                for (at, element) in elements.iter().enumerate() {
                    self.section(element, &format!("{key}[{at}]"));
                }
                continue;
            }
            let before = table.key(name).and_then(|key| key.leaf_decor().prefix()?.as_str());
            self.keys.insert(key, last_comment(before.unwrap_or_default()));
        }
    }

    /// The explanation of a key's value: the file's note, or that it is the default.
    fn about(&self, key: &str, declared: &str) -> String {
        match self.keys.get(key).map(String::as_str) {
            Some("") => format!("Set without a note. The default: {declared}"),
            Some(note) => note.to_owned(),
            None => format!("The default. {declared}"),
        }
    }

    /// The parameters as returned by [`crate::described`], each with the note of this file.
    pub fn described(&self, docs: &[ParamDoc], values: &toml::Value) -> Vec<Described> {
        crate::described_by(docs, values, &|key, declared| self.about(key, declared))
    }

    /// The parameters as returned by [`crate::documented`], below the head of this file, each with
    /// the note of this file.
    pub fn documented(&self, docs: &[ParamDoc], values: &toml::Value) -> String {
        let head = self.head.lines().map(|line| format!("# {line}").trim_end().to_owned() + "\n");
        let mut head: String = head.collect();
        if !head.is_empty() {
            head.push('\n');
        }
        head + &crate::documented_by(docs, values, &|key, declared| self.about(key, declared))
    }

    /// The keys that the file sets without a comment.
    pub fn missing(&self) -> Vec<&str> {
        let without = self.keys.iter().filter(|(_, note)| note.is_empty());
        without.map(|(key, _)| key.as_str()).collect()
    }
}

/// The words of the comment at the end of this text, directly above what follows.
fn last_comment(text: &str) -> String {
    // Blanks that indent the key are not a separate line.
    let above = text.trim_end_matches([' ', '\t']).lines().rev();
    let mut lines: Vec<&str> =
        above.map_while(|line| line.trim().strip_prefix('#')).map(str::trim).collect();
    lines.reverse();
    lines.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_the_comment_right_above_it() {
        let text = "# Head,\n# two lines.\n\n# A name\n# of two lines.\nname = \"x\"\nbare = 1\n\
                    # lost\n\n[core]\n# Entries [A].\nrob = 4\n\n[[level]]\n# One.\n\
                    size = 1\n[[level]]\n# Two.\nsize = 2\n";
        let notes = Notes::of(text);
        assert_eq!(notes.head, "Head,\ntwo lines.\n");
        assert_eq!(notes.about("name", "?"), "A name of two lines.");
        assert_eq!(notes.about("core.rob", "?"), "Entries [A].");
        assert_eq!(notes.about("core.rs", "RS."), "The default. RS.");
        assert_eq!(notes.about("level[0].size", "?"), "One.");
        assert_eq!(notes.about("level[1].size", "?"), "Two.");
        assert_eq!(notes.missing(), ["bare"]);
    }

    #[test]
    fn values_of_several_lines_and_dotted_keys_have_their_comments_too() {
        let text = "# Sizes.\nlist = [\n    # inner = 1\n    1,\n]\n  # Entries.\n  core.rob = 4\n";
        let notes = Notes::of(text);
        assert_eq!(notes.about("list", "?"), "Sizes.");
        assert_eq!(notes.about("core.rob", "?"), "Entries.");
        assert_eq!(notes.missing(), [""; 0]);
        assert_eq!(notes.keys.len(), 2);
    }
}
