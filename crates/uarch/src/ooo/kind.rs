//! The out-of-order core's registry entry, and the rules of its parameters.

use accel::Accelerator;
use params::{ConfigError, ParamDoc};

use super::OutOfOrder;
use crate::core::Core;
use crate::frontend;
use crate::kind::{CoreKind, check_ranges};
use crate::machine::Machine;
use crate::observe::{WithDevice, WithSeed};
use crate::params::CoreParams;

/// The out-of-order core's registry entry.
pub struct OutOfOrderKind;

impl CoreKind for OutOfOrderKind {
    fn name(&self) -> &'static str {
        "ooo"
    }

    fn describe(&self) -> &'static str {
        "out of order: rename, reservation stations, a reorder buffer, loads ahead of stores"
    }

    fn parameters(&self) -> &'static [ParamDoc] {
        CoreParams::declared()
    }

    fn check(&self, machine: &Machine) -> Result<(), ConfigError> {
        let core = &machine.core;
        check_ranges(&[
            ("core.allocate_width", core.allocate_width, 1, 16),
            ("core.retire_width", core.retire_width, 1, 16),
            ("core.rob", core.rob, 8, 512),
            ("core.rs", core.rs, 4, 250),
            ("core.rs_loads", core.rs_loads, 1, 250),
            ("core.lq", core.lq, 4, 256),
            ("core.sq", core.sq, 4, 128),
            ("core.store_forward", core.store_forward, 1, 100),
        ])?;
        frontend::check(core)
    }

    fn build(
        &self,
        machine: &Machine,
        accelerator: Box<dyn Accelerator>,
    ) -> Result<Box<dyn Core>, ConfigError> {
        // Only a machine with a device or a seed pays for it.
        Ok(match (machine.memory.scratchpad.size, machine.memory.seed) {
            (0, 0) => Box::new(OutOfOrder::new(machine, accelerator, ())?),
            (0, _) => Box::new(OutOfOrder::new(machine, accelerator, WithSeed)?),
            _ => Box::new(OutOfOrder::new(machine, accelerator, WithDevice)?),
        })
    }
}
