//! The guests there are, and what is particular about building each.

/// A module to be built.
pub struct Guest {
    /// The module's name, and the program's.
    pub name: &'static str,
    /// The package in `guests/`.
    pub package: &'static str,
    pub start: Start,
    /// The crates it is made of, for the lock file.
    pub crates: &'static [&'static str],
    /// The part of `wbox/src/parts.rs` it holds.
    pub part: Option<&'static str>,
    /// Further names it answers to, by the name it is called with.
    pub also: &'static [&'static str],
    pub kind: Kind,
}

/// Who runs it.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Kind {
    /// Anybody, by its name.
    Command,
    /// A front end, which hands it a program; it is no command and has no name among them.
    Runtime,
}

impl Kind {
    /// As the lock file spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Runtime => "runtime",
        }
    }
}

/// What happens before the guest's own code.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Start {
    /// Nothing: its `_start` is its own, and no libc is linked.
    Bare,
    /// The usual start-up of a WASI program.
    Usual,
    /// The same, in a memory where the guest's initialisation has already run.
    Warm,
}

const UUTILS: &[&str] = &["uucore", "clap"];

const fn wbox(name: &'static str, part: &'static str) -> Guest {
    Guest {
        name,
        package: "wbox",
        start: Start::Usual,
        crates: UUTILS,
        part: Some(part),
        also: &[],
        kind: Kind::Command,
    }
}

/// All guests, in the order they are built.
pub const GUESTS: &[Guest] = &[
    Guest {
        name: "upper",
        package: "upper",
        start: Start::Bare,
        crates: &[],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "jq",
        package: "jq",
        start: Start::Usual,
        crates: &["libm"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "grep",
        package: "grep",
        start: Start::Usual,
        crates: &["fancy-regex", "grep-regex", "grep-matcher", "globset", "regex-automata"],
        part: None,
        also: &["egrep", "fgrep"],
        kind: Kind::Command,
    },
    Guest {
        name: "js",
        package: "js",
        start: Start::Warm,
        crates: &["rquickjs-sys"],
        part: None,
        also: &[],
        kind: Kind::Runtime,
    },
    Guest {
        name: "shell",
        package: "shell",
        start: Start::Warm,
        crates: &["jiff", "postcard", "regex-automata"],
        part: None,
        also: &[],
        kind: Kind::Runtime,
    },
    Guest {
        name: "ts",
        package: "ts",
        start: Start::Usual,
        crates: &["oxc_parser", "oxc_ast_visit"],
        part: None,
        also: &[],
        kind: Kind::Runtime,
    },
    Guest {
        name: "sed",
        package: "sed",
        start: Start::Usual,
        crates: &["regex-automata", "memchr"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "awk",
        package: "awk",
        start: Start::Usual,
        crates: &["regex-automata", "memchr"],
        part: None,
        also: &["gawk", "mawk", "nawk"],
        kind: Kind::Command,
    },
    Guest {
        name: "rg",
        package: "rg",
        start: Start::Usual,
        crates: &["grep-printer", "grep-regex", "grep-searcher", "ignore"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "find",
        package: "run",
        start: Start::Usual,
        crates: &["regex-lite"],
        part: None,
        also: &["xargs", "env", "timeout", "time", "nice", "nohup", "setsid", "stdbuf", "envsubst", "watch"],
        kind: Kind::Command,
    },
    Guest {
        name: "gcc",
        package: "gcc",
        start: Start::Usual,
        crates: &[],
        part: None,
        also: &["c++", "c89", "c99", "cc", "clang", "clang++", "cpp", "g++"],
        kind: Kind::Command,
    },
    Guest {
        name: "curl",
        package: "curl",
        start: Start::Usual,
        crates: &["base64", "serde_json"],
        part: None,
        also: &["http", "https", "wget"],
        kind: Kind::Command,
    },
    Guest {
        name: "kv",
        package: "broker",
        start: Start::Usual,
        crates: &["base64", "serde_json"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "queue",
        package: "broker",
        start: Start::Usual,
        crates: &["base64", "serde_json"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "tcp-send",
        package: "broker",
        start: Start::Usual,
        crates: &["base64", "serde_json"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "npm-fetch",
        package: "fetch",
        start: Start::Usual,
        crates: &["flate2", "serde_json", "sha2"],
        part: None,
        also: &["pip-fetch"],
        kind: Kind::Command,
    },
    Guest {
        name: "pip-run",
        package: "fetch",
        start: Start::Usual,
        crates: &["flate2", "serde_json", "sha2"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "diff",
        package: "diff",
        start: Start::Usual,
        crates: &[],
        part: None,
        also: &["cmp", "patch"],
        kind: Kind::Command,
    },
    Guest {
        name: "stat",
        package: "inspect",
        start: Start::Usual,
        crates: &[],
        part: None,
        also: &["column", "du", "file", "hd", "hexdump", "strings", "tree", "xxd"],
        kind: Kind::Command,
    },
    Guest {
        name: "bc",
        package: "bc",
        start: Start::Usual,
        crates: &["num-bigint"],
        part: None,
        also: &["dc"],
        kind: Kind::Command,
    },
    Guest {
        name: "xan",
        package: "xan",
        start: Start::Usual,
        crates: &["csv", "regex-lite"],
        part: None,
        also: &["qsv"],
        kind: Kind::Command,
    },
    Guest {
        name: "tar",
        package: "archive",
        start: Start::Usual,
        crates: &["flate2", "bzip2", "lzma-rust2"],
        part: None,
        also: &["gzip", "gunzip", "zcat", "bzip2", "bunzip2", "bzcat", "xz", "unxz", "xzcat"],
        kind: Kind::Command,
    },
    Guest {
        name: "zip",
        package: "archive",
        start: Start::Usual,
        crates: &["flate2"],
        part: None,
        also: &["unzip"],
        kind: Kind::Command,
    },
    Guest {
        name: "yq",
        package: "yq",
        start: Start::Usual,
        crates: &["libm", "saphyr-parser", "toml_edit", "quick-xml"],
        part: None,
        also: &["tomlq", "xq"],
        kind: Kind::Command,
    },
    Guest {
        name: "git",
        package: "git",
        start: Start::Usual,
        crates: &["gix-object", "gix-pack", "gix-glob", "gix-validate", "imara-diff"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "make",
        package: "make",
        start: Start::Usual,
        crates: &[],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "xmllint",
        package: "xml",
        start: Start::Usual,
        crates: &["quick-xml"],
        part: None,
        also: &[],
        kind: Kind::Command,
    },
    Guest {
        name: "html-to-markdown",
        package: "html",
        start: Start::Usual,
        crates: &["htmd", "html5ever", "encoding_rs"],
        part: None,
        also: &["html-to-json"],
        kind: Kind::Command,
    },
    Guest {
        name: "jo",
        package: "jo",
        start: Start::Usual,
        crates: &[],
        part: None,
        also: &["uuidgen"],
        kind: Kind::Command,
    },
    wbox("wbox", "core"),
    wbox("wbox-text", "text"),
    wbox("wbox-numbers", "numbers"),
    wbox("wbox-regex", "regex"),
    wbox("wbox-files", "files"),
    wbox("wbox-data", "data"),
    wbox("wbox-time", "time"),
];
