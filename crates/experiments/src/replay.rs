//! A recorded stream, simulated without QEMU.

use std::path::Path;

use results::Run;
use sim::{ConfigSpec, Plan};
use stream::StreamError;

use crate::error::Failure;
use crate::input::{self, Recorded};
use crate::monitor::Monitor;
use crate::record::Parameters;
use crate::session::{self, Finished, Rows};
use crate::target;
use crate::unmeasured;

/// An opened recording.
pub struct Recording(Recorded);

impl Recording {
    /// Opens it; with `truncated`, a recording that was cut short is read as far as it goes.
    pub fn open(path: &Path, truncated: bool) -> Result<Self, Failure> {
        Ok(Self(input::recording(path)?.allow_truncated(truncated)))
    }

    /// Simulates it.
    pub fn simulate(
        mut self,
        what: (Plan, &[ConfigSpec]),
        rows: &mut Rows,
        monitor: &dyn Monitor,
    ) -> Result<Finished, Failure> {
        let source = &mut self.0;
        let header = source.header();
        let parameters = Parameters::from_text(&header.parameters);
        let run = Run {
            seed: parameters.seed,
            deterministic: parameters.deterministic,
            ..target::begin(header.program.clone(), header.args.clone())
        };
        let mut finished = session::simulate(run, source, what, rows, monitor)?;
        if let Some(cut) = source.truncated() {
            finished.run.complete = false;
            finished.run.warnings.push(match cut {
                StreamError::Truncated { path, offset, .. } => {
                    format!("{path} is truncated at byte {offset}: the figures end there.")
                }
                other => format!("{other}."),
            });
        }
        unmeasured::explain(&mut finished.run, parameters.own_allocator.as_deref());
        rows.finish(&finished.run);
        Ok(finished)
    }
}
