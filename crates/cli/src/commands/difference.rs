//! `mallacc diff`: what differs between two stored runs.

use results::difference::Difference;

use crate::args::{DifferenceArgs, Format};
use crate::chosen;
use crate::error::Done;
use crate::output::style_at;

/// Runs the command. It only reports; the exit status does not depend on the outcome.
pub fn run(args: &DifferenceArgs) -> Done {
    let store = args.store.open()?;
    let place = args.place.open()?;
    let a = store.load(chosen::one(&store, &args.a)?)?;
    let b = store.load(chosen::one(&store, &args.b)?)?;
    let difference = Difference::of(&a, &b);
    let text = match args.format {
        Format::Table => difference.text(args.detail, &style_at(&place)),
        Format::Json => difference.json(),
        Format::Csv => difference.csv(),
    };
    place.write(&text)?;
    Ok(0)
}
