//! A program executed again and again, each time with other hash seeds, another place of its stack,
//! and machines with another seed.
//!
//! ```text
//! execution 0: run::simulate ──> Run, stored, with all its counters
//! execution i: run::simulate ──> the sums of each configuration ──> Configuration::replicates
//! ```
//!
//! The executions may differ in instructions and calls; every figure with an interval is a ratio
//! (cycles per call, a speedup), and comparisons are made within an execution.

use results::{Exit, Run, SamplePoint};
use sim::{ConfigSpec, Plan, Seeds};

use crate::error::{Ending, Failure};
use crate::monitor::Monitor;
use crate::run;
use crate::session::{Finished, Rows};
use crate::target::Target;

/// Executes a program `plan.seeds.count` times. `target` makes it anew for each execution; the seed
/// of execution `i` is its own plus `i`. Output is the first one's, and so are all counters. If a
/// later execution fails, the run says so and keeps what there is.
pub fn simulate(
    target: &mut dyn FnMut() -> Result<Target, Failure>,
    (plan, specs): (Plan, &[ConfigSpec]),
    rows: &mut Rows,
    monitor: &dyn Monitor,
) -> Result<(Finished, Ending), Failure> {
    let executions = plan.seeds.count;
    let plan = Plan { seeds: Seeds::ONE, ..plan };
    let mut first = target()?;
    first.execution(0);
    let prepared = first.prepare()?;
    let (mut finished, ending) = run::simulate(&mut first, prepared, (plan, specs), rows, monitor)?;
    if !finished.run.complete || finished.fault().is_some() {
        return Ok((finished, ending));
    }
    let run = &mut finished.run;
    let mut points: Vec<Vec<SamplePoint>> =
        run.configurations.iter().map(|item| vec![item.point()]).collect();
    for execution in 1..executions {
        match again(target, (execution, run.exit), (plan, specs), monitor) {
            Ok(other) => {
                for (points, item) in points.iter_mut().zip(&other.configurations) {
                    points.push(item.point());
                }
                run.executions += 1;
            }
            Err(failure) => {
                run.warnings.push(format!(
                    "execution {} of {executions} failed ({}), so there are {}.",
                    execution + 1,
                    failure.text,
                    run.executions
                ));
                break;
            }
        }
    }
    if run.executions > 1 {
        for (item, points) in run.configurations.iter_mut().zip(points) {
            item.replicates = points;
        }
        rows.replicates(run);
    }
    rows.finish(run);
    Ok((finished, ending))
}

/// One more execution, silent and not stored, which must end as the first one did.
fn again(
    target: &mut dyn FnMut() -> Result<Target, Failure>,
    (execution, expected): (u64, Option<Exit>),
    (plan, specs): (Plan, &[ConfigSpec]),
    monitor: &dyn Monitor,
) -> Result<Run, Failure> {
    let mut target = target()?;
    target.execution(execution);
    target.silent = true;
    let specs: Vec<ConfigSpec> = specs.iter().map(|spec| spec.with_seed(execution)).collect();
    let prepared = target.prepare()?;
    let mut nowhere = Rows::open(None)?;
    let what = (plan, specs.as_slice());
    let (finished, ending) = run::simulate(&mut target, prepared, what, &mut nowhere, monitor)?;
    match (finished.fault(), ending) {
        (Some(fault), _) => Err(Failure::failed(fault)),
        (None, Ending::Interrupted(_)) => Err(Failure::failed("interrupted")),
        (None, Ending::Program(_)) if !finished.run.complete => {
            Err(Failure::failed("it did not finish"))
        }
        (None, Ending::Program(exit)) if exit != expected => {
            Err(Failure::failed("it ended differently"))
        }
        (None, Ending::Program(_)) => Ok(finished.run),
    }
}
