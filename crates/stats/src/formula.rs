//! Formulas over counters: numbers, names, `+ - * /`, parentheses.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/") factor }
//! factor  = number | name | "(" sum ")"
//! name    = letter or "_", then letters, digits, "_", "." and an index "[3]"
//! ```
//!
//! Sums and products of whole numbers are whole and exact; a division gives a real number. A
//! division by zero and a name that has no value make the whole formula undefined.

/// Maximum nesting of parentheses: formulas are also read from files.
const DEPTH_MAX: usize = 32;

/// A figure's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Counted, or a sum of counters.
    Whole(u64),
    /// The result of a division, or a number that does not fit in an integer.
    Real(f64),
}

impl Number {
    /// The value as a real number.
    pub fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }
}

/// A parsed formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(Number),
    Name(String),
    Binary(char, Box<Node>, Box<Node>),
}

/// Why a text is not a formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("formula {text:?}: {found} at byte {at}: must be {expected}; try \"hits / accesses\"")]
pub struct FormulaError {
    text: String,
    at: usize,
    found: String,
    expected: &'static str,
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let node = reader.sum()?;
        reader.skip_spaces();
        if reader.at < text.len() {
            return Err(reader.error("an operator or the end"));
        }
        Ok(Self(node))
    }

    /// Every name in it, in textual order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.0.names(&mut names);
        names
    }

    /// Its value, where `value` returns the value of a name; `None` if it is undefined.
    pub fn value(&self, value: &dyn Fn(&str) -> Option<Number>) -> Option<Number> {
        self.0.value(value)
    }
}

impl Node {
    fn names<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::Number(_) => {}
            Self::Name(name) => names.push(name),
            Self::Binary(_, left, right) => {
                left.names(names);
                right.names(names);
            }
        }
    }

    fn value(&self, value: &dyn Fn(&str) -> Option<Number>) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(name) => value(name),
            Self::Binary(operator, left, right) => {
                apply(*operator, left.value(value)?, right.value(value)?)
            }
        }
    }
}

fn apply(operator: char, left: Number, right: Number) -> Option<Number> {
    if let (Number::Whole(left), Number::Whole(right)) = (left, right) {
        let whole = match operator {
            '+' => left.checked_add(right),
            '-' => left.checked_sub(right),
            '*' => left.checked_mul(right),
            _ => None,
        };
        if let Some(whole) = whole {
            return Some(Number::Whole(whole));
        }
    }
    let (left, right) = (left.real(), right.real());
    let real = match operator {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ if right == 0.0 => return None,
        _ => left / right,
    };
    real.is_finite().then_some(Number::Real(real))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn sum(&mut self) -> Result<Node, FormulaError> {
        let mut node = self.product()?;
        while let Some(operator) = self.take(['+', '-']) {
            node = Node::Binary(operator, Box::new(node), Box::new(self.product()?));
        }
        Ok(node)
    }

    fn product(&mut self) -> Result<Node, FormulaError> {
        let mut node = self.factor()?;
        while let Some(operator) = self.take(['*', '/']) {
            node = Node::Binary(operator, Box::new(node), Box::new(self.factor()?));
        }
        Ok(node)
    }

    fn factor(&mut self) -> Result<Node, FormulaError> {
        if self.take(['(', '(']).is_some() {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                return Err(self.error("nested at most 32 deep"));
            }
            let node = self.sum()?;
            self.depth -= 1;
            return match self.take([')', ')']) {
                Some(_) => Ok(node),
                None => Err(self.error("\")\"")),
            };
        }
        let inside = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
        let node = if word.starts_with(|c: char| c.is_ascii_digit()) {
            let number = match (word.parse(), word.parse()) {
                (Ok(whole), _) => Number::Whole(whole),
                (_, Ok(real)) => Number::Real(real),
                _ => return Err(self.error("a number like 1000 or 0.5")),
            };
            Node::Number(number)
        } else if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            Node::Name(word.to_owned())
        } else {
            return Err(self.error("a number, a name or \"(\""));
        };
        self.at += word.len();
        Ok(node)
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes the next character if it is one of these; always skips the spaces before it.
    fn take(&mut self, wanted: [char; 2]) -> Option<char> {
        self.skip_spaces();
        let next = self.text[self.at..].chars().next().filter(|c| wanted.contains(c))?;
        self.at += next.len_utf8();
        self.skip_spaces();
        Some(next)
    }

    fn error(&self, expected: &'static str) -> FormulaError {
        let next = self.text[self.at..].chars().next();
        let found = next.map_or("the end".to_owned(), |letter| format!("{letter:?}"));
        FormulaError { text: self.text.to_owned(), at: self.at, found, expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<Number> {
        let known = |name: &str| match name {
            "hits" => Some(Number::Whole(3)),
            "core[2].cycles" => Some(Number::Whole(8)),
            "zero" => Some(Number::Whole(0)),
            _ => None,
        };
        Formula::parse(text).unwrap().value(&known)
    }

    #[test]
    fn products_bind_tighter_than_sums_and_both_go_from_left_to_right() {
        assert_eq!(value("1 + 2 * hits"), Some(Number::Whole(7)));
        assert_eq!(value("(1 + 2) * hits"), Some(Number::Whole(9)));
        assert_eq!(value("9 - hits - 2"), Some(Number::Whole(4)));
        assert_eq!(value("hits / 2 / 2"), Some(Number::Real(0.75)));
        assert_eq!(value(" 1000*( hits/core[2].cycles )"), Some(Number::Real(375.0)));
        assert_eq!(value("0.5 * hits"), Some(Number::Real(1.5)));
    }

    #[test]
    fn whole_numbers_stay_exact_and_what_does_not_fit_them_becomes_real() {
        // 2^53 + 1 is the first integer that a double cannot represent.
        assert_eq!(value("9007199254740992 + 1"), Some(Number::Whole(9_007_199_254_740_993)));
        assert_eq!(value("hits - 4"), Some(Number::Real(-1.0)));
        let sum = 2.0 * u64::MAX as f64;
        assert_eq!(value("18446744073709551615 * 2"), Some(Number::Real(sum)));
    }

    #[test]
    fn a_division_by_zero_and_an_unknown_name_make_it_undefined() {
        for text in ["hits / zero", "1 + hits / zero", "0 * nothing", "1 / (hits - 3)"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_those_of_the_text_in_order() {
        let formula = Formula::parse("1 - (b.c + a) / b.c").unwrap();
        assert_eq!(formula.names(), ["b.c", "a", "b.c"]);
    }

    #[test]
    fn what_is_no_formula_is_refused_with_the_place() {
        for (text, part) in [
            ("", "the end at byte 0: must be a number, a name"),
            ("hits /", "the end at byte 6"),
            ("hits hits", "'h' at byte 5: must be an operator or the end"),
            ("(hits", "must be \")\""),
            ("1.2.3", "a number like 1000 or 0.5"),
            ("hits % 2", "'%' at byte 5"),
            ("ä", "'ä' at byte 0"),
        ] {
            let error = Formula::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(Formula::parse(&deep).unwrap_err().to_string().contains("32 deep"));
    }
}
