//! drydock
