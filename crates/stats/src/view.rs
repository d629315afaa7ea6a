//! Values combined with their meaning.

use crate::formula::{Formula, Number};
use crate::schema::Schema;
use crate::values::Values;

/// Maximum depth of formulas that refer to formulas; anything deeper is a cycle.
const DEPTH_MAX: usize = 8;

/// Figures that formulas may name in addition to those of the schema.
type Outside<'a> = Box<dyn Fn(&str) -> Option<Number> + 'a>;

/// Computes figures: looks up counters and evaluates formulas.
pub struct View<'a> {
    schema: &'a Schema,
    values: &'a Values,
    outside: Outside<'a>,
}

impl<'a> View<'a> {
    /// A view of `values`. `outside` returns figures that formulas may name in addition to those of
    /// the schema.
    pub fn new(
        schema: &'a Schema,
        values: &'a Values,
        outside: impl Fn(&str) -> Option<Number> + 'a,
    ) -> Self {
        Self { schema, values, outside: Box::new(outside) }
    }

    /// A figure of the group at `path`; `None` if it is undefined or was not counted.
    pub fn value(&self, path: &str, name: &str) -> Option<Number> {
        self.figure(path, name, 0)
    }

    /// The value of a formula in the group at `path`.
    pub fn formula(&self, path: &str, text: &str) -> Option<Number> {
        self.evaluate(path, text, 0)
    }

    fn figure(&self, path: &str, name: &str, depth: usize) -> Option<Number> {
        if let Some(value) = self.values.get(path, name) {
            return Some(Number::Whole(value));
        }
        // Without its group, nothing can be derived for it, even if the formula names only other
        // groups.
        if !self.values.has(path) {
            return None;
        }
        let figure = self.schema.kind_at(path)?.figure(name)?;
        self.evaluate(path, figure.formula.as_deref()?, depth)
    }

    fn evaluate(&self, path: &str, text: &str, depth: usize) -> Option<Number> {
        if depth > DEPTH_MAX {
            return None;
        }
        let named = |name: &str| match self.schema.resolve(path, name) {
            Some((path, name, _)) => self.figure(&path, name, depth + 1),
            None => (self.outside)(name),
        };
        Formula::parse(text).ok()?.value(&named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view_of(formulas: &[(&str, &str)], value: impl Fn(&View)) {
        let figures: Vec<String> = formulas
            .iter()
            .map(|(name, formula)| {
                format!(
                    r#"{{"name": "{name}", "unit": "count", "sentence": "S.",
                         "formula": "{formula}"}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"kinds": [{{"name": "g", "title": "g", "about": "", "key": "g",
                "figures": [{}]}}], "groups": [{{"kind": "g"}}]}}"#,
            figures.join(",")
        );
        let schema: Schema = serde_json::from_str(&text).unwrap();
        let mut values = Values::default();
        values.push("g", "n", 6);
        let outside = |name: &str| (name == "cycles").then_some(Number::Whole(4));
        value(&View::new(&schema, &values, outside));
    }

    #[test]
    fn formulas_stand_on_formulas_and_on_what_is_known_outside() {
        view_of(&[("a", "n0 + cycles"), ("n0", "cycles + 1")], |view| {
            assert_eq!(view.value("g", "a"), Some(Number::Whole(4 + 1 + 4)));
            assert_eq!(view.formula("g", "a / cycles"), Some(Number::Real(9.0 / 4.0)));
            assert_eq!(view.value("g", "n"), Some(Number::Whole(6)));
            assert_eq!(view.value("h", "a"), None);
        });
    }

    #[test]
    fn a_circle_of_formulas_is_undefined() {
        view_of(&[("a", "b + 1"), ("b", "a + 1")], |view| assert_eq!(view.value("g", "a"), None));
    }

    #[test]
    fn a_stored_value_counts_more_than_its_formula() {
        view_of(&[("n", "cycles")], |view| {
            assert_eq!(view.value("g", "n"), Some(Number::Whole(6)));
        });
    }
}
