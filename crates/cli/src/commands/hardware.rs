//! `mallacc operations` and `mallacc area`: the malloc cache as hardware.

use experiments::hardware;

use crate::args::{AreaArgs, OperationsArgs};
use crate::error::Done;
use crate::output::{Stream, print};

/// `mallacc operations`.
pub fn operations(args: &OperationsArgs) -> Done {
    let count = hardware::operations(&args.trace, &args.output, args.max)?;
    print(Stream::Stdout, &format!("{count} operations in {}\n", args.output.display()))?;
    Ok(0)
}

/// `mallacc area`.
pub fn area(args: &AreaArgs) -> Done {
    print(Stream::Stdout, &hardware::area(args.speedup)?)?;
    Ok(0)
}
