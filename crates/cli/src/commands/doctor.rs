//! `mallacc doctor`: what was found of everything that Mallacc needs.

use crate::args::{DoctorArgs, DoctorFormat};
use crate::error::{Done, FAILED};
use crate::output::style_at;

/// Runs the command. A part without which nothing runs is no failure of the command, which says so
/// by its status alone.
pub fn run(args: &DoctorArgs) -> Done {
    let place = args.place.open()?;
    let findings = setup::doctor::examine();
    let style = style_at(&place);
    let text = match args.format {
        DoctorFormat::Table => findings.text(style.width, style.colour),
        DoctorFormat::Json => findings.json(),
    };
    place.write(&text)?;
    Ok(if findings.runs_work() { 0 } else { FAILED })
}
