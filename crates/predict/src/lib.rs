//! Branch direction, indirect target and return prediction.
