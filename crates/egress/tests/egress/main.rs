//! The room from outside: what it decides, what it dials, and how it stands servers that mean ill. Nothing here dials
//! anything but loopback; forbidden addresses are shown to a dialler that only writes down.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dialled;
mod fetch;
mod hostile;
mod judge;
mod raw;
mod redirect;
mod secret;
mod support;
mod tls;
