//! Where the program calls the allocator.

use results::{CallSite, Run};

use super::Name;
use crate::data::{Column, Data, Datum, Format};
use crate::html::Html;

/// A table of the first configuration that has call sites.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let item = run.configurations.iter().find(|item| !item.call_sites.is_empty())?;
    let mut data = Data::new([
        Column::new("place", Format::Text),
        Column::new("calls", Format::Count),
        Column::new("bytes requested", Format::Count),
        Column::new("cycles", Format::Count),
        Column::new("share of the allocator's cycles", Format::Percent(1)),
    ]);
    for CallSite { place, calls, bytes, cycles } in &item.call_sites {
        let share = *cycles as f64 / item.allocator_cycles.max(1) as f64;
        data.row([
            Datum::from(place.as_deref().unwrap_or("all others")),
            Datum::Count(*calls),
            Datum::Count(*bytes),
            Datum::Count(*cycles),
            Datum::Real(share),
        ]);
    }
    let caption = format!("Call sites by allocator cycles, {}", item.name);
    let mut body = Html::tag(
        "p",
        &[],
        "The functions that call the allocator, with what they request and what their calls cost. \
         A C++ program's operator new is an allocator call of its own; a library function that \
         allocates for its caller, like strdup, is the caller here.",
    );
    body.push(data.html(&caption));
    let link = data.download(&caption, &name.file("call-sites"));
    body.push(Html::element("p", &[("class", "tools")], link));
    Some(body)
}
