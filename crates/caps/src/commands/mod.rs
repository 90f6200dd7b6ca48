//! `commands`: sees which commands there are. Seeing is not starting: that is `exec`.

mod policy;
mod request;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use drydock_contract::{
    CallError, Cap, Denial, Reply, Streams,
    port::{Registry, Subjects},
};
use drydock_gate::{
    Audited, CapSpec, Capability, Class, Import, NotAdmitted, Operation, Permit, Refused, Session,
};

pub use request::List;

/// The operation that lists commands.
pub const LIST: &str = "commands.list";

/// The power to see the command surface.
pub struct Commands {
    registry: Arc<dyn Registry>,
}

impl Commands {
    /// Names come from `registry`.
    pub fn new(registry: Arc<dyn Registry>) -> Self {
        Self { registry }
    }
}

impl Capability for Commands {
    const SPEC: CapSpec = CapSpec {
        cap: Cap::Commands,
        operations: &[Operation {
            name: LIST,
            class: Class::Look,
            request_bytes_max: 0,
            in_flight_max: None,
            audited: Audited::Denials,
            summary: "The names of the commands the session knows of, sorted, one a line.",
        }],
        imports: &[Import {
            module: "env",
            name: "host_commands",
            signature: "(out: i32, out_cap: i32) -> i32",
        }],
    };

    type Request = List;
    type Ready = policy::Visible;
    type Policy = Arc<dyn Registry>;

    fn policy(&self) -> &Self::Policy {
        &self.registry
    }

    fn decode(_: &str, payload: &[u8]) -> Result<List, Denial> {
        request::decode(payload)
    }

    fn subject(_: &List) -> &str {
        "list"
    }

    fn not_admitted(_: &List, _: NotAdmitted) -> Denial {
        Denial::NotGranted {
            cap: Cap::Commands,
            subjects: Subjects::cut("list"),
            why: ": the grant is for other subjects",
        }
    }

    fn check(registry: &Arc<dyn Registry>, session: &Session, _: List) -> Result<policy::Visible, Refused> {
        Ok(policy::visible(session.spec().registry.as_deref().unwrap_or(&**registry)))
    }

    fn label(_: &policy::Visible) -> Arc<str> {
        "list".into()
    }

    async fn perform(
        &self,
        _: Permit<'_, Self>,
        visible: policy::Visible,
        streams: Streams,
    ) -> Result<Reply, CallError> {
        let payload = visible.0.iter().map(|name| name.as_str()).collect::<Vec<_>>().join("\n").into_bytes();
        Ok(Reply::of_bytes(payload, streams))
    }
}
