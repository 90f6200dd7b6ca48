//! Every backing keeps every promise a tree of files makes.

#![allow(clippy::unwrap_used)]

use std::{cell::Cell, path::Path, sync::Arc};

use drydock_contract::{Meter, Tenant, port::Files};
use drydock_store::{Access, Home, HostDir, Links, MemoryFiles, Mounts, Overlay, Quota, Volume, Workspaces};
use drydock_testkit::files_contract::{files_contract, files_contract_but_for_changed};

/// A new, empty workspace's volume each time.
fn sqlite(home: &Home, volume: Volume) -> impl Fn() -> Arc<dyn Files> {
    let (all, count) = (Workspaces::of(&home.tenant(&Tenant::default()), Quota::default()), Cell::new(0));
    move || {
        count.set(count.get() + 1);
        let name = format!("w{}", count.get()).parse().unwrap();
        Arc::new(all.create(&name).unwrap().files(volume).clone())
    }
}

/// A new, empty host directory each time.
fn host(parent: &Path) -> impl Fn() -> Arc<dyn Files> {
    let count = Cell::new(0);
    move || {
        count.set(count.get() + 1);
        let dir = parent.join(count.get().to_string());
        std::fs::create_dir(&dir).unwrap();
        // The suite makes links of all kinds; which of them a guest may make is tried in `links.rs`.
        Arc::new(HostDir::open(&dir, Access::ReadWrite).unwrap().with_links(Links::Any))
    }
}

fn memory() -> Arc<dyn Files> {
    Arc::new(MemoryFiles::with(Arc::new(Meter::new(1 << 20))))
}

#[test]
fn memory_files_keep_the_contract() {
    files_contract(memory);
}

#[test]
fn every_volume_of_a_workspace_keeps_the_contract() {
    for volume in Volume::ALL {
        let temp = tempfile::tempdir().unwrap();
        files_contract(sqlite(&Home::open(temp.path()).unwrap(), volume));
    }
}

#[test]
fn a_host_directory_keeps_the_contract() {
    let temp = tempfile::tempdir().unwrap();
    files_contract_but_for_changed(host(temp.path()));
}

#[test]
fn an_overlay_keeps_the_contract() {
    files_contract(|| Arc::new(Overlay::new(memory(), memory())));
    let temp = tempfile::tempdir().unwrap();
    let (lower, upper) = (host(temp.path()), tempfile::tempdir().unwrap());
    let home = Home::open(upper.path()).unwrap();
    let upper = sqlite(&home, Volume::Workspace);
    files_contract(|| Arc::new(Overlay::new(lower(), upper())));
}

#[test]
fn an_overlay_over_a_workspace_keeps_the_contract() {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    let lower = sqlite(&home, Volume::Workspace);
    files_contract(|| Arc::new(Overlay::new(lower(), memory())));
}

#[test]
fn an_overlay_over_a_host_directory_keeps_the_contract() {
    let temp = tempfile::tempdir().unwrap();
    let lower = host(temp.path());
    files_contract(|| Arc::new(Overlay::new(lower(), memory())));
}

#[test]
fn an_overlay_over_an_overlay_keeps_the_contract() {
    files_contract(|| Arc::new(Overlay::new(Arc::new(Overlay::new(memory(), memory())), memory())));
}

#[test]
fn a_directory_mounted_in_a_workspace_keeps_the_contract() {
    let temp = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let home = Home::open(temp.path().join("home")).unwrap();
    let all = Workspaces::of(&home.tenant(&Tenant::default()), Quota::default());
    files_contract(|| {
        count.set(count.get() + 1);
        let dir = temp.path().join(format!("host{}", count.get()));
        std::fs::create_dir(&dir).unwrap();
        let host = HostDir::open(&dir, Access::ReadWrite).unwrap();
        let workspace = all.create(&format!("w{}", count.get()).parse().unwrap()).unwrap();
        Arc::new(workspace.mount(&"data/in".parse().unwrap(), Arc::new(host)).unwrap().files())
    });
}

#[test]
fn mounts_keep_the_contract() {
    files_contract(|| Arc::new(Mounts::over(memory())));
}
