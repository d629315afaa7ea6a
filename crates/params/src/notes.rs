//! What a machine file says about its own values: the comments in it.

use std::collections::HashMap;

use crate::{ParamDoc, join, toml};

/// The comments of a machine file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// The lines at its head, up to the first without a comment.
    pub head: String,
    /// The comment right above each key that the file sets; empty where there is none.
    keys: HashMap<String, String>,
}

impl Notes {
    /// Of a file's text, which is valid TOML with a line for each key.
    pub fn of(text: &str) -> Self {
        let (mut notes, mut section, mut comment) = (Self::default(), String::new(), Vec::new());
        let mut elements: HashMap<&str, usize> = HashMap::new();
        let comments = text.lines().map_while(|line| line.strip_prefix('#'));
        notes.head = comments
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .fold(String::new(), |head, line| head + line + "\n");
        for line in text.lines().map(str::trim) {
            if let Some(words) = line.strip_prefix('#') {
                comment.push(words.trim());
                continue;
            }
            if let Some((key, _)) = line.split_once('=') {
                notes.keys.insert(join(&section, key.trim()), comment.join(" "));
            } else if let Some(name) = line.strip_prefix("[[") {
                let name = name.trim_end_matches(']');
                let count = elements.entry(name).or_default();
                section = format!("{name}[{count}]");
                *count += 1;
            } else if let Some(name) = line.strip_prefix('[') {
                section = name.trim_end_matches(']').to_owned();
            }
            comment.clear();
        }
        notes
    }

    /// What is known of a key's value: the file's note, or that it is the default's.
    fn about(&self, key: &str, declared: &str) -> String {
        match self.keys.get(key).map(String::as_str) {
            Some("") => format!("Set without a note. The default: {declared}"),
            Some(note) => note.to_owned(),
            None => format!("The default. {declared}"),
        }
    }

    /// The parameters as [`crate::markdown`] gives them, each with the note of this file.
    pub fn markdown(&self, docs: &[ParamDoc], values: &toml::Value) -> String {
        crate::document::table(docs, values, &|key, declared| self.about(key, declared))
    }

    /// The keys that the file sets without a comment.
    pub fn missing(&self) -> Vec<&str> {
        let without = self.keys.iter().filter(|(_, note)| note.is_empty());
        without.map(|(key, _)| key.as_str()).collect()
    }
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
}
