//! Accelerator models behind one trait and one registry.
