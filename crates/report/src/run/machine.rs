//! The resolved machine with all its parameters, and the accelerators' settings.

use results::text::number;
use results::{Configuration, Run};

use super::Name;
use crate::html::{Html, download};
use crate::table::Table;

/// The section, if a machine was stored.
pub fn body(run: &Run, name: &Name) -> Option<Html> {
    let mut machines: Vec<&Configuration> = Vec::new();
    for item in &run.configurations {
        if !machines.iter().any(|other| other.resolved_machine == item.resolved_machine) {
            machines.push(item);
        }
    }
    machines.retain(|item| !item.resolved_machine.is_empty());
    if machines.is_empty() {
        return None;
    }
    let mut html = accelerators(run, name);
    for item in machines {
        html.push(Html::tag("h4", &[], &format!("{}, with every default filled in", item.machine)));
        html.push(parameters(&item.resolved_machine));
        let file = format!("{}.toml", item.machine);
        let about = format!("Download the machine file of {}", item.machine);
        let link = download(
            "Download the machine file",
            &about,
            &file,
            "text/plain",
            &item.resolved_machine,
        );
        html.push(Html::element("p", &[("class", "tools")], link));
    }
    Some(html)
}

/// Accelerators in rows, with their settings.
fn accelerators(run: &Run, name: &Name) -> Html {
    let columns = ["machine", "accelerator", "settings", "area, estimate", "area of the RTL"];
    let mut table = Table::new("Accelerators", columns);
    for item in &run.configurations {
        let settings: Vec<String> =
            item.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let settings =
            if settings.is_empty() { number::UNDEFINED.into() } else { settings.join(", ") };
        let whole = |area: f64| number::count(area.round() as u64);
        let estimate =
            item.area_um2.map_or(number::UNDEFINED.into(), |area| format!("{} µm²", whole(area)));
        let rtl = match (item.area_rtl_um2_min, item.area_rtl_um2_max) {
            (Some(low), Some(high)) => format!("{} to {} µm²", whole(low), whole(high)),
            _ => number::UNDEFINED.into(),
        };
        let cell = |text: &str| Html::text(text);
        let settings = Html::tag("span", &[("class", "mono settings")], &settings);
        let text = [&item.machine, &item.accelerator].map(|text| cell(text));
        let areas = [&estimate, &rtl].map(|text| cell(text));
        table.markup(&item.name, text.into_iter().chain([settings]).chain(areas));
    }
    let note = "Areas at 28 nm: the estimate is calculated from published figures, the RTL was \
                synthesised (cells only, without wires) and scaled by a range.";
    Html::join([table.html(&name.file("accelerators")), Html::tag("p", &[], note)])
}

/// A block per table of the TOML; lines that are not `key = value` are shown unchanged.
fn parameters(toml: &str) -> Html {
    let mut blocks: Vec<(String, Html)> = vec![("machine".into(), Html::default())];
    for line in toml.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(table) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            // An element of a list has double brackets.
            let table = table.trim_matches(['[', ']']);
            blocks.push((table.to_owned(), Html::default()));
            continue;
        }
        let (key, value) = line.split_once(" = ").unwrap_or((line, ""));
        let pair = Html::join([Html::tag("dt", &[], key), Html::tag("dd", &[], value)]);
        if let Some((_, block)) = blocks.last_mut() {
            block.push(pair);
        }
    }
    let blocks = blocks.into_iter().filter(|(_, pairs)| !pairs.is_empty()).map(|(title, pairs)| {
        let head = Html::tag("h4", &[], &title);
        Html::element("div", &[], Html::join([head, Html::element("dl", &[], pairs)]))
    });
    Html::element("div", &[("class", "machine")], Html::join(blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_machine_is_shown_under_its_table() {
        let html = parameters(
            "name = \"x<y\"\n\n[core.decode]\nwidth = 4\nodd line\n\
             [[memory.level]]\nassoc = 8\n",
        );
        let expected = "<div class=\"machine\">\
             <div><h4>machine</h4><dl><dt>name</dt><dd>&quot;x&lt;y&quot;</dd></dl></div>\
             <div><h4>core.decode</h4><dl><dt>width</dt><dd>4</dd><dt>odd line</dt><dd></dd></dl>\
             </div><div><h4>memory.level</h4><dl><dt>assoc</dt><dd>8</dd></dl></div></div>";
        assert_eq!(html.as_str(), expected);
    }
}
