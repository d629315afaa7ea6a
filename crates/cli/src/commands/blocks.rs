//! `mallacc block` and `mallacc validate blocks`: basic blocks on the core model.

use std::fs;
use std::io::Read as _;

use experiments::Failure;
use experiments::blocks::{self, Bench};

use crate::args::{BlockArgs, Format, ValidateBlocksArgs};
use crate::error::Done;
use crate::output::{Stream, print};

/// `mallacc block`. A bad block is reported and does not stop the others; the exit status is then
/// not 0.
pub fn block(args: &BlockArgs) -> Done {
    let bench = Bench::new(&args.machine)?;
    let list = list(&args.blocks)?;
    if list.is_empty() {
        return Err(Failure::usage("no block: give machine code in hexadecimal; try 4801d8"));
    }
    let predictions = bench.predict(&list);
    for (text, error) in &predictions.failed {
        let shown = if text.is_empty() { "\"\"" } else { text };
        eprintln!("mallacc: block {shown}: {error}");
    }
    if let Some(path) = &args.html
        && let Some(page) = predictions.page()?
    {
        fs::write(path, page)
            .map_err(|e| Failure::failed(format!("cannot write {}: {e}", path.display())))?;
    }
    let mut out = match args.format {
        Format::Json => predictions.json(),
        Format::Csv => predictions.csv(),
        Format::Table => predictions.text(),
    };
    if args.timeline {
        out += &predictions.timelines()?;
    }
    print(Stream::Stdout, &out)?;
    Ok(u8::from(!predictions.failed.is_empty()))
}

/// The named blocks; `-` stands for the lines of standard input.
fn list(blocks: &[String]) -> Result<Vec<String>, Failure> {
    let mut list = Vec::new();
    for text in blocks {
        if text == "-" {
            let mut input = String::new();
            std::io::stdin()
                .read_to_string(&mut input)
                .map_err(|e| Failure::failed(format!("standard input: cannot read: {e}")))?;
            list.extend(input.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            list.push(text.clone());
        }
    }
    Ok(list)
}

/// `mallacc validate blocks`.
pub fn validate(args: &ValidateBlocksArgs) -> Done {
    let category = args.category.as_deref();
    let report = blocks::validate(&args.machine, &args.file, args.worst, category)?;
    let out = match args.format {
        Format::Table => report.table(),
        Format::Json => report.json(),
        Format::Csv => report.csv(),
    };
    print(Stream::Stdout, &out)?;
    if args.format == Format::Csv {
        // The other formats list them themselves.
        for error in &report.left_out {
            eprintln!("mallacc: {}: {error}", args.file.display());
        }
    }
    Ok(u8::from(!report.left_out.is_empty()))
}
