//! Declared parameters: type, unit, default and a sentence; strict reading from TOML.
//!
//! A model declares its parameters once with [`params!`]. From this come the struct, its defaults,
//! its strict reader (an unknown key is an error that names the nearest valid one), its writer (the
//! fully resolved configuration is stored with each result) and its documentation.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

pub use names::{near, unknown_name};
pub use notes::Notes;
pub use toml;

mod names;
mod notes;

/// One declared parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamDoc {
    /// Key in the machine file.
    pub name: &'static str,
    /// Unit, or empty for names and sections.
    pub unit: &'static str,
    /// One sentence.
    pub text: &'static str,
    /// Parameters of a nested section, or of each element of a list of sections.
    pub section: Option<&'static [ParamDoc]>,
    /// For a list of sections: the elements whose defaults depend on their name.
    pub list: Option<&'static [KnownDoc]>,
}

/// An element of a list of sections that is known by name: keys that a machine file leaves out have
/// the values declared for this element.
#[derive(Clone, Copy, Debug)]
pub struct KnownDoc {
    /// The key whose value names it, and that value.
    pub name: (&'static str, &'static str),
    /// One sentence.
    pub text: &'static str,
    /// Its own sentence for each key whose value it sets.
    pub notes: &'static [(&'static str, &'static str)],
}

/// A key that machine files used to have, and what to write instead.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The key.
    pub key: &'static str,
    /// Why it was removed.
    pub rule: &'static str,
    /// What to write instead.
    pub remedy: &'static str,
}

/// What is wrong with a configuration: the key, its value, the rule and the remedy, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

impl ConfigError {
    /// `path = value: rule; remedy`.
    pub fn rule(path: &str, value: impl std::fmt::Display, rule: &str, remedy: &str) -> Self {
        Self(format!("{path} = {value}: {rule}; {remedy}"))
    }
}

/// A value that can appear in a machine file.
pub trait Param: Sized {
    /// Reads the value at `path` (used in messages).
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError>;
    /// Writes it back.
    fn write(&self) -> toml::Value;
    /// The declared parameters, if this is a section or a list of sections.
    fn section() -> Option<&'static [ParamDoc]> {
        None
    }
    /// The elements known by name, if this is a list.
    fn list() -> Option<&'static [KnownDoc]> {
        None
    }
    /// The elements known by name, if this is a section that appears in lists.
    fn known_elements() -> &'static [KnownDoc] {
        &[]
    }
}

fn wrong_type(path: &str, value: &toml::Value, wanted: &str) -> ConfigError {
    ConfigError(format!("{path} = {}: must be {wanted}, not a {}", shown(value), value.type_str()))
}

/// A value on one line.
fn shown(value: &toml::Value) -> String {
    value.to_string().trim().replace('\n', " ")
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Param for $ty {
            fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
                let wanted = "a whole number, 0 or more";
                let n = value.as_integer().ok_or_else(|| wrong_type(path, value, wanted))?;
                <$ty>::try_from(n).map_err(|_| {
                    ConfigError(format!("{path} = {n}: must be {wanted}, at most {}", <$ty>::MAX))
                })
            }
            fn write(&self) -> toml::Value {
                toml::Value::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, usize);

impl Param for bool {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        value.as_bool().ok_or_else(|| wrong_type(path, value, "true or false"))
    }
    fn write(&self) -> toml::Value {
        toml::Value::Boolean(*self)
    }
}

impl Param for f64 {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        number.ok_or_else(|| wrong_type(path, value, "a number"))
    }
    fn write(&self) -> toml::Value {
        toml::Value::Float(*self)
    }
}

impl Param for String {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(path, value, "text in quotes"))
    }
    fn write(&self) -> toml::Value {
        toml::Value::String(self.clone())
    }
}

