//! The tools of the suite, and what they saw.

use std::sync::Arc;

use drydock_contract::Switch;
use parking_lot::Mutex;
use serde_json::json;

use crate::provider::{Abandoned, Provider, Providers, Tool};

/// What `tools.hang` was called with.
#[derive(Default)]
pub struct Watch {
    /// The signal of each call.
    pub signals: Mutex<Vec<Abandoned>>,
}

/// `tools.add`, `tools.fail`, and `tools.hang`, which trips `on_hang` when it is called.
pub(super) fn providers(on_hang: Option<Arc<Switch>>) -> (Arc<Providers>, Arc<Watch>) {
    let watch = Arc::new(Watch::default());
    let seen = Arc::clone(&watch);
    let number = json!({"type": "number"});
    let add = Tool::new("add", |input, _| async move {
        let part = |name: &str| input[name].as_f64().unwrap_or_default();
        Ok(json!({"sum": part("x") + part("y")}))
    })
    .input(json!({"type": "object", "properties": {"x": number, "y": number}, "required": ["x", "y"]}));
    let fail = Tool::new("fail", |_, _| async { Err("tool exploded".into()) });
    let hang = Tool::new("hang", move |_, context| {
        seen.signals.lock().push(context.signal);
        if let Some(switch) = &on_hang {
            switch.trip();
        }
        std::future::pending()
    });
    let provider = Provider::new("tools", vec![add, fail, hang]).expect("the suite's tools are well formed");
    (Arc::new(Providers::new([provider]).expect("there is one provider")), watch)
}
