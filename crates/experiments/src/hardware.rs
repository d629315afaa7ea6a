//! The malloc cache as hardware: its area, and operation streams for the RTL.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};

use documents::{Column, Layout, Table};
use mcache::area::{
    Estimate, HASWELL_CORE_MM2, PAPER, PAPER_ENTRIES, SYNTHESISED, Storage, um2_per_percent,
};
use mcache::ops::HEADER;
use sim::Operations;

use crate::error::Failure;
use crate::input::Recorded;

/// Writes the malloc-cache operations of a recorded program, at most `max`; returns how many.
pub fn operations(
    mut recording: Recorded,
    (mut out, path): (impl Write, &str),
    max: Option<u64>,
) -> Result<u64, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("{path}: cannot be written ({error}); name another with -o"))
    };
    writeln!(out, "{HEADER}").map_err(failed)?;
    let mut left = max.unwrap_or(u64::MAX);
    if left == 0 {
        return Ok(0);
    }
    let mut error = None;
    let count = Operations::read(&mut recording, |op| {
        left -= 1;
        error = writeln!(out, "{op}").err();
        left > 0 && error.is_none()
    })?;
    match error.map_or(Ok(()), Err).and_then(|()| out.flush()) {
        // A reader that has enough closes its pipe.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(failed(error)),
        _ => Ok(count),
    }
}

/// A table of areas; with a program's speedup in percent also the area per percent of speedup.
pub fn area(speedup: Option<f64>) -> String {
    let Estimate { cam_um2, sram_um2, index_um2 } = PAPER;
    let mut text = format!(
        "Area of the malloc cache in um2. \"estimate\" scales the paper's CACTI figures \
         ({PAPER_ENTRIES}\n\
         entries at 28 nm: CAM {cam_um2}, SRAM {sram_um2}, class index {index_um2}) by bits; the \
         others are the RTL\n\
         synthesised in ASAP7 (cells only, no wires), scaled to 28 nm as a range.\n\n",
    );
    let per_percent = speedup.map(|_| Column::left("um2 per %").after(3));
    let mut table = Table::new(
        [
            Column::right("entries"),
            Column::right("pointer"),
            Column::left("storage").at_least(11),
            Column::right("ASAP7").at_least(8),
            Column::left("at 28 nm").at_least(12).after(3),
            Column::right("ns").at_least(7),
        ]
        .into_iter()
        .chain(per_percent),
    );
    for entries in [4, 8, 16, 32] {
        for pointer_bits in [32, 48] {
            let total = Estimate::scaled(entries, pointer_bits, true).total_um2();
            let range = format!("{total:.0}");
            let cells = ["estimate".to_owned(), "-".to_owned(), range, "-".to_owned()];
            table.row(row((entries, pointer_bits), cells, speedup, (total, total)));
            let of_size = |s: &&mcache::area::Synthesis| {
                s.entries == entries && s.pointer_bits == pointer_bits
            };
            for found in SYNTHESISED.iter().filter(of_size) {
                let (low, high) = found.area_28nm_um2;
                let cells = [
                    storage(found.storage).to_owned(),
                    format!("{:.0}", found.area_um2),
                    format!("{low}-{high}"),
                    format!("{:.2}", found.critical_path_ps / 1000.0),
                ];
                let range = (f64::from(low), f64::from(high));
                table.row(row((entries, pointer_bits), cells, speedup, range));
            }
        }
    }
    text += &table.text(&Layout::PLAIN);
    let share = PAPER.total_um2() / (HASWELL_CORE_MM2 * 1e6) * 100.0;
    let _ = writeln!(
        text,
        "\nThe paper's {PAPER_ENTRIES} entries are {share:.4} % of a Haswell core of \
         {HASWELL_CORE_MM2} mm2. How it was synthesised: docs/rtl.md."
    );
    text
}

/// A row: the configuration, storage, area in ASAP7, area at 28 nm and critical path; with a
/// speedup also the area per percent of speedup.
fn row(
    (entries, pointer_bits): (u8, u8),
    cells: [String; 4],
    speedup: Option<f64>,
    (low, high): (f64, f64),
) -> Vec<String> {
    let per_percent = speedup.map(|percent| {
        let per = |area| um2_per_percent(area, percent).map_or("-".into(), |v| format!("{v:.0}"));
        let (low, high) = (per(low), per(high));
        if low == high { low } else { format!("{low}-{high}") }
    });
    let size = [entries.to_string(), pointer_bits.to_string()];
    size.into_iter().chain(cells).chain(per_percent).collect()
}

fn storage(storage: Storage) -> &'static str {
    match storage {
        Storage::Flop => "flip-flops",
        Storage::Gated => "clock-gated",
        Storage::Latch => "latches",
    }
}