impl<T: Param> Param for Vec<T> {
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError> {
        let list = value.as_array().ok_or_else(|| wrong_type(path, value, "a list in brackets"))?;
        list.iter().enumerate().map(|(i, v)| T::read(v, &format!("{path}[{i}]"))).collect()
    }
    fn write(&self) -> toml::Value {
        toml::Value::Array(self.iter().map(Param::write).collect())
    }
    fn section() -> Option<&'static [ParamDoc]> {
        T::section()
    }
    fn list() -> Option<&'static [KnownDoc]> {
        Some(T::known_elements())
    }
}

/// Reads a section's table: used by [`params!`].
#[doc(hidden)]
pub fn check_keys(
    value: &toml::Value,
    path: &str,
    docs: &'static [ParamDoc],
) -> Result<toml::Table, ConfigError> {
    let table = value.as_table().ok_or_else(|| wrong_type(path, value, "a section"))?;
    for key in table.keys() {
        if !docs.iter().any(|d| d.name == key) {
            let valid: Vec<&str> = docs.iter().map(|d| d.name).collect();
            return Err(unknown_name("key", &join(path, key), key, &valid));
        }
    }
    Ok(table.clone())
}

/// Rejects a number that is not whole or outside its range: used by [`params!`].
#[doc(hidden)]
pub fn check_range(
    value: &toml::Value,
    path: &str,
    range: RangeInclusive<i64>,
) -> Result<(), ConfigError> {
    let whole = value.as_integer();
    let near = match whole {
        Some(number) if range.contains(&number) => return Ok(()),
        Some(number) => number,
        None => value.as_float().map_or(*range.start(), |number| number.round() as i64),
    };
    let (low, high) = range.into_inner();
    let rule = format!("must be a whole number from {low} to {high}");
    let remedy = format!("try {}", near.clamp(low, high));
    Err(ConfigError::rule(path, shown(value), &rule, &remedy))
}

/// Rejects keys that a section used to have: used by [`params!`].
#[doc(hidden)]
pub fn refuse_moved(value: &toml::Value, path: &str, moved: &[Moved]) -> Result<(), ConfigError> {
    let old = |moved: &&Moved| value.get(moved.key).is_some();
    let Some(moved) = moved.iter().find(old) else { return Ok(()) };
    let value = value.get(moved.key).map_or(String::new(), shown);
    Err(ConfigError::rule(&join(path, moved.key), value, moved.rule, moved.remedy))
}

/// `section.key`, or `key` at the top level.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Parses a machine file's text; a syntax error becomes one line with its position.
pub fn parse(text: &str) -> Result<toml::Value, ConfigError> {
    text.parse::<toml::Table>().map(toml::Value::Table).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start.min(text.len()));
        let line = text[..at].matches('\n').count() + 1;
        let message = e.message().replace('\n', ", ");
        ConfigError(format!("line {line}: not valid TOML: {message}; correct that line"))
    })
}

/// A parameter with its value, for documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// `section.key`.
    pub key: String,
    /// The value in TOML syntax.
    pub value: String,
    /// Its unit, or empty.
    pub unit: &'static str,
    /// What it is, or why it has this value.
    pub about: String,
}

/// Declared parameters in order, with those of sections in place, each with its sentence.
pub fn described(docs: &[ParamDoc], values: &toml::Value) -> Vec<Described> {
    described_by(docs, values, &|_, declared| declared.to_owned())
}

/// The same, with the result of `about` for a key and its declared sentence.
fn described_by(docs: &[ParamDoc], values: &toml::Value, about: &About) -> Vec<Described> {
    let mut all = Vec::new();
    describe(docs, values, "", about, &mut all);
    all
}

type About<'a> = dyn Fn(&str, &str) -> String + 'a;

/// The parameters as a TOML file, each with its unit and sentence as a comment.
pub fn documented(docs: &[ParamDoc], values: &toml::Value) -> String {
    documented_by(docs, values, &|_, declared| declared.to_owned())
}

/// The same, with the result of `about` for a key and its declared sentence.
fn documented_by(docs: &[ParamDoc], values: &toml::Value, about: &About) -> String {
    let mut out = String::new();
    section((docs, values), ("", ""), about, &mut out);
    out.trim_start().to_owned()
}

