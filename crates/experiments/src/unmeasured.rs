//! Why a run measured no allocator call.

use results::Run;
use results::text::number::count;
use sim::{Plan, StreamFacts};

/// Why nothing was measured at all, as far as the plan says it.
pub fn by_plan(plan: &Plan, facts: &StreamFacts, samples: usize) -> Option<String> {
    if plan.max == Some(0) {
        return Some("--max 0 leaves nothing to measure".into());
    }
    if facts.sampled && samples == 0 {
        return Some(format!(
            "no sample was completed in {} instructions (one ends every {}); use a shorter period \
             (--sample) or --no-sample",
            count(facts.population),
            count(plan.sample.period)
        ));
    }
    if plan.roi_only && facts.regions == 0 {
        return Some(
            "--roi was given, and the program has no region of interest; mark one with \
             MALLACC_ROI_BEGIN() or leave --roi out"
                .into(),
        );
    }
    (facts.population == 0 && plan.skip > 0 && facts.instructions <= plan.skip).then(|| {
        format!(
            "--skip {} leaves none of the {} instructions to measure; skip fewer",
            plan.skip,
            count(facts.instructions)
        )
    })
}

/// Says why a run without allocator calls has none, where that is known: `own_allocator` is why
/// the program's allocator could not be replaced.
pub fn explain(run: &mut Run, own_allocator: Option<&str>) {
    if run.main_kind().is_some() {
        run.unmeasured = None;
    } else if run.unmeasured.is_none() {
        run.unmeasured = match own_allocator {
            Some(clause) => Some(clause.to_owned()),
            None if !run.complete => {
                Some("the instruction stream ended before the first allocator call".into())
            }
            None => None,
        };
    }
}
