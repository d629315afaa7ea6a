//! Names the places that call the allocator, and adds up what each pays.

use std::collections::BTreeMap;

use results::CallSite;
use sim::{CallerTotals, Measured, Outcome};
use symbols::Names;

/// Places that are listed; the others are added up.
const LISTED: usize = 10;
/// The place of calls that no call instruction of the stream made.
const UNKNOWN: &str = "unknown";

/// The places of a run's callers.
pub struct CallSites {
    sampled: bool,
    /// By the callers' numbers.
    places: BTreeMap<u32, String>,
    /// Those that pay most under the first configuration.
    listed: Vec<String>,
}

impl CallSites {
    /// Names the callers of a run.
    pub fn of(outcome: &Outcome) -> Self {
        let mut names = Names::default();
        let callers = outcome.facts.callers.iter().map(|caller| {
            let place = names.place(caller.object.as_ref(), caller.addr, &caller.code);
            (caller.number, place.to_string())
        });
        let places = callers.collect();
        let mut sites = Self { sampled: outcome.facts.sampled, places, listed: Vec::new() };
        if let Some(first) = outcome.measured.first() {
            let mut by_cost: Vec<(String, CallerTotals)> =
                sites.totals(first).into_iter().collect();
            by_cost.sort_by(|(one_name, one), (other_name, other)| {
                (other.cycles, one_name).cmp(&(one.cycles, other_name))
            });
            sites.listed = by_cost.into_iter().map(|(place, _)| place).take(LISTED).collect();
        }
        sites
    }

    /// What a machine's calls cost at each listed place, then at all others.
    pub fn under(&self, measured: &Measured) -> Vec<CallSite> {
        let mut totals = self.totals(measured);
        let site =
            |place, CallerTotals { calls, bytes, cycles }| CallSite { place, calls, bytes, cycles };
        let listed = self.listed.iter();
        let mut sites: Vec<CallSite> = listed
            .map(|place| site(Some(place.clone()), totals.remove(place).unwrap_or_default()))
            .collect();
        let others = totals.into_values().fold(CallerTotals::default(), sum);
        if others.calls > 0 {
            sites.push(site(None, others));
        }
        sites
    }

    /// By place.
    fn totals(&self, measured: &Measured) -> BTreeMap<String, CallerTotals> {
        let totals = if self.sampled { &measured.sampled } else { &measured.whole };
        let mut all: BTreeMap<String, CallerTotals> = BTreeMap::new();
        for (number, more) in &totals.callers {
            let place = self.places.get(number).map_or(UNKNOWN, String::as_str);
            let so_far = all.entry(place.to_owned()).or_default();
            *so_far = sum(*so_far, *more);
        }
        all
    }
}

fn sum(one: CallerTotals, other: CallerTotals) -> CallerTotals {
    CallerTotals {
        calls: one.calls + other.calls,
        bytes: one.bytes.saturating_add(other.bytes),
        cycles: one.cycles + other.cycles,
    }
}
