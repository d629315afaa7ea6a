//! Branch direction, indirect target and return prediction.
//!
//! Direction comes from a TAGE predictor (Seznec and Michaud, "A case for (partially) TAgged
//! GEometric history length branch prediction", JILP 2006) with a loop predictor beside it; targets
//! of indirect branches from a small ITTAGE (Seznec, "A 64-Kbytes ITTAGE indirect branch
//! predictor", 2011); return addresses from a return address stack. A branch target buffer tells
//! the fetch unit that there is a branch at all. Haswell's own predictor is not published; a TAGE
//! of about 32 KB stands in for it.
//!
//! Prediction and update are one step: the core model makes one pass over the program, in program
//! order, and knows the outcome. So the tables are always trained with the true history and before
//! the next branch is predicted, which is slightly better than hardware that trains at retirement.

mod branch;
mod btb;
mod history;
mod indirect;
mod loops;
mod params;
mod predictor;
mod ras;
mod statistics;
mod tage;

pub use branch::{BranchKind, Outcome};
pub use params::*;
pub use predictor::Predictor;
pub use statistics::{KindStatistics, PredictStatistics, PredictorStatistics};
