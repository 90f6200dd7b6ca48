//! The async hub of lembeh guests, what decides about their requests, and the session that runs both (seed 004).
//!
//! [`Hub`] is the whole of ZAX1 as a state machine: the bytes a guest writes and the completions of what it
//! started go in, the bytes it reads and the starts come out. Time is a number that is handed in. [`ctl`] answers
//! `_ctl`, and [`policy`] says in which order requests of exec, files and net are refused. None of these has a
//! clock, a thread, a socket or a process: what begins something stands behind [`Powers`].
//!
//! [`LembehSession`] is what an engine calls: handles, hubs, and what goes on beside the guest, which it reaches through
//! the gate. [`specimen`] records the calls of a guest, and replays them without any of that.

pub mod ctl;
mod hub;
pub mod policy;
mod powers;
mod session;
pub mod specimen;

mod timer;

pub use hub::{Closed, Hub, HubLimits, Read};
pub use policy::LembehPolicy;
pub use powers::{Begun, Failure, Offer, Powers};
pub use session::{LembehParts, LembehSession, StreamLimits};
pub use timer::Timer;
