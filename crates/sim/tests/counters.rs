//! A made-up accelerator with counters that exist nowhere else in the repository, from the model to
//! every document. This file is all that adding counters takes.

use std::sync::atomic::AtomicBool;

use crate::program::Program;
use accel::{Accelerator, Checks, Choice, Completed, Marker, Model, Reply};
use mallacc_sim::{ConfigSpec, Plan, Sample, Seeds, declared, run};
use params::{ConfigError, ParamDoc, toml};
use results::store::Store;
use results::text::{self, Style};
use results::{Configuration, Run, csv, json};
use stats::{Walk, counters};
use stream::{CallKind, MarkerOp};
use uarch::Machine;

const ROUNDS: u64 = 500;
/// Bytes of an allocation of the program's first size class.
const BYTES: u64 = 16;

counters! {
    /// What the scale weighed.
    pub struct ScaleCounters = Head::one("scale").title("scale").about("A scale for allocations.")
        .since(3);

    /// Allocations weighed.
    weighed: Calls,
    /// Bytes asked for.
    grams: Bytes,
    /// Bytes of an allocation.
    mean_weight: Bytes = "grams / weighed" [summary("mean weight")],
    /// Bytes weighed per 1,000 instructions.
    density: PerThousandInstructions = "1000 * (grams / core.instructions)",
    /// Allocations of a negative weight.
    antigravity: Count [fault()],
}

counters! {
    /// One of its pans.
    pub struct PanCounters = Head::list("pan", "pans").title("pans").about("A pan.").since(3);

    /// Times it went down.
    dips: Count,
}

#[derive(Default)]
struct Scale {
    counters: ScaleCounters,
    pans: [PanCounters; 2],
}

impl Accelerator for Scale {
    fn on_marker(&mut self, marker: &Marker, _reply: &mut Reply) {
        match marker.op {
            MarkerOp::CallBegin(CallKind::Malloc) => {
                self.counters.weighed += 1;
                self.counters.grams += marker.values[0];
                self.pans[0].dips += 1;
            }
            MarkerOp::CallBegin(CallKind::Free) => self.pans[1].dips += 1,
            _ => {}
        }
    }
    fn completed(&mut self, _completed: Completed) {}
    fn context_switch(&mut self) {}
    fn statistics(&self, walk: &mut Walk<'_>) {
        walk.one(&self.counters);
        walk.named("left", &self.pans[0]);
        walk.named("right", &self.pans[1]);
    }
    fn checks(&self) -> Checks {
        Checks { made: self.counters.weighed, failed: 0, what: "weights", failure: "fell up" }
    }
}

struct ScaleModel;

impl Model for ScaleModel {
    fn name(&self) -> &'static str {
        "scale"
    }
    fn describe(&self) -> &'static str {
        "weighs allocations"
    }
    fn parameters(&self) -> &'static [ParamDoc] {
        &[]
    }
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError> {
        params::check_keys(settings, "scale", &[])?;
        Ok(Box::new(Scale::default()))
    }
    fn defaults(&self) -> toml::Value {
        toml::Value::Table(toml::Table::new())
    }
    fn disabled(&self) -> toml::Value {
        self.defaults()
    }
}

/// The program under the baseline and under the scale.
fn simulated() -> Run {
    let spec =
        |accelerator: Choice| ConfigSpec::new(accelerator.text(), Machine::default(), accelerator);
    let specs = [spec(Choice::parse("none").unwrap()), spec(Choice::of(&ScaleModel))];
    let sample = Sample { period: 10_000, warm: 1_000, measure: 1_000 };
    let plan =
        Plan { skip: 0, max: None, sample, budget: None, roi_only: false, seeds: Seeds::ONE };
    let mut packets = Program::new().packets(ROUNDS, 1);
    let outcome = run(&mut packets, plan, &specs, &AtomicBool::new(false), &mut ()).unwrap();
    assert_eq!(outcome.measured[1].checks.made, ROUNDS);
    let mut run = Run { program: "p".into(), schema: declared(), ..Run::default() };
    for (measured, spec) in outcome.measured.iter().zip(&specs) {
        run.schema = run.schema.merged(&measured.layout.schema());
        run.configurations.push(Configuration {
            name: spec.name.clone(),
            machine: "m".into(),
            accelerator: spec.name.clone(),
            ..measured.configuration(false)
        });
    }
    assert_eq!(run.contradictions(), [""; 0]);
    run
}

