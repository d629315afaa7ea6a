//! One writer for each form of a document: aligned text, Markdown, CSV, JSON.
//!
//! The content of a document is decided where it is measured; its form, here.
//!
//! - [`Table`]: rows and columns of texts, as aligned text or as Markdown.
//! - [`csv`]: lines of fields, quoted where necessary.
//! - [`json`]: indented documents that end in a newline.
//! - [`text`]: padding and wrapping.

pub mod csv;
pub mod json;
mod table;
pub mod text;

pub use table::{Align, Column, Layout, Row, Table};
