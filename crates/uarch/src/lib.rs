//! Machine configuration and the out-of-order core model.
