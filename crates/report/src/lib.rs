//! Stored runs as one HTML page that needs no network, and the parts to build such pages.
//!
//! ```text
//! results::Run ─> sections of a run ─┬─> Table ──────────────────┐
//!                 (run/)             └─> chart: LineChart, Bars, ├─> Html ─> Page ─> one file
//!                                        Stack ─> figure ────────┘
//! ```
//!
//! Everything is a pure function from runs to text: no clock, no printing, no file. Figures come
//! from the declared statistics of `results`; this crate has no formulas of its own. The page has
//! no script and loads nothing: charts are inline SVG, downloads are `data:` links, light and dark
//! follow the reader's system.
//!
//! - [`page`] turns runs into the report that `mallacc report` writes.
//! - [`Page`] is the shell: title, lead, contents, sections, style. [`Html`] is markup that cannot
//!   contain unescaped text.
//! - [`Table`] shows figures in readable form; [`Data`] holds them exactly, as CSV and as a plain
//!   table.
//! - [`chart`] draws. [`chart::figure`] turns any [`chart::Chart`] into a figure with a title, a
//!   text alternative, a legend, its data as a table and as a download.
//!
//! A page of your own:
//!
//! ```
//! use mallacc_report::chart::{Axis, LineChart, Look, Series, figure};
//! use mallacc_report::{Format, Html, Page, Table};
//!
//! let chart = LineChart {
//!     title: "Speedup of malloc against entries".into(),
//!     note: "tp_small; the paper's inflection lies at 4 entries.".into(),
//!     x: Axis::new("entries", Format::Count),
//!     y: Axis::new("speedup", Format::Percent(0)).from(0.0),
//!     series: vec![
//!         Series::line("measured", Look::MAIN, [(2.0, 0.12), (4.0, 0.48), (8.0, 0.49)]),
//!         Series::line("paper", Look::LIMIT, [(2.0, 0.1), (4.0, 0.5), (8.0, 0.5)]),
//!     ],
//!     ..LineChart::default()
//! };
//! let mut table = Table::new("Beside the paper", ["paper", "measured", "verdict"]);
//! table.row("tp_small, entries at the inflection", ["4", "4", "reproduced"]);
//!
//! let mut page = Page::new("Figure 17");
//! page.lead("The inflection lies where the paper has it.");
//! let mut body = figure(&chart, "figure-17.csv");
//! body.push(table.html("figure-17-table.csv"));
//! page.section(1, "figure-17", "Figure 17", body);
//! let text = page.render();
//! assert!(text.starts_with("<!doctype html>") && text.contains("Figure 17"));
//! # let _ = Html::text("a < b");
//! ```

pub mod chart;
mod data;
mod html;
mod page;
mod run;
mod style;
mod table;

pub use data::{Column, Data, Datum, Format};
pub use html::{Html, escape};
pub use page::Page;
pub use run::page;
pub use table::Table;
