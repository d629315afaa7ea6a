//! The limit study: marked steps take no time at all (paper, section 5; corrections in the model's
//! notes: a pop still prefetches the popped object, as touching it does in software). It is not an
//! upper bound: the rest of a call keeps its cost, and an accelerator that prefetches can beat it.
//! With `all`, whole calls take no time: the core executes nothing from `CALL_BEGIN` to `CALL_END`.

use decode::Reg;
use params::{ConfigError, Param, ParamDoc, params, toml};
use stream::MarkerOp;

use crate::{
    Ablations, Accelerator, Completed, InjectKind, Injected, IssueTo, Marker, Model, Reply, Role,
    Setting,
};

params! {
    /// Which steps cost nothing.
    pub struct LimitParams {
        /// Size-class computation.
        size_class: bool = true, "";
        /// Pop of the free list.
        list: bool = true, "";
        /// Sampling check.
        sampling: bool = true, "";
        /// Whole allocator calls, whatever their steps.
        all: bool = false, "";
    }
}

/// The limit study's registry entry.
pub struct LimitModel;

impl Model for LimitModel {
    fn name(&self) -> &'static str {
        "limit"
    }
    fn describe(&self) -> &'static str {
        "the limit study: the marked steps cost nothing, all or one at a time; or whole calls cost nothing"
    }
    fn role(&self) -> Role {
        Role::Limit
    }
    fn role_with(&self, settings: &toml::Value) -> Role {
        let steps = LimitParams::default();
        match LimitParams::read(settings, "limit") {
            Ok(params) if params.all => Role::Bound,
            Ok(params) if params == steps => Role::Limit,
            _ => Role::Part,
        }
    }
    fn parameters(&self) -> &'static [ParamDoc] {
        LimitParams::declared()
    }
    fn build(&self, settings: &toml::Value) -> Result<Box<dyn Accelerator>, ConfigError> {
        Ok(Box::new(Limit { params: LimitParams::read(settings, "limit")? }))
    }
    fn defaults(&self) -> toml::Value {
        LimitParams::default().write()
    }
    fn disabled(&self) -> toml::Value {
        LimitParams { size_class: false, list: false, sampling: false, all: false }.write()
    }
    fn usual(&self) -> &'static [&'static [Setting]] {
        &[&[]]
    }
    fn ablations(&self) -> Option<Ablations> {
        let parts = &["size_class", "list", "sampling"];
        Some(Ablations { prefix: "limit", settings: &[], parts, refinements: &[] })
    }
}

struct Limit {
    params: LimitParams,
}

impl Accelerator for Limit {
    fn on_marker(&mut self, marker: &Marker, reply: &mut Reply) {
        let params = &self.params;
        match marker.op {
            MarkerOp::CallBegin(_) if params.all => reply.elide = Some(MarkerOp::CallEnd),
            _ if params.all => {}
            MarkerOp::Lookup if params.size_class => reply.elide = Some(MarkerOp::Update),
            MarkerOp::Sample if params.sampling => reply.elide = Some(MarkerOp::SampleEnd),
            MarkerOp::Pop if params.list => reply.elide = Some(MarkerOp::PopEnd),
            MarkerOp::PopEnd if params.list && marker.values[0] != 0 => {
                reply.inject.push(Injected {
                    kind: InjectKind::Prefetch(marker.values[0]),
                    to: IssueTo::Load,
                    srcs: [Reg::NONE; 3],
                    ..Injected::default()
                });
            }
            _ => {}
        }
    }
    fn completed(&mut self, _completed: Completed) {}
    fn context_switch(&mut self) {}
}
