//! Runs a program through configurations and prints their raw counters.
use launch::{Options, Paths, prepare};
use mallacc_sim::*;
use std::sync::atomic::AtomicBool;
fn main() {
    let mut args: Vec<_> = std::env::args_os().skip(1).collect();
    let split = args.iter().position(|a| a == "--").unwrap();
    let prog = args.split_off(split + 1);
    args.pop();
    let mut options = Options::new(Paths::find().unwrap());
    options.deterministic = true;
    let mut launched = prepare(&prog[0], &prog[1..], options).unwrap().spawn().unwrap();
    let mut source = launched.source().unwrap();
    let machine = uarch::Machine::find("haswell").unwrap();
    let mut plan = Plan {
        skip: 0,
        max: None,
        sample: Sample { period: 2_000_000, warm: 100_000, measure: 100_000 },
        budget: None,
        roi_only: false,
    };
    let specs: Vec<ConfigSpec> = args
        .iter()
        .filter_map(|a| {
            let a = a.to_str().unwrap();
            if a == "--sample" {
                plan.budget = Some(0);
                return None;
            }
            Some(ConfigSpec {
                name: a.into(),
                machine: machine.clone(),
                accelerator: accel::Choice::parse(a).unwrap(),
            })
        })
        .collect();
    let t = std::time::Instant::now();
    let stop = AtomicBool::new(false);
    let out = run(&mut source, decode::Decoder::haswell(), plan, &specs, &stop, &mut ()).unwrap();
    let secs = t.elapsed().as_secs_f64();
    println!(
        "{:?}\n{:.2}s {:.2} MIPS",
        out.facts,
        secs,
        out.facts.instructions as f64 / secs / 1e6
    );
    if let Some(e) = out.error {
        println!("error {e}");
    }
    for (s, m) in specs.iter().zip(&out.measured) {
        let tot = if out.facts.sampled { &m.sampled } else { &m.whole };
        let n = tot.counters.named(&m.names);
        let cyc = n["core.cycles"] as f64;
        println!(
            "== {} cycles {} ipc {:.3} alloc {:.2}% viol {} abandoned {}",
            s.name,
            cyc,
            n["core.instructions"] as f64 / cyc,
            100.0 * tot.allocator_cycles as f64 / cyc,
            m.violations,
            m.abandoned_calls
        );
        for (k, c) in tot.calls.iter() {
            if c.calls > 0 {
                println!(
                    "   {:12} {:9} calls {:8.2} cyc/call  p50 {:?} p95 {:?}",
                    k.name(),
                    c.calls,
                    c.cycles as f64 / c.calls as f64,
                    c.latency.percentile(50.0),
                    c.latency.percentile(95.0)
                );
            }
        }
        if std::env::var("V").is_ok() {
            for (k, v) in &n {
                if *v != 0 {
                    println!("      {k} {v}");
                }
            }
        }
    }
}
