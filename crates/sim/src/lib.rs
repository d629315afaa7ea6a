//! Runs one instruction stream through many machines: region of interest, sampling, statistics.
