//! The sentences the applets print, made by `build.rs`: one static table for each applet.
//!
//! An applet names its own table, so a part carries only the sentences it can print.

include!(concat!(env!("OUT_DIR"), "/messages.rs"));

/// Makes the applet's sentences, and those all applets share, the ones that are looked up.
pub fn install(applet: fluent::Catalogue) {
    fluent::install(vec![applet, UUCORE, ERRORS, CHECKSUM_COMMON]);
}
