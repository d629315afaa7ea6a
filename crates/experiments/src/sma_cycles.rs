//! Cycles of scratch-pad allocators' calls: the driver under QEMU on machines with a scratch-pad.

use std::path::Path;

use accel::Choice;
use results::CallKind;
use sim::{ConfigSpec, Plan};
use study::Kind;
use study::compiled::{Compiled, write};
use study::figures::{CallCycles, Input};
use uarch::Machine;

use crate::error::{Class, Failure};
use crate::monitor::Monitor;
use crate::plan::WHOLE;
use crate::run::simulate;
use crate::session::Rows;
use crate::target::Target;

/// Where the scratch-pad lies; far from what the system hands out.
const BASE: u64 = 0x10_0000_0000;
/// Room for state behind the region; the driver uses the same value.
const STATE_BYTES: u64 = 16 << 10;

/// The two ends of a memory's latency range (section 5.1).
pub type Latencies = [u64; 2];

/// The cores, in the order of [`Cycles::by_core`].
pub const CORES: [&str; 2] = ["Haswell", "narrow"];

/// Mean cycles of a program's calls on each core, averaged over both ends of the latency range.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cycles {
    /// By core.
    pub by_core: [CallCycles; 2],
}

/// The modelled core as it is, and one that handles one uop per cycle with a ROB of eight entries,
/// the closest the model comes to the small cores that have scratch-pads.
fn machines() -> Result<[Machine; 2], Failure> {
    let wide = Machine::find("haswell")?;
    let mut narrow = wide.clone();
    narrow.name = "narrow".into();
    (narrow.core.allocate_width, narrow.core.retire_width, narrow.core.rob) = (1, 1, 8);
    Ok([wide, narrow])
}

/// Every core at each latency.
fn specs(bytes: u32, latencies: Latencies) -> Result<Vec<ConfigSpec>, Failure> {
    let mut specs = Vec::new();
    for machine in machines()? {
        for latency in latencies {
            let mut machine = machine.clone();
            machine.memory.scratchpad.base = BASE;
            machine.memory.scratchpad.size = u64::from(bytes) + STATE_BYTES;
            machine.memory.scratchpad.latency = latency;
            let name = format!("{}-{latency}", machine.name);
            specs.push(ConfigSpec::new(name, machine, Choice::baseline()));
        }
    }
    Ok(specs)
}

fn word(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Sma(128) => Some("sma"),
        Kind::Lm => Some("lm"),
        Kind::Cam => Some("cam"),
        // The 32-bit model only computes placements; the crate is real code.
        Kind::Dlmalloc => Some("dlmalloc"),
        Kind::Talc64 => Some("talc"),
        _ => None,
    }
}

/// Runs `count` subsets of a program, each up to `limit` operations, on one allocator.
pub fn measure(
    input: &Input,
    kind: Kind,
    (bytes, latencies): (u32, Latencies),
    (count, limit): (u32, usize),
    folder: &Path,
    monitor: &dyn Monitor,
) -> Result<Option<Cycles>, Failure> {
    let Some(word) = word(kind) else { return Ok(None) };
    let driver = launch::products::DRIVER.find()?;
    let subsets = input.subsets(bytes, count);
    let subsets: Vec<Compiled> =
        subsets.iter().map(|subset| Compiled::new(subset, limit)).collect();
    let file = folder.join("subsets");
    std::fs::write(&file, write(&subsets)).map_err(|error| {
        Failure::failed(format!("{}: cannot be written ({error})", file.display()))
    })?;
    let args = [word.into(), format!("{BASE:#x}").into(), bytes.to_string().into(), file.into()];
    let mut target = Target::new(driver.into(), args.to_vec());
    (target.silent, target.deterministic) = (true, true);
    let checked = target.prepare()?;
    let plan = Plan { roi_only: true, ..WHOLE };
    let specs = specs(bytes, latencies)?;
    let mut rows = Rows::open(None)?;
    let (finished, ending) = simulate(&mut target, checked, (plan, &specs), &mut rows, monitor)?;
    if !ending.succeeded() {
        let class = Class::Program(ending);
        return Err(Failure { class, text: format!("the driver of {} failed", kind.name()) });
    }
    let mut cycles = Cycles::default();
    for (core, pair) in finished.run.configurations.chunks(latencies.len()).enumerate() {
        let (mut sum, ends) = (CallCycles::default(), pair.len() as f64);
        for item in pair {
            // The driver marks refused requests with another call kind than malloc.
            let per_call = |kind: CallKind| {
                let calls = &item.calls[kind];
                calls.cycles as f64 / calls.calls as f64
            };
            sum.allocation += per_call(CallKind::Malloc) / ends;
            sum.free += per_call(CallKind::Free) / ends;
        }
        cycles.by_core[core] = sum;
    }
    Ok(Some(cycles).filter(|c| c.by_core.iter().all(|c| c.allocation.is_finite())))
}
