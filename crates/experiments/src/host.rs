//! The microbenchmarks timed natively on this computer, against their simulation on the machine of
//! its core family. It only reports; nothing depends on the outcome.
//!
//! ```text
//! programs with --time, the allocator preloaded ──> samples ──┐
//! the same programs under QEMU, baseline alone ──> cycles ────┴──> validate::host ──> report
//! ```

use std::path::Path;
use std::process::{Command, Stdio};

use accel::Choice;
use sim::ConfigSpec;
use uarch::Machine;
pub use validate::host::Report;
use validate::host::{Comparison, Family, Spread, Timed, family};

use crate::error::Failure;
use crate::input;
use crate::micro::{self, Steps};
use crate::monitor::Monitor;
use crate::plan::WHOLE;
use crate::run;
use crate::session::Rows;

/// How often each program is started: addresses differ between starts.
const PROCESSES: u32 = 10;
const PROCESSES_QUICK: u32 = 2;

/// What is compared, and how often.
pub struct Request {
    /// Microbenchmarks; all if none is named.
    pub names: Vec<String>,
    /// The machine, if it is not that of the host's core family.
    pub machine: Option<String>,
    /// Steps on both sides.
    pub steps: Steps,
    /// How often each program is started natively.
    pub processes: u32,
}

/// How often each program is started by default.
pub fn usual_processes(quick: bool) -> u32 {
    if quick { PROCESSES_QUICK } else { PROCESSES }
}

/// Compares them. Nothing is stored.
pub fn run(request: &Request, monitor: &dyn Monitor) -> Result<Report, Failure> {
    let names = micro::chosen(&request.names)?;
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let host = Family::parse(&cpuinfo);
    let mut notes = Vec::new();
    let mut machine = match (&request.machine, host.machine()) {
        (Some(name), _) => input::machine(name)?,
        (None, Some(name)) => input::machine(name)?,
        (None, None) => {
            notes.push(host.unknown());
            Machine::find(family::FALLBACK)?
        }
    };
    notes.extend(about(&machine));
    let marked = launch::products::GUEST.find()?;
    let plain = launch::products::plain_guest()?;
    let (mut rows, mut around) = (Vec::new(), Around::default());
    for &name in &names {
        rows.push(measure(name, request, [&plain, &marked], &mut around)?);
    }
    let page_fault_machine = machine.memory.page_fault.cycles;
    let page_fault = Spread::of(&around.faults);
    if let Some(fault) = page_fault {
        // Its cost is the kernel's and the hypervisor's, not the core's.
        machine.memory.page_fault.cycles = fault.median.round() as u64;
    }
    for (name, row) in names.iter().zip(&mut rows) {
        row.simulated = Some(simulate(name, request.steps, &machine, monitor)?);
    }
    Ok(Report {
        host,
        machine: machine.name,
        cycles_per_tick: Spread::of(&around.per_tick),
        page_fault,
        page_fault_machine,
        rows,
        notes,
    })
}

/// What a reader needs to know about the figures.
fn about(machine: &Machine) -> Vec<String> {
    let mut notes = vec![
        "native: the allocator without its marker instructions, as the simulator leaves them out; \
         `markers` includes them, as nops and stores"
            .to_owned(),
        "antagonist: its cache thrashing is a marker that does nothing natively, so it has no \
         error (the paper leaves it out too)"
            .to_owned(),
    ];
    notes.push(format!(
        "{}: the head of its machine file lists what the model cannot express; uops, ports and \
         latencies are those of the table {}",
        machine.name, machine.core.instructions
    ));
    notes
}

/// Observations beside the measurements.
#[derive(Default)]
struct Around {
    /// Core cycles per tick.
    per_tick: Vec<f64>,
    /// Core cycles per page fault.
    faults: Vec<f64>,
}

/// The native side of one microbenchmark.
fn measure(
    name: &str,
    request: &Request,
    [plain, marked]: [&Path; 2],
    around: &mut Around,
) -> Result<Comparison, Failure> {
    let program = micro::program(name)?;
    let (mut native, mut with_markers) = (Vec::new(), Vec::new());
    let (mut moved, mut shared) = (0, 0);
    for _ in 0..request.processes {
        let kept = time(name, &program, request.steps, plain)?.kept();
        native.extend(kept.cycles);
        around.per_tick.extend(kept.per_tick);
        around.faults.extend(kept.fault);
        moved += kept.moved;
        shared += kept.shared;
        with_markers.extend(time(name, &program, request.steps, marked)?.kept().cycles);
    }
    Ok(Comparison {
        name: name.to_owned(),
        native: Spread::of(&native),
        marked: Spread::of(&with_markers),
        simulated: None,
        kept: native.len(),
        moved,
        shared,
    })
}

/// Runs a program natively with an allocator preloaded, and reads its measurements.
fn time(name: &str, program: &Path, steps: Steps, allocator: &Path) -> Result<Timed, Failure> {
    let mut command = Command::new(program);
    command.args(steps.options()).arg("--time").env("LD_PRELOAD", allocator);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::failed(format!("{}: cannot run: {error}", program.display())))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it printed nothing");
        return Err(Failure::failed(format!("{name} failed natively ({}): {said}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Timed::parse(&text).map_err(|error| Failure::failed(format!("{name} with --time: {error}")))
}

/// Simulated cycles per step on the baseline.
fn simulate(
    name: &str,
    steps: Steps,
    machine: &Machine,
    monitor: &dyn Monitor,
) -> Result<f64, Failure> {
    let mut target = micro::target(name, steps)?;
    let prepared = target.prepare()?;
    let accelerator = Choice::baseline();
    let specs = [ConfigSpec::new(name, machine.clone(), accelerator)];
    let mut rows = Rows::open(None)?;
    let what = (WHOLE, specs.as_slice());
    let (finished, ending) = run::simulate(&mut target, prepared, what, &mut rows, monitor)?;
    if let Some(error) = &finished.error {
        return Err(Failure::failed(format!("{name}: {error}")));
    }
    let cycles = finished.run.configurations.first().map_or(0, |item| item.cycles);
    if !ending.succeeded() || finished.interrupted || cycles == 0 {
        let status = ending.status().map_or("unknown".into(), |status| status.to_string());
        return Err(Failure::failed(format!(
            "{name}: its simulation did not end (status {status})"
        )));
    }
    Ok(cycles as f64 / steps.measured() as f64)
}