/// Writes a section whose head is `[path]` and whose keys are known to `about` as `key.name`: the
/// same, but for the indices of lists.
fn section(
    (docs, values): (&[ParamDoc], &toml::Value),
    (path, key): (&str, &str),
    about: &About,
    out: &mut String,
) {
    let value = |doc: &ParamDoc| values.get(doc.name).cloned();
    for doc in docs.iter().filter(|doc| doc.section.is_none()) {
        let unit = if doc.unit.is_empty() { String::new() } else { format!(" [{}]", doc.unit) };
        let text = about(&join(key, doc.name), doc.text.trim());
        // A file's own note may name the unit already.
        let unit = if text.ends_with(&unit) { "" } else { &unit };
        comment(&format!("{text}{unit}"), out);
        if let Some(value) = value(doc) {
            let _ = writeln!(out, "{} = {value}", doc.name);
        }
    }
    for doc in docs {
        let (Some(inner), Some(value)) = (doc.section, value(doc)) else { continue };
        let (path, key) = (join(path, doc.name), join(key, doc.name));
        if let (Some(known), Some(elements)) = (doc.list, value.as_array()) {
            for (at, element) in elements.iter().enumerate() {
                let (text, inner) = element_docs(doc, inner, known, element);
                begin(text, &format!("[[{path}]]"), out);
                section((&inner, element), (&path, &format!("{key}[{at}]")), about, out);
            }
        } else {
            begin(doc.text, &format!("[{path}]"), out);
            section((inner, &value), (&path, &key), about, out);
        }
    }
}

fn begin(text: &str, head: &str, out: &mut String) {
    out.push('\n');
    comment(text.trim(), out);
    let _ = writeln!(out, "{head}");
}

/// The descriptions of a list's element and of its keys: its own if it is known by name.
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

/// A comment, wrapped at 96 columns.
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

fn describe(
    docs: &[ParamDoc],
    values: &toml::Value,
    path: &str,
    about: &About,
    all: &mut Vec<Described>,
) {
    for doc in docs {
        let key = join(path, doc.name);
        let value = values.get(doc.name);
        match (doc.section, value) {
            (Some(section), Some(toml::Value::Array(elements))) => {
                for (at, element) in elements.iter().enumerate() {
                    let known = doc.list.unwrap_or_default();
                    let (_, docs) = element_docs(doc, section, known, element);
                    describe(&docs, element, &format!("{key}[{at}]"), about, all);
                }
            }
            (Some(section), Some(value)) => describe(section, value, &key, about, all),
            (_, value) => {
                let value = value.map_or(String::new(), ToString::to_string);
                let about = about(&key, doc.text.trim());
                all.push(Described { key, value, unit: doc.unit, about });
            }
        }
    }
}

