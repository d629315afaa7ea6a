//! `mallacc block` and `mallacc validate blocks`: basic blocks on the core model.

use std::path::Path;

use experiments::assemble::{Syntax, assemble};
use experiments::blocks::{self, Bench};
use experiments::{Failure, input};

use crate::args::{AsmSyntax, BlockArgs, Format, ValidateBlocksArgs};
use crate::error::{Done, PARTLY};
use crate::output::{Place, Stream};

/// `mallacc block`. A bad block is reported and does not stop the others; the exit status is then
/// not 0.
pub fn block(args: &BlockArgs) -> Done {
    let place = args.place.open()?;
    let bench = Bench::new(&args.machine)?;
    let mut list = list(&args.blocks)?;
    list.extend(assembled(args)?);
    if list.is_empty() {
        return Err(Failure::usage("no block: give machine code in hexadecimal; try 4801d8"));
    }
    let predictions = bench.predict(&list, args.format != Format::Csv);
    for (text, error) in &predictions.failed {
        let shown = if text.is_empty() { "\"\"" } else { text };
        eprintln!("mallacc: block {shown}: {error}");
    }
    if let Some(path) = &args.html
        && let Some(page) = predictions.page()?
    {
        Place::open(Some(path), Stream::Stdout)?.write(&page)?;
    }
    let mut out = match args.format {
        Format::Json => predictions.json(),
        Format::Csv => predictions.csv(),
        Format::Table => predictions.text(),
    };
    if args.timeline {
        out += &predictions.timelines()?;
    }
    place.write(&out)?;
    Ok(if predictions.failed.is_empty() { 0 } else { PARTLY })
}

/// The blocks in assembly language, as machine code in hexadecimal.
fn assembled(args: &BlockArgs) -> Result<Vec<String>, Failure> {
    let syntax = match args.syntax {
        AsmSyntax::Intel => Syntax::Intel,
        AsmSyntax::Att => Syntax::Att,
    };
    let block = |argument: &String| {
        let text = match argument.strip_prefix('@') {
            None if argument != "-" => argument.clone(),
            file => input::text(Path::new(file.unwrap_or("-")), "assembly language")?.0,
        };
        let code = assemble(&text, syntax)?;
        if code.is_empty() {
            return Err(Failure::usage("--asm: no instruction in it; try --asm 'add rax, rbx'"));
        }
        Ok(code.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    args.asm.iter().map(block).collect()
}

/// The named blocks; `-` stands for the lines of standard input.
fn list(blocks: &[String]) -> Result<Vec<String>, Failure> {
    let mut list = Vec::new();
    for text in blocks {
        if text == "-" {
            let (text, _) = input::text(Path::new(text), "a list of blocks")?;
            list.extend(text.lines().map(str::trim).filter(|l| !l.is_empty()).map(str::to_owned));
        } else {
            list.push(text.clone());
        }
    }
    Ok(list)
}

/// `mallacc validate blocks`.
pub fn validate(args: &ValidateBlocksArgs) -> Done {
    let place = args.place.open()?;
    let category = args.category.as_deref();
    let report = blocks::validate(&args.machine, &args.file, args.worst, category)?;
    let out = match args.format {
        Format::Table => report.table(),
        Format::Json => report.json(),
        Format::Csv => report.csv(),
    };
    place.write(&out)?;
    if args.format == Format::Csv {
        // The other formats list them themselves.
        for error in &report.left_out {
            eprintln!("mallacc: {}: {error}", args.file.display());
        }
    }
    Ok(if report.left_out.is_empty() { 0 } else { PARTLY })
}
