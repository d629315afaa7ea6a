//! Declared parameters: type, unit, default and a sentence; strict reading from TOML.
//!
//! A model declares its parameters once with [`params!`]; the struct, its defaults, its strict
//! reader (an unknown key is an error that names the nearest valid one), its writer (the fully
//! resolved configuration is stored with each result) and its documentation all come from that.

pub use document::{documented, markdown};
pub use notes::Notes;
pub use toml;

mod document;
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
    /// Of a list of sections: the elements that have values of their own by name.
    pub list: Option<&'static [KnownDoc]>,
}

/// An element of a list of sections that is known by name: what it leaves out of a machine file
/// has the values declared for it.
#[derive(Clone, Copy, Debug)]
pub struct KnownDoc {
    /// The key whose value names it, and that value.
    pub name: (&'static str, &'static str),
    /// One sentence.
    pub text: &'static str,
    /// Its own sentence for each key that it sets.
    pub notes: &'static [(&'static str, &'static str)],
}

/// A key that machine files had before, and what to write now.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The key.
    pub key: &'static str,
    /// Why it is gone.
    pub rule: &'static str,
    /// What to write in its place.
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

/// A value that can stand in a machine file.
pub trait Param: Sized {
    /// Reads the value at `path` (used in messages).
    fn read(value: &toml::Value, path: &str) -> Result<Self, ConfigError>;
    /// Writes it back.
    fn write(&self) -> toml::Value;
    /// Declared parameters when this is a section, or a list of them.
    fn section() -> Option<&'static [ParamDoc]> {
        None
    }
    /// When this is a list: the elements known by name.
    fn list() -> Option<&'static [KnownDoc]> {
        None
    }
    /// When this is a section that stands in lists: the elements known by name.
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
        value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(path, value, "a text in quotes"))
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

/// The names among `valid` in the order of likeness to `name`; the first is the nearest.
pub fn nearest<'a>(name: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    valid.into_iter().min_by_key(|candidate| edit_distance(name, candidate))
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Looks a name up among valid ones; the error lists them and the nearest.
///
/// `shown` is the name as it appears in the message (a key with its section, for example).
pub fn unknown_name(what: &str, shown: &str, name: &str, valid: &[&str]) -> ConfigError {
    let near = nearest(name, valid.iter().copied()).unwrap_or("-");
    ConfigError(format!(
        "{what} {shown:?}: unknown; did you mean {near:?}? The valid ones are: {}",
        valid.join(", ")
    ))
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

/// Refuses keys that a section had before: used by [`params!`].
#[doc(hidden)]
pub fn refuse_moved(value: &toml::Value, path: &str, moved: &[Moved]) -> Result<(), ConfigError> {
    let old = |moved: &&Moved| value.get(moved.key).is_some();
    let Some(moved) = moved.iter().find(old) else { return Ok(()) };
    let value = value.get(moved.key).map_or(String::new(), shown);
    Err(ConfigError::rule(&join(path, moved.key), value, moved.rule, moved.remedy))
}

/// `section.key`, or `key` at the top.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Parses a machine file's text; a syntax error becomes one line with its place.
pub fn parse(text: &str) -> Result<toml::Value, ConfigError> {
    text.parse::<toml::Table>().map(toml::Value::Table).map_err(|e| {
        let at = e.span().map_or(0, |s| s.start.min(text.len()));
        let line = text[..at].matches('\n').count() + 1;
        let message = e.message().replace('\n', ", ");
        ConfigError(format!("line {line}: not valid TOML: {message}; mend that line"))
    })
}

/// Declares a section of parameters. Each has a doc sentence, a type, a default and a unit:
///
/// ```
/// mallacc_params::params! {
///     /// A small cache.
///     pub struct Small {
///         /// Capacity.
///         size: u64 = 32 << 10, "B";
///         /// Ways of a set.
///         assoc: u32 = 8, "";
///     }
/// }
/// use mallacc_params::{Param, parse};
/// let value = parse("size = 4096").unwrap();
/// assert_eq!(Small::read(&value, "").unwrap().assoc, 8);
/// let value = parse("sise = 4096").unwrap();
/// assert!(Small::read(&value, "l1").unwrap_err().0.contains("did you mean \"size\""));
/// ```
///
/// A section that stands in a list may declare elements known by name, whose values (each with its
/// own sentence) hold where a file leaves a key out; any section may declare keys that it had
/// before:
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
/// let told = "breadth = 3: it is called width now; write width";
/// assert_eq!(drawer("breadth = 3").unwrap_err().0, told);
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[doc = $doc:literal])+ $field:ident : $ty:ty = $default:expr, $unit:literal; )*
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
mod tests {
    use super::*;

