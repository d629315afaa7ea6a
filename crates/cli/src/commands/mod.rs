//! One module for each command: its arguments become the plan of an experiment, its outcome a
//! document and an exit status.

pub mod blocks;
pub mod hardware;
pub mod host;
pub mod inspect;
pub mod mallocs;
pub mod memory;
pub mod micro;
pub mod paper;
pub mod record;
pub mod replay;
pub mod report;
pub mod run;
pub mod sma_study;
