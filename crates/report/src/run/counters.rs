//! Every figure of every group: one table per kind.

use documents::text::capitalised;
use results::statistics::Unit;
use results::{GroupFigures, Run, groups_of};
use stats::Kind;

use super::Name;
use super::roles::all;
use crate::data::{Column, Data, Datum, Format};
use crate::html::Html;

/// The section, if anything was counted.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let schema = run.groups();
    // Groups that sum to a whole have a chart with its own table.
    let kinds = schema.kinds().iter().filter(|kind| kind.head.whole.is_none());
    let tables: Vec<Html> = kinds.filter_map(|kind| table(run, name, kind)).collect();
    (!tables.is_empty()).then(|| Html::join(tables))
}

/// The readable format of a unit.
fn format(unit: Unit) -> Format {
    match unit {
        Unit::Fraction => Format::Percent(1),
        Unit::PerThousandInstructions | Unit::InstructionsPerCycle | Unit::CyclesPerCall => {
            Format::Fixed(2)
        }
        _ => Format::Count,
    }
}

/// Every figure of a kind, with a row for each group of each configuration that has one.
fn table(run: &Run, name: &Name, kind: &Kind) -> Option<Html> {
    let schema = run.groups();
    let groups: Vec<_> = groups_of(&schema, kind).collect();
    let named = groups.iter().any(|group| !group.name.is_empty());
    let mut columns = vec![Column::new("configuration", Format::Text)];
    if named {
        columns.push(Column::new("structure", Format::Text));
    }
    let figures = kind.figures.iter();
    columns.extend(figures.map(|f| Column::new(f.name.replace('_', " "), format(f.unit))));
    let mut data = Data::new(columns);
    for shown in all(run) {
        let figures = GroupFigures::of(run, shown.item);
        for group in groups.iter().filter(|group| figures.has(&group.path)) {
            let mut row = vec![Datum::from(shown.item.name.as_str())];
            row.extend(named.then(|| Datum::from(group.name)));
            let value = |name: &str| Datum::from(figures.value(&group.path, name));
            row.extend(kind.figures.iter().map(|figure| value(&figure.name)));
            data.row(row);
        }
    }
    if data.rows.is_empty() {
        return None;
    }
    let title = capitalised(&kind.head.title);
    let mut details = Html::tag("summary", &[], &title);
    details.push(data.html(&title));
    let link = data.download(&title, &name.file(&kind.head.key.replace('_', "-")));
    details.push(Html::element("p", &[("class", "tools")], link));
    Some(Html::element("details", &[], details))
}