    params! {
        /// Inner.
        pub struct Inner {
            /// Ways.
            assoc: u32 = 8, "";
        }
    }
    params! {
        /// Outer.
        pub struct Outer {
            /// Name.
            name: String = "x".into(), "";
            /// Inner section.
            inner: Inner = Inner::default(), "";
            /// Latencies.
            steps: Vec<u64> = vec![1, 2], "cycles";
            /// Factor.
            factor: f64 = 0.5, "";
            /// Switch.
            on: bool = true, "";
            /// Stages.
            stage: Vec<Stage> = vec![Stage::known("first").unwrap()], "";
        }
        moved {
            switch: "there are more of them now", "write on = true or false";
        }
    }
    params! {
        /// Stage.
        pub struct Stage {
            /// Its name.
            name: String = String::new(), "";
            /// How deep.
            depth: u32 = 1, "cm";
            /// How wide.
            width: u32 = 1, "cm";
        }
        known by name {
            /// The first stage.
            "first" {
                /// Its depth (a source).
                depth = 7;
            }
        }
    }

    #[test]
    fn a_list_of_sections_is_read_strictly_and_known_elements_have_their_own_values() {
        let text = "[[stage]]\nname = \"first\"\nwidth = 2\n[[stage]]\nname = \"x\"";
        let outer = Outer::read(&parse(text).unwrap(), "").unwrap();
        let stage = |name: &str, depth, width| Stage { name: name.into(), depth, width };
        assert_eq!(outer.stage, [stage("first", 7, 2), stage("x", 1, 1)]);
        for (text, part) in [
            ("[[stage]]\n[[stage]]\ndepht = 3", "stage[1].depht"),
            ("[[stage]]\ndepth = -3", "stage[0].depth = -3: must be a whole number"),
            ("[stage]\ndepth = 3", "must be a list"),
            ("stage = [3]", "stage[0] = 3: must be a section"),
        ] {
            let error = Outer::read(&parse(text).unwrap(), "").unwrap_err().0;
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(Outer::read(&outer.write(), ""), Ok(outer));
    }

    #[test]
    fn a_list_of_sections_is_documented_element_by_element() {
        let mut outer = Outer::default();
        outer.stage.push(Stage { name: "y".into(), ..Stage::default() });
        let text = documented(Outer::declared(), &outer.write());
        for part in [
            "# The first stage.\n[[stage]]\n# Its name.\nname = \"first\"\n\
             # Its depth (a source). [cm]\ndepth = 7\n# How wide. [cm]\n",
            "# Stages.\n[[stage]]\n# Its name.\nname = \"y\"\n# How deep. [cm]\ndepth = 1\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(Outer::read(&parse(&text).unwrap(), ""), Ok(outer.clone()));
        let table = markdown(Outer::declared(), &outer.write());
        assert!(table.contains("| `stage[0].depth` | 7 | cm | Its depth (a source). |"), "{table}");
        assert!(table.contains("| `stage[1].depth` | 1 | cm | How deep. |"), "{table}");
    }

    #[test]
    fn a_key_of_before_is_told_what_to_write_now() {
        let error = Outer::read(&parse("[switch]\na = 3").unwrap(), "x").unwrap_err().0;
        let told = "x.switch = { a = 3 }: there are more of them now; write on = true or false";
        assert_eq!(error, told);
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let mut outer = Outer { name: "y".into(), on: false, ..Outer::default() };
        outer.inner.assoc = 16;
        assert_eq!(Outer::read(&outer.write(), ""), Ok(outer));
    }

    #[test]
    fn an_unknown_key_names_the_nearest_valid_one() {
        let value = parse("[inner]\nasoc = 4").unwrap();
        let error = Outer::read(&value, "").unwrap_err().0;
        assert!(error.contains("inner.asoc") && error.contains("\"assoc\""), "{error}");
    }

    #[test]
    fn wrong_types_and_ranges_say_what_is_wanted() {
        for (text, part) in [
            ("on = 3", "on = 3: must be true or false"),
            ("inner = 3", "inner = 3: must be a section"),
            ("[inner]\nassoc = -1", "inner.assoc = -1: must be a whole number"),
            ("steps = [1, \"a\"]", "steps[1] = \"a\": must be a whole number"),
        ] {
            let error = Outer::read(&parse(text).unwrap(), "").unwrap_err().0;
            assert!(error.contains(part), "{error}");
        }
        assert!(parse("a = \n[").unwrap_err().0.starts_with("line 1: not valid TOML"));
    }

    #[test]
    fn the_documentation_lists_nested_keys_with_their_defaults() {
        let text = markdown(Outer::declared(), &Outer::default().write());
        assert!(text.contains("| `inner.assoc` | 8 |  | Ways. |"), "{text}");
    }

    #[test]
    fn a_documented_file_reads_back_the_same() {
        let text = documented(Outer::declared(), &Outer::default().write());
        assert!(text.contains("# Latencies. [cycles]\nsteps = [1, 2]\n"), "{text}");
        assert!(text.contains("# Inner section.\n[inner]\n# Ways.\nassoc = 8"), "{text}");
        assert_eq!(Outer::read(&parse(&text).unwrap(), ""), Ok(Outer::default()));
    }

    #[test]
    fn likeness_is_counted_in_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(nearest("haswel", ["golden-cove", "haswell"]), Some("haswell"));
    }
}
