//! The tree in memory keeps every promise a tree of files makes.

use std::sync::Arc;

use drydock_contract::Meter;
use drydock_store::MemoryFiles;
use drydock_testkit::files_contract::files_contract;

#[test]
fn memory_files_keep_the_contract() {
    files_contract(|| Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20)))));
}