#[test]
fn json_has_its_groups_and_null_where_they_are_not() {
    let value = json::value(&simulated());
    let (base, own) = (&value["configurations"][0], &value["configurations"][1]);
    assert_eq!(own["scale"]["weighed"], ROUNDS);
    assert_eq!(own["scale"]["grams"], ROUNDS * BYTES);
    assert_eq!(own["scale"]["mean_weight"], BYTES as f64);
    let instructions = own["instructions"].as_f64().unwrap();
    let density = 1000.0 * ((ROUNDS * BYTES) as f64 / instructions);
    assert_eq!(own["scale"]["density"], density);
    assert_eq!(own["pans"][0], serde_json::json!({ "name": "left", "dips": ROUNDS }));
    assert!(base["scale"].is_null() && base["pans"] == serde_json::json!([]));
    // It moved nothing, and everything that was counted is present.
    assert_eq!(base["cycles"], own["cycles"]);
    assert!(own["dram"]["reads"].as_u64().unwrap() > 0 && own["page_walker"]["walks"] != 0);
}

#[test]
fn csv_has_its_columns_behind_all_others() {
    let run = simulated();
    let text = csv::render(&run, &run.schema);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (header, base, own) = (lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap());
    let others = csv::header(&declared());
    let others: Vec<&str> = others.trim().split(',').collect();
    assert_eq!(header[..others.len()], others);
    let grams = header.iter().position(|name| *name == "scale.grams").unwrap();
    let dips = header.iter().position(|name| *name == "pan.right.dips").unwrap();
    let (expected, calls) = ((ROUNDS * BYTES).to_string(), ROUNDS.to_string());
    assert_eq!((base[grams], own[grams], own[dips]), ("", expected.as_str(), calls.as_str()));
}

#[test]
fn a_store_gives_back_its_values_and_what_they_mean() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mallacc.db");
    let run = simulated();
    let id = Store::open(&path).unwrap().save(&run).unwrap();
    let loaded = Store::open_existing(&path).unwrap().load(id).unwrap();
    assert_eq!(loaded, Run { id: Some(id), ..run });
    let scale = loaded.schema.kind("scale").unwrap();
    assert_eq!(scale.figure("grams").unwrap().sentence, "Bytes asked for.");
    assert_eq!(json::value(&loaded)["configurations"][1]["scale"]["mean_weight"], BYTES as f64);
}

#[test]
fn the_tables_show_it() {
    let run = simulated();
    let summary = text::summary(&run, &Style::PLAIN);
    let row = |text: &str, label: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.trim_start().starts_with(label));
        line.unwrap_or_else(|| panic!("no {label} in {text}"))
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(row(&summary, "mean weight"), ["mean", "weight", "-", "16"]);
    let detail = text::detail(&run, &Style::PLAIN);
    let grams = text::number::count(ROUNDS * BYTES);
    assert_eq!(row(&detail, "grams"), ["grams", grams.as_str()]);
    assert_eq!(row(&detail, "right dips")[2], ROUNDS.to_string());
    let mut broken = run;
    broken.configurations[1].counted.set("scale", "antigravity", 2);
    let summary = text::summary(&broken, &Style::PLAIN);
    assert!(summary.contains("scale: scale.antigravity is 2 and must be 0 (Allocations of"));
}

#[test]
fn the_page_shows_it() {
    let run = simulated();
    let page = report::page(std::slice::from_ref(&run));
    assert!(page.contains("<summary>Scale</summary>") && page.contains("<summary>Pans</summary>"));
    let grams = text::number::count(ROUNDS * BYTES);
    assert!(page.contains(&format!("<td>{grams}</td>")), "its table");
    assert!(page.contains(&format!("scale,{ROUNDS},{},", ROUNDS * BYTES)), "its download");
    assert!(page.contains("Bytes asked for."), "its definition");
}
