//! Who may use whom. The table of ARCHITECTURE.md, for the machine.
//!
//! Rooms are named as their folder is; the package of room `gate` is `drydock-gate`, and only the
//! binary is plainly `drydock`. Only normal dependencies count: tests may use what they like, but for what runs as a
//! guest only.

/// One room.
pub(super) struct Room {
    pub(super) name: &'static str,
    /// The rooms it may name in its manifest.
    pub(super) may_use: &'static [&'static str],
    /// Foreign crates that must not be reachable from it, however deep.
    pub(super) never: &'static [&'static str],
}

const RUNTIMES: &[&str] = &["tokio", "async-std", "smol", "wasmtime"];
const WASM: &[&str] = &["wasmtime"];
const NO_RULE: &[&str] = &[];

/// Every room there is, from the bottom up.
pub(super) const ROOMS: &[Room] = &[
    Room { name: "contract", may_use: &[], never: RUNTIMES },
    Room { name: "gate", may_use: &["contract"], never: RUNTIMES },
    Room { name: "abi", may_use: &["contract"], never: RUNTIMES },
    Room { name: "egress", may_use: &["contract"], never: WASM },
    Room { name: "store", may_use: &["contract"], never: WASM },
    Room { name: "engine", may_use: &["contract", "abi", "store"], never: NO_RULE },
    Room { name: "caps", may_use: &["contract", "gate", "abi", "egress"], never: WASM },
    Room { name: "shell", may_use: &["contract", "abi"], never: RUNTIMES },
    Room { name: "commands", may_use: &[], never: RUNTIMES },
    Room { name: "codemode", may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "extension", may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "lembeh", may_use: &["contract", "gate", "abi"], never: WASM },
    Room { name: "agent", may_use: &["contract", "gate", "abi"], never: RUNTIMES },
    Room {
        name: "embed",

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
    Room { name: "catalog", may_use: &["contract", "embed"], never: NO_RULE },
    Room { name: "mcp", may_use: &["contract", "embed"], never: NO_RULE },
    Room { name: "serve", may_use: &["contract", "embed", "mcp"], never: NO_RULE },
    Room { name: "drydock", may_use: &["contract", "catalog", "embed", "mcp", "serve"], never: NO_RULE },
    Room { name: "testkit", may_use: &["contract", "gate", "abi"], never: NO_RULE },
    Room { name: "xtask", may_use: &[], never: RUNTIMES },
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
    ("rustls", &["egress", "serve", "testkit"]),
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
pub(crate) const HANDLESS: &[&str] = &[
    "contract",
    "gate",
    "abi",
    "caps",
    "shell",
    "commands",
    "codemode",
    "extension",
    "lembeh",
    "agent",
    "engine",
];
