//! What lies beside a QEMU that was built: where it comes from and how it was made.

use crate::archive::Archive;
use crate::build::{OPTIONS, compiler};
use documents::json::pretty;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The file's name.
pub const FILE: &str = "manifest.json";

/// The manifest of a build that ends now.
pub fn text(archive: &Archive, version: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    pretty(&json!({
        "qemu": version,
        "archive": archive.name,
        "sha256": archive.sha256,
        "options": OPTIONS,
        "compiler": compiler(),
        "built": date(now),
    }))
}

/// Seconds since 1970 as a date and time, UTC (RFC 3339).
fn date(seconds: u64) -> String {
    let seconds = libc::time_t::try_from(seconds).unwrap_or_default();
    // SAFETY: zeroes are a valid `tm`; the call fills it from a valid time.
    let time = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        libc::gmtime_r(&raw const seconds, &raw mut time);
        time
    };
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        time.tm_year + 1900,
        time.tm_mon + 1,
        time.tm_mday,
        time.tm_hour,
        time.tm_min,
        time.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        // A leap day: 30 years of which 7 are leap years, then January and 28 days.
        let days = 30 * 365 + 7 + 31 + 28;
        assert_eq!(date(days * 86_400 + 3_661), "2000-02-29T01:01:01Z");
    }
}
