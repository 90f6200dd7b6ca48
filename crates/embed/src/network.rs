//! What a session may reach out there, as whoever opens it says it: rules about hosts, and headers with secrets.
//!
//! Data for the gate: rules become grants, and secrets are held where only the power `net` finds them. The default is
//! nothing.

use std::{any::Any, fmt, sync::Arc};

use drydock_caps::net::{Credentials, grants_of};
use drydock_egress::{InjectedHeader, Rules};
use drydock_gate::Grant;

/// Hosts that a session may reach, and what is sent along to them.
#[derive(Clone, Default)]
pub struct Network {
    /// Hosts, parts of hosts, and addresses that are opened though they are not public.
    pub rules: Rules,
    /// Headers with secrets, each for one host and port.
    pub injected: Vec<InjectedHeader>,
}

impl Network {
    /// The rules as grants, each for what one of them opens.
    pub fn grants(&self) -> Vec<Arc<Grant>> {
        grants_of(&self.rules)
    }

    pub(crate) fn credentials(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        (!self.injected.is_empty()).then(|| Arc::new(Credentials::new(self.injected.clone())) as _)
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").field("rules", &self.rules).field("injected", &self.injected).finish()
    }
}
