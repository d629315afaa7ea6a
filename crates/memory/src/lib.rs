//! Caches, TLBs, prefetchers and DRAM with time stamps.
