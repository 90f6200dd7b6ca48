//! Who may use whom. The table of ARCHITECTURE.md, for the machine.
//!
//! Rooms are named as their folder is; the package of room `gate` is `drydock-gate`, and only the
//! binary is plainly `drydock`. Only normal dependencies count: tests may use what they like, but for what runs as a
//! guest only.

/// Whether the room is built already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Built,
    Planned,
}

use State::{Built, Planned};

/// One room.
pub(super) struct Room {
    pub(super) name: &'static str,
    pub(super) state: State,
    /// The rooms it may name in its manifest.
    pub(super) may_use: &'static [&'static str],
    /// Foreign crates that must not be reachable from it, however deep.
    pub(super) never: &'static [&'static str],
}

const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "wasmtime"];
const WASM: &[&str] = &["wasmtime"];
const NO_RULE: &[&str] = &[];

/// Every room there is or will be, from the bottom up.
pub(super) const ROOMS: &[Room] = &[
    Room { name: "contract", state: Built, may_use: &[], never: RUNTIMES },
    Room { name: "gate", state: Built, may_use: &["contract"], never: RUNTIMES },
    Room { name: "abi", state: Built, may_use: &["contract"], never: RUNTIMES },
    Room { name: "egress", state: Built, may_use: &["contract"], never: WASM },
    Room { name: "store", state: Built, may_use: &["contract"], never: WASM },
    Room { name: "engine", state: Built, may_use: &["contract", "abi", "store"], never: NO_RULE },
    Room { name: "caps", state: Built, may_use: &["contract", "gate", "abi", "egress"], never: WASM },
    Room { name: "shell", state: Built, may_use: &["contract", "abi"], never: RUNTIMES },
    Room { name: "commands", state: Built, may_use: &[], never: RUNTIMES },
    Room { name: "codemode", state: Built, may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "extension", state: Built, may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "lembeh", state: Built, may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "agent", state: Planned, may_use: &["contract", "gate"], never: WASM },
    Room {
        name: "embed",
        state: Built,
        may_use: &[
            "contract",
            "gate",
            "abi",
            "egress",
            "store",
            "engine",
            "caps",
            "commands",
            "codemode",
            "extension",
            "lembeh",
            "agent",
        ],
        never: NO_RULE,
    },
    Room { name: "catalog", state: Built, may_use: &["contract", "embed"], never: NO_RULE },
    Room { name: "mcp", state: Built, may_use: &["contract", "embed"], never: NO_RULE },
    Room { name: "serve", state: Built, may_use: &["contract", "embed"], never: NO_RULE },
    Room {
        name: "drydock",
        state: Built,
        may_use: &["contract", "catalog", "embed", "mcp", "serve"],
        never: NO_RULE,
    },
    Room { name: "testkit", state: Built, may_use: &["contract", "gate", "abi"], never: NO_RULE },
    Room { name: "xtask", state: Built, may_use: &[], never: RUNTIMES },
];

/// Crates that only these rooms may name in their manifests.
pub(super) const OWNED: &[(&str, &[&str])] = &[
    ("wasmtime", &["engine"]),
    ("wasmparser", &["engine"]),
    ("rusqlite", &["store"]),
    ("blake3", &["store", "engine", "gate", "embed"]),
    ("tokio", &["egress", "engine", "embed", "catalog", "mcp", "serve", "drydock", "testkit"]),
    ("axum", &["serve"]),
    ("rmcp", &["mcp"]),
    ("hyper", &["egress", "serve", "drydock"]),
    ("hyper-util", &["egress", "serve"]),
    ("http-body-util", &["egress", "serve"]),
    ("rustls", &["egress", "serve"]),
    ("rustls-native-certs", &["egress"]),
    ("tokio-rustls", &["egress", "serve"]),
    ("url", &["egress"]),
    // What tells spans, over egress.
    ("opentelemetry", &["serve"]),
    ("opentelemetry-http", &["serve"]),
    ("opentelemetry-otlp", &["serve"]),
    ("opentelemetry_sdk", &["serve"]),
    ("tracing-opentelemetry", &["serve"]),
    ("tracing-subscriber", &["serve", "drydock"]),
    // Clients that resolve and dial by themselves, past the judge.
    ("reqwest", &[]),
    ("ureq", &[]),
    ("clap", &["drydock"]),
    ("clap_complete", &["drydock"]),
    ("etcetera", &["drydock"]),
    ("anyhow", &["drydock", "xtask"]),
    ("drydock-testkit", &[]),
];

/// Crates that are built for guests. A room that names one, be it for its tests, has that code on the host again, where
/// what an agent writes would be read outside of any sandbox. Whoever needs it runs the guest; what may name it is not in
/// this workspace: `guests/` and `fuzz/`.
pub(super) const GUEST_ONLY: &[&str] = &["drydock-shell"];

/// Rooms that may not reach files, sockets, the environment or other processes by themselves.
pub(crate) const HANDLESS: &[&str] =
    &["contract", "gate", "abi", "caps", "shell", "commands", "codemode", "extension", "lembeh", "engine"];
