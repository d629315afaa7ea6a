//! A scratch-pad heap with a few dozen bytes of state.