/// Declares a section of parameters. Each has a doc sentence, a type, a default and a unit, and a
/// whole number may have a range:
///
/// ```
/// mallacc_params::params! {
///     /// A small cache.
///     pub struct Small {
///         /// Capacity.
///         size: u64 = 32 << 10, "B";
///         /// Ways of a set.
///         assoc: u32 = 8, "", 1..=32;
///     }
/// }
/// use mallacc_params::{Param, parse};
/// let value = parse("size = 4096").unwrap();
/// assert_eq!(Small::read(&value, "").unwrap().assoc, 8);
/// let value = parse("sise = 4096").unwrap();
/// assert!(Small::read(&value, "l1").unwrap_err().0.contains("Did you mean \"size\"?"));
/// let value = parse("assoc = 2.5").unwrap();
/// let error = Small::read(&value, "l1").unwrap_err().0;
/// assert_eq!(error, "l1.assoc = 2.5: must be a whole number from 1 to 32; try 3");
/// ```
///
/// A section that appears in lists may declare elements known by name, whose values (each with its
/// own sentence) apply where a file leaves a key out; any section may declare keys that it used to
/// have:
///
/// ```
/// mallacc_params::params! {
///     /// A drawer.
///     pub struct Drawer {
///         /// Name.
///         name: String = String::new(), "";
///         /// Width.
///         width: u64 = 10, "cm";
///     }
///     known by name {
///         /// The large one.
///         "large" {
///             /// Measured.
///             width = 40;
///         }
///     }
///     moved {
///         breadth: "it is called width now", "write width";
///     }
/// }
/// use mallacc_params::{Param, parse};
/// let drawer = |text| Drawer::read(&parse(text).unwrap(), "");
/// assert_eq!(drawer("name = \"large\"").unwrap().width, 40);
/// let moved = drawer("breadth = 3").unwrap_err().0;
/// assert_eq!(moved, "breadth = 3: it is called width now; write width");
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident : $ty:ty = $default:expr, $unit:literal $(, $range:expr)?;
            )*
        }
        $( known by $by:ident {
            $(
                $(#[doc = $about:literal])+
                $known:literal {
                    $( $(#[doc = $note:literal])+ $own:ident = $value:expr; )*
                }
            )*
        } )?
        $( moved {
            $( $gone:ident : $rule:literal, $remedy:literal; )*
        } )?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $ty, )*
        }
        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }
        impl $name {
            /// The declared parameters, in order.
            pub fn declared() -> &'static [$crate::ParamDoc] {
                static DOCS: ::std::sync::OnceLock<::std::vec::Vec<$crate::ParamDoc>> =
                    ::std::sync::OnceLock::new();
                DOCS.get_or_init(|| vec![
                    $( $crate::ParamDoc {
                        name: stringify!($field),
                        unit: $unit,
                        text: concat!($($doc),+),
                        section: <$ty as $crate::Param>::section(),
                        list: <$ty as $crate::Param>::list(),
                    }, )*
                ])
            }
            $(
                /// The element of this name with the values declared for it.
                pub fn known(name: &str) -> Option<Self> {
                    match name {
                        $( $known => Some(Self {
                            $by: $known.into(),
                            $( $own: $value, )*
                            ..Self::default()
                        }), )*
                        _ => None,
                    }
                }
            )?
        }
        impl $crate::Param for $name {
            fn read(
                value: &$crate::toml::Value,
                path: &str,
            ) -> ::std::result::Result<Self, $crate::ConfigError> {
                const MOVED: &[$crate::Moved] = &[ $( $( $crate::Moved {
                    key: stringify!($gone),
                    rule: $rule,
                    remedy: $remedy,
                }, )* )? ];
                $crate::refuse_moved(value, path, MOVED)?;
                let table = $crate::check_keys(value, path, Self::declared())?;
                let out = Self::default();
                $(
                    let name = table.get(stringify!($by)).and_then($crate::toml::Value::as_str);
                    let out = name.and_then(Self::known).unwrap_or(out);
                )?
                let mut out = out;
                $(
                    if let Some(v) = table.get(stringify!($field)) {
                        let path = $crate::join(path, stringify!($field));
                        $( $crate::check_range(v, &path, $range)?; )?
                        out.$field = $crate::Param::read(v, &path)?;
                    }
                )*
                Ok(out)
            }
            fn write(&self) -> $crate::toml::Value {
                let mut table = $crate::toml::Table::new();
                $( table.insert(stringify!($field).into(), $crate::Param::write(&self.$field)); )*
                $crate::toml::Value::Table(table)
            }
            fn section() -> Option<&'static [$crate::ParamDoc]> {
                Some(Self::declared())
            }
            $(
                fn known_elements() -> &'static [$crate::KnownDoc] {
                    &[ $( $crate::KnownDoc {
                        name: (stringify!($by), $known),
                        text: concat!($($about),+),
                        notes: &[ $( (stringify!($own), concat!($($note),+)), )* ],
                    }, )* ]
                }
            )?
        }
    };
}

#[cfg(test)]
mod tests;
