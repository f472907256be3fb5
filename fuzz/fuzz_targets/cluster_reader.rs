//! The reader of cluster models: what it accepts comes back from its own text, and can be planned for.

#![no_main]

use corecast_plan::Operation;
use corecast_plan::cluster::{self, ClusterRequest, Near, NearCosts};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(model) = cluster::parse(text) {
        let rendered = cluster::render(&model).expect("what is read can be written");
        assert_eq!(cluster::parse(rendered).expect("what is written can be read"), model);
        let near: NearCosts = model.machines.keys().map(|kind| (kind.clone(), Near::alone())).collect();
        let plan = ClusterRequest::new(Operation::Reduce).plan(&model, &near).expect("8 bytes need nothing more");
        assert_eq!(plan.nodes, model.len());
    }
});
