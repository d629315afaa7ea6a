//! How certain the figures of a whole run are, and its course.

use fixtures::{BASELINE, INSTRUCTIONS, MALLACC_32, MALLOC_CALLS, SEED_CYCLES, seeded, whole};
use mallacc_results::json;
use mallacc_results::text::{self, Style};
use serde_json::Value;

#[test]
fn figures_of_a_whole_run_carry_the_interval_of_its_seeds() {
    let run = seeded();
    let (json, plain) = (json::value(&run), json::value(&whole()));
    let (json, plain) = (&json["configurations"][2], &plain["configurations"][2]);
    // t(0.975, 2) in any printed table.
    let t = 4.302_652_73;
    let expected = |figures: [f64; 3]| {
        let mean = figures.iter().sum::<f64>() / 3.0;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        (figures[0] - mean).abs() + t * (squares / 2.0).sqrt() / 3.0_f64.sqrt()
    };
    let close = |actual: &Value, expected: f64| {
        let actual = actual.as_f64().expect("a number");
        assert!((actual - expected).abs() <= 1e-7 * expected, "{actual} {expected}");
    };
    let seeds = |cycles: u64| SEED_CYCLES.map(|[program, _]| (cycles as i64 + program) as f64);
    let (base, own) = (BASELINE.cycles(), MALLACC_32.cycles());
    let speedups: Vec<f64> =
        seeds(base).into_iter().zip(seeds(own)).map(|(base, own)| base / own - 1.0).collect();
    close(&json["speedup_ci95"], expected(speedups.try_into().unwrap()));
    let ipcs = seeds(own).map(|cycles| INSTRUCTIONS as f64 / cycles);
    close(&json["ipc_ci95"], expected(ipcs));
    let malloc = SEED_CYCLES.map(|[_, malloc]| {
        (MALLACC_32.malloc_cycles() as i64 + malloc) as f64 / MALLOC_CALLS as f64
    });
    close(&json["malloc"]["cycles_per_call_ci95"], expected(malloc));
    for path in ["/speedup", "/ipc", "/malloc/cycles_per_call"] {
        let figure = json.pointer(path).expect("a figure");
        assert_eq!(Some(figure), plain.pointer(path), "the figure is the first seed's");
    }
    let keys = plain.as_object().unwrap().keys();
    assert!(keys.clone().all(|key| !key.ends_with("_ci95")), "one seed has no interval");
}

#[test]
fn the_course_of_a_run_is_drawn_from_its_lowest_to_its_highest_share() {
    assert_eq!(seeded().contradictions(), [""; 0]);
    let text = text::summary(&seeded(), &Style::PLAIN);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Phase n of 15 has n of 120 parts of the allocator's cycles in a fifteenth of all.
    let share = |n: u64| {
        // Whole cycles, each part from where the last one was cut.
        let own = |n: u64| BASELINE.allocator_cycles() * (n * (n + 1) / 2) / 120;
        let all = |n: u64| BASELINE.cycles() * n / 15;
        let share = (own(n) - own(n - 1)) as f64 / (all(n) - all(n - 1)) as f64;
        format!("{:.1} %", 100.0 * share)
    };
    // Bar n has n / 15 of eight eighths, cut to whole ones, and one more.
    let bars = "▁▂▂▃▃▄▄▅▅▆▆▇▇██";
    let expected = format!("(baseline): {bars} {} to {}.", share(1), share(15));
    assert!(text.contains(&expected), "{expected} in {text}");
    let ascii = text::summary(&seeded(), &Style { unicode: false, ..Style::PLAIN });
    assert!(ascii.contains("_..::--==++**##"), "{ascii}");
    assert!(!text::summary(&whole(), &Style::PLAIN).contains("over the course of the run"));
}

#[test]
fn a_whole_run_with_seeds_reads_like_this() {
    insta::assert_snapshot!(text::summary(&seeded(), &Style::PLAIN));
}
