//! Readable JSON: indented, with a newline at the end.

use serde::Serialize;
use serde_json::Value;

/// A document with every value on its own line.
pub fn pretty(value: &impl Serialize) -> String {
    // Serialisation fails only for maps whose keys are not texts, and no document has one.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// A document with lists of plain values on one line, so that a histogram takes one line per bucket
/// instead of five.
pub fn with_short_lists(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    let indent = |text: &mut String, depth| {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (index, (name, field)) in fields.iter().enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                indent(text, depth + 1);
                text.push_str(&Value::from(name.as_str()).to_string());
                text.push_str(": ");
                write(text, field, depth + 1);
            }
            indent(text, depth);
            text.push('}');
        }
        Value::Array(items) if items.iter().any(|item| item.is_array() || item.is_object()) => {
            for (index, item) in items.iter().enumerate() {
                text.push(if index == 0 { '[' } else { ',' });
                indent(text, depth + 1);
                write(text, item, depth + 1);
            }
            indent(text, depth);
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_plain_values_take_one_line() {
        let value = json!({ "a \"b\"": [[1, 2], [3]], "c": [], "d": {}, "e": null });
        let expected = "{\n  \"a \\\"b\\\"\": [\n    [1,2],\n    [3]\n  ],\n  \"c\": [],\n  \
            \"d\": {},\n  \"e\": null\n}\n";
        assert_eq!(with_short_lists(&value), expected);
        assert_eq!(serde_json::from_str::<Value>(expected).unwrap(), value);
    }

    #[test]
    fn documents_end_in_a_newline() {
        assert_eq!(pretty(&json!({ "a": 1 })), "{\n  \"a\": 1\n}\n");
    }
}
