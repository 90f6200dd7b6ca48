//! Names that a toolkit may not claim for a command: who calls them means somebody else. The name is data of whoever wrote the
//! toolkit, so it is judged before anything of it is compiled (seed 003).
//!
//! Three sources make the list: the shell's own words, the seed's built-ins, and the sub-commands of `drydock` with the tools
//! of an agent. The built-in commands, which a registry knows, are asked for there besides (`CommandRegistry::may_register`).

use drydock_abi::shell::OWN_NAMES;

/// The seed's built-ins, which win wherever they are looked up.
const SEED: &[&str] = &["grep", "jq", "upper", "wbox"];

/// What `drydock NAME` means, and the tools of an agent. Sorted; a test of the binary compares it with its sub-commands.
pub const OWN: &[&str] = &[
    "agent",
    "audit",
    "build",
    "build-inline",
    "catalog",
    "commands",
    "compile-worker",
    "completions",
    "config",
    "doctor",
    "done",
    "drydock",
    "edit_file",
    "egress",
    "explain",
    "ext",
    "fetch",
    "file_issue",
    "git",
    "grants",
    "help",
    "image",
    "js",
    "kernel",
    "kill",
    "kv",
    "lembeh",
    "logs",
    "man",
    "mcp",
    "models",
    "precompile",
    "profiles",
    "ps",
    "publish",
    "py",
    "queue",
    "review",
    "revoke",
    "run",
    "run_code",
    "search",
    "secret",
    "serve",
    "serve-guest",
    "sh",
    "shell",
    "stdio",
    "tape",
    "tenants",
    "token",
    "toolkit",
    "unrevoke",
    "vfs_read",
    "vfs_write",
    "warm",
    "wb",
    "web_search",
    "ws",
];

/// Whether no toolkit may have a command of that name. Without regard to case: `JQ` is read as `jq`.
pub fn is_reserved(name: &str) -> bool {
    [SEED, OWN, OWN_NAMES].iter().flat_map(|it| it.iter()).any(|it| it.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_shell_the_seed_and_the_binary_are_reserved_in_any_case() {
        for name in ["jq", "JQ", "grep", "cd", "drydock", "serve", "if", "web_search", "wbox"] {
            assert!(is_reserved(name), "{name}");
        }
        assert!(!is_reserved("papers") && !is_reserved("jqx"));
        assert!(OWN.is_sorted());
        for tool in crate::tools::CATALOGUE {
            assert!(is_reserved(tool.name), "{}", tool.name);
        }
    }
}
