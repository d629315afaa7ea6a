//! Declared parameters as documents: a Markdown table, and a machine file with comments.

use std::fmt::Write as _;

use crate::{KnownDoc, ParamDoc, join, toml};

/// The documentation of declared parameters as a Markdown table with their defaults.
pub fn markdown(docs: &[ParamDoc], defaults: &toml::Value) -> String {
    table(docs, defaults, &|_, declared| declared.to_owned())
}

/// The same with what `about` makes of a key and its declared sentence.
pub(crate) fn table(docs: &[ParamDoc], values: &toml::Value, about: &About) -> String {
    let mut out = String::from("| key | default | unit | what |\n|---|---|---|---|\n");
    rows(docs, values, "", about, &mut out);
    out
}

pub(crate) type About<'a> = dyn Fn(&str, &str) -> String + 'a;

/// The parameters as a TOML file, each with its unit and sentence as a comment.
pub fn documented(docs: &[ParamDoc], values: &toml::Value) -> String {
    let mut out = String::new();
    section(docs, values, "", &mut out);
    out.trim_start().to_owned()
}

fn section(docs: &[ParamDoc], values: &toml::Value, path: &str, out: &mut String) {
    let value = |doc: &ParamDoc| values.get(doc.name).cloned();
    for doc in docs.iter().filter(|doc| doc.section.is_none()) {
        let unit = if doc.unit.is_empty() { String::new() } else { format!(" [{}]", doc.unit) };
        comment(&format!("{}{unit}", doc.text.trim()), out);
        if let Some(value) = value(doc) {
            let _ = writeln!(out, "{} = {value}", doc.name);
        }
    }
    for doc in docs {
        let (Some(inner), Some(value)) = (doc.section, value(doc)) else { continue };
        let path = join(path, doc.name);
        if let (Some(known), Some(elements)) = (doc.list, value.as_array()) {
            for element in elements {
                let (text, inner) = element_docs(doc, inner, known, element);
                begin(text, &format!("[[{path}]]"), out);
                section(&inner, element, &path, out);
            }
        } else {
            begin(doc.text, &format!("[{path}]"), out);
            section(inner, &value, &path, out);
        }
    }
}

fn begin(text: &str, head: &str, out: &mut String) {
    out.push('\n');
    comment(text.trim(), out);
    let _ = writeln!(out, "{head}");
}

/// What is said of an element of a list and of its keys: by its name if it is a known one.
fn element_docs(
    list: &ParamDoc,
    keys: &[ParamDoc],
    known: &[KnownDoc],
    element: &toml::Value,
) -> (&'static str, Vec<ParamDoc>) {
    let named = |known: &&KnownDoc| {
        element.get(known.name.0).and_then(toml::Value::as_str) == Some(known.name.1)
    };
    let Some(known) = known.iter().find(named) else { return (list.text, keys.to_vec()) };
    let own = |doc: &ParamDoc| {
        let note = known.notes.iter().find(|(key, _)| *key == doc.name);
        ParamDoc { text: note.map_or(doc.text, |(_, text)| text), ..*doc }
    };
    (known.text, keys.iter().map(own).collect())
}

/// A comment, its lines filled to 96 columns.
fn comment(text: &str, out: &mut String) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > 96 {
            let _ = writeln!(out, "{line}");
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

fn rows(docs: &[ParamDoc], defaults: &toml::Value, path: &str, about: &About, out: &mut String) {
    for doc in docs {
        let key = join(path, doc.name);
        let value = defaults.get(doc.name);
        match (doc.section, value) {
            (Some(section), Some(toml::Value::Array(elements))) => {
                for (at, element) in elements.iter().enumerate() {
                    let known = doc.list.unwrap_or_default();
                    let (_, docs) = element_docs(doc, section, known, element);
                    rows(&docs, element, &format!("{key}[{at}]"), about, out);
                }
            }
            (Some(section), Some(value)) => rows(section, value, &key, about, out),
            (_, value) => {
                let shown = value.map_or(String::new(), ToString::to_string);
                let text = about(&key, doc.text.trim());
                let _ = writeln!(out, "| `{key}` | {shown} | {} | {text} |", doc.unit);
            }
        }
    }
}
