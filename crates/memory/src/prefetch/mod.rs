//! Hardware prefetchers: each sees accesses and names lines, and knows neither caches nor times.

mod ip_stride;
mod next_line;
mod streamer;

pub(crate) use ip_stride::IpStride;
pub(crate) use next_line::NextLine;
pub(crate) use streamer::Streamer;
