//! The groups of figures, and what they share.

mod cold;
mod concurrent;
mod egress;
mod hub;
mod interruption;
mod js;
mod kept;
mod lembeh;
mod mcp;
pub(crate) mod memory;
mod neighbour;
mod power;
mod process;
mod programs;
pub(crate) mod serve;
mod serve_peers;
mod serve_wasmtime;
pub(crate) mod shell;
mod socket;
mod sort;
pub(crate) mod tape;
mod tiny;
mod workspace;

use std::path::PathBuf;

use crate::{built, figure::Figure, harness::Plan};

/// Some figures that are measured together.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) measure: fn(&Bench) -> anyhow::Result<Vec<Figure>>,
    /// Programs it needs besides this one.
    needs: &'static [Program],
}

#[derive(PartialEq, Eq)]
enum Program {
    Drydock,
    Peer,
    QuickJs,
}

/// Every group, in the order of the table.
pub(crate) const GROUPS: &[Group] = &[
    Group {
        name: "tiny",
        about: "a warm tiny command: against `tr`, bashkit and bare wasmtime",
        measure: tiny::measure,
        needs: &[Program::Peer],
    },
    Group {
        name: "concurrent",
        about: "64 callers at once, against spawning `tr`; of 16 tenants, against one",
        measure: concurrent::measure,
        needs: &[],
    },
    Group {
        name: "power",
        about: "a power that does nothing, called by a guest, against a bare host call",
        measure: power::measure,
        needs: &[],
    },
    Group {
        name: "neighbour",
        about: "a tiny command beside four heavy guests, against a bare task that yields",
        measure: neighbour::measure,
        needs: &[],
    },
    Group {
        name: "shell",
        about: "lines of a reused shell: against bash with native tools, bashkit and just-bash",
        measure: shell::measure,
        needs: &[Program::Peer],
    },
    Group {
        name: "tape",
        about: "a pipeline that is recorded and replayed, against the same one that is neither",
        measure: tape::measure,
        needs: &[Program::Drydock],
    },
    Group {
        name: "sort",
        about: "`sort -k3` of 300,000 lines, against the native one",
        measure: sort::measure,
        needs: &[],
    },
    Group {
        name: "workspace",
        about: "files of a workspace, against bare SQLite",
        measure: workspace::measure,
        needs: &[],
    },
    Group {
        name: "kept",
        about: "values by key and messages, against bare SQLite",
        measure: kept::measure,
        needs: &[],
    },
    Group {
        name: "js",
        about: "a program in a fresh JavaScript guest: against native QuickJS and quickjs-emscripten",
        measure: js::measure,
        needs: &[Program::QuickJs],
    },
    Group {
        name: "hub",
        about: "frames through the async hub of lembeh guests",
        measure: hub::measure,
        needs: &[],
    },
    Group {
        name: "lembeh",
        about: "a tiny program through cap.exec, from start to exit, against a library run",
        measure: lembeh::measure,
        needs: &[],
    },
    Group {
        name: "mcp",
        about: "a tool call of `drydock mcp`, against the same line through the library",
        measure: mcp::measure,
        needs: &[Program::Drydock],
    },
    Group {
        name: "serve",
        about: "a handler over HTTP, against the same server answering natively, node and `wasmtime serve`, and beside one that loops",
        measure: serve::measure,
        needs: &[],
    },
    Group {
        name: "egress",
        about: "a request through egress, against a bare call of hyper",
        measure: egress::measure,
        needs: &[],
    },
    Group {
        name: "socket",
        about: "messages over a connection of the power `tcp`, against a direct socket",
        measure: socket::measure,
        needs: &[],
    },
    Group {
        name: "process",
        about: "`drydock run upper` as a process, against /bin/true",
        measure: process::measure,
        needs: &[Program::Drydock],
    },
    Group {
        name: "cold",
        about: "first use of each built-in module with an empty cache",
        measure: cold::measure,
        needs: &[Program::Drydock],
    },
    Group {
        name: "programs",
        about: "Python and clang from the catalog, against native ones",
        measure: programs::measure,
        needs: &[Program::Drydock],
    },
    Group {
        name: "memory",
        about: "resident memory after many runs, against after few",
        measure: memory::measure,
        needs: &[],
    },
    Group {
        name: "interruption",
        about: "a tight loop with epochs, fuel or both, against neither",
        measure: interruption::measure,
        needs: &[],
    },
];

/// What a group is measured with.
pub(crate) struct Bench {
    pub(crate) quick: bool,
    pub(crate) plan: Plan,
    pub(crate) root: PathBuf,
    drydock: Option<PathBuf>,
    peer: Option<PathBuf>,
    quickjs: Option<PathBuf>,
}

impl Bench {
    /// Builds what the groups need, before anything is measured.
    pub(crate) fn prepare(quick: bool, groups: &[&Group]) -> anyhow::Result<Self> {
        let root = built::root();
        let needs = |program: Program| groups.iter().any(|group| group.needs.contains(&program));
        let ours = root.join("bench/Cargo.toml");
        let peer = |package: &str| built::program(&ours, package);
        let drydock =
            needs(Program::Drydock).then(|| built::drydock(&root.join("Cargo.toml"))).transpose()?;
        let quickjs = needs(Program::QuickJs).then(|| peer("drydock-bench-quickjs")).transpose()?;
        let peer = needs(Program::Peer).then(|| peer("drydock-bench-peer")).transpose()?;
        let plan = Plan { blocks: if quick { 8 } else { 40 }, calls: 20 };
        Ok(Self { quick, plan, root, drydock, peer, quickjs })
    }

    fn drydock(&self) -> anyhow::Result<&PathBuf> {
        self.drydock.as_ref().ok_or_else(|| anyhow::anyhow!("`drydock` was not built"))
    }

    fn peer(&self) -> anyhow::Result<&PathBuf> {
        self.peer.as_ref().ok_or_else(|| anyhow::anyhow!("the peer was not built"))
    }

    fn quickjs(&self) -> anyhow::Result<&PathBuf> {
        self.quickjs.as_ref().ok_or_else(|| anyhow::anyhow!("native QuickJS was not built"))
    }
}
