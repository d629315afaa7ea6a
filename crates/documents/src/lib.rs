//! One writer each for the forms of a document: aligned text, Markdown, CSV, JSON.
//!
//! What stands in a document is decided where it is measured; how it is written, here.
//!
//! - [`Table`]: rows and columns of texts, as aligned text or as Markdown.
//! - [`csv`]: lines of fields, quoted where they must be.
//! - [`json`]: indented documents that end in a newline.
//! - [`text`]: padding and wrapping.

pub mod csv;
pub mod json;
mod table;
pub mod text;

pub use table::{Align, Column, Layout, Row, Table};
