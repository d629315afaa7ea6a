//! Everything that this version can count.

use std::sync::OnceLock;

use accel::{Choice, registry};
use stats::{Layout, Schema};
use uarch::Machine;

/// The declarations of all counters: those of the default machine with every accelerator of the
/// registry. Reports reserve a place for each, whatever a run simulated.
pub fn declared() -> Schema {
    static DECLARED: OnceLock<Schema> = OnceLock::new();
    DECLARED.get_or_init(collect).clone()
}

fn collect() -> Schema {
    let machine = Machine::default();
    let mut schema = Schema::default();
    for model in registry() {
        let core = Choice::of(*model).build().and_then(|built| machine.build(built));
        // The defaults are valid; tests of the registry and of the machine assert it.
        if let Ok(core) = core {
            schema = schema.merged(&Layout::of(&*core).schema());
        }
    }
    schema
}
