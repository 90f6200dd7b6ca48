# A handful of words; the logic is in `cargo xtask`. `just` is a convenience, never needed.

# List the words.
default:
    @just --list

# Formatting, lints, and the rules of the house, for the main workspace.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    cargo xtask tidy

# All tests, or those whose name contains the filter.
test *filter:
    cargo test --workspace {{filter}}

# Accept changed snapshots: look at the diff before you commit it.
snap:
    INSTA_UPDATE=always INSTA_FORCE_PASS=1 cargo test --workspace
    git diff --stat

# Fuzz every target, or one: `just fuzz --seconds 300 exec_wire`.
fuzz *args:
    cargo xtask fuzz {{args}}

# Contenders interleaved in one run; figures go to docs/benchmarks.md.
bench *args:
    cargo xtask bench {{args}}

# Write docs/reference anew from what the code says.
docs:
    DRYDOCK_WRITE_DOCS=1 cargo test --package drydock-embed reference
    cargo doc --workspace --no-deps

# Rebuild the wasm commands (`just guests --check`: compare with the committed ones).
guests *args:
    cargo xtask guests {{args}}

# Licences, bans and sources of every dependency. Needs cargo-deny.
deny:
    cargo deny check
    cargo deny --manifest-path guests/Cargo.toml check --config deny.toml

# Third-party notices anew, after a change of a lock file.
notices:
    cargo xtask notices

# What the CI runs: tests, then lints of every workspace, guests' tests, notices, modules.
ci:
    .ci/run
