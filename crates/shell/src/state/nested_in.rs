//! What a shell that a command started has of that command.

use std::sync::Arc;

use crate::door::Commands;

/// Where commands are started, if not at the line's own door.
pub(crate) type NestedIn = Arc<dyn Commands>;
