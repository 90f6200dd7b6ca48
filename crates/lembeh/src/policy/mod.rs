//! What a session offers, whether a request that reads is allowed, and in which order refusals are found. Pure: what is
//! open and running is handed in.

pub mod config;
pub mod describe;
pub mod exec;
pub mod file;
pub mod files;
pub mod judge;
pub mod net;

use crate::HubLimits;

/// What a session has. What is none is missing; the default is a hub that leads nowhere.
#[derive(Debug, Clone, Default)]
pub struct LembehPolicy {
    /// Programs.
    pub exec: Option<exec::ExecPolicy>,
    /// Files.
    pub files: Option<files::FilesPolicy>,
    /// Destinations.
    pub net: Option<net::NetPolicy>,
    /// Values.
    pub config: Option<config::ConfigPolicy>,
    /// Capabilities by their kinds that are there and refused. They are not listed.
    pub refused: Vec<String>,
    /// Selectors that are known and disabled.
    pub disabled: Vec<String>,
    /// The hub's bounds.
    pub hub: HubLimits,
}
