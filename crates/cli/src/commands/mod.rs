//! One module per command: it turns the arguments into the plan of an experiment, and the outcome
//! into a document and an exit status.

pub mod blocks;
pub mod difference;
pub mod doctor;
pub mod hardware;
pub mod host;
pub mod inspect;
pub mod mallocs;
pub mod markers;
pub mod memory;
pub mod micro;
pub mod paper;
pub mod record;
pub mod remove;
pub mod replay;
pub mod report;
pub mod run;
pub mod setup;
pub mod sma_study;
