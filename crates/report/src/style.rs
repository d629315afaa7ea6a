//! The look of every page: one style sheet and the fill patterns that charts refer to.
//!
//! Colours are variables with a light and a dark value. No information depends on colour alone:
//! lines differ in their dashes and markers, areas in their patterns, and both have labels.

use std::fmt::Write as _;

use crate::chart::Look;

/// The style sheet.
pub const SHEET: &str = include_str!("style.css");

/// Geometry of a pattern: the size of its tile and the marks on it.
const PATTERNS: [(u32, &str); Look::COUNT] = [
    (6, "<path d=\"M0 6L6 0\"/>"),
    (6, "<rect class=\"full\" width=\"6\" height=\"6\"/>"),
    (6, "<path d=\"M3 0V6\"/>"),
    (6, "<path d=\"M0 3H6\"/>"),
    (6, "<circle cx=\"3\" cy=\"3\" r=\"1.3\"/>"),
    (7, "<path d=\"M0 0L7 7M7 0L0 7\"/>"),
    (8, "<path d=\"M0 8L8 0\"/><circle cx=\"2\" cy=\"2\" r=\"1\"/>"),
    (6, "<path d=\"M0 3H6M3 0V6\"/>"),
    (5, "<path d=\"M0 0L5 5\"/>"),
    (9, "<rect x=\"1\" y=\"1\" width=\"4\" height=\"4\"/>"),
    (8, "<path d=\"M0 6L4 2L8 6\"/>"),
    (8, "<path d=\"M0 2H8M4 2V8\"/>"),
];

/// The pattern definitions, once per page, in a drawing of size zero.
pub fn patterns() -> String {
    let mut text = String::from(
        "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\" focusable=\"false\">\
         <defs>",
    );
    for (index, (size, marks)) in PATTERNS.iter().enumerate() {
        let _ = write!(
            text,
            "<pattern id=\"p{index}\" class=\"k{index}\" width=\"{size}\" height=\"{size}\" \
             patternUnits=\"userSpaceOnUse\"><rect class=\"ground\" width=\"{size}\" \
             height=\"{size}\"/>{marks}</pattern>"
        );
    }
    text + "</defs></svg>"
}
