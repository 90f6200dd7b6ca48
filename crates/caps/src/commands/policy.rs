//! Who may see the list sees all of it: names are no secret between those who hold the power.

use drydock_contract::{CommandName, port::Registry};

/// The names there are.
pub struct Visible(pub(super) Vec<CommandName>);

pub(super) fn visible(registry: &dyn Registry) -> Visible {
    Visible(registry.names())
}
