//! Policy said no. A closed list with stable codes: guests, logs and tests match on them.

use std::sync::Arc;

use crate::{ArgumentRule, Cap, GrantSpec, Must, SUBJECT_BYTES_MAX, Scalar, host, port::Subjects};

/// Why a call was refused, and what would have allowed it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Denial {
    /// The principal lost every power.
    #[error("principal is revoked")]
    Revoked,
    /// The session was cancelled: it performs nothing more.
    #[error("the session was cancelled")]
    Cancelled,
    /// Too many calls in the current minute, or too many principals to count.
    #[error("rate limit of {calls_max} calls in {window_s} s reached; try again later")]
    RateLimited {
        /// Calls allowed in a window.
        calls_max: u32,
        /// Length of the window.
        window_s: u32,
    },
    /// No live grant covers the power. The default.
    #[error("capability `{cap}` is not granted{why}")]
    NotGranted {
        /// The power that was asked for.
        cap: Cap,
        /// What it was asked for, as far as that could be read; else an empty name.
        subjects: Subjects,
        /// Empty, or why a grant that was there does not count.
        why: &'static str,
    },
    /// A command started a command that started a command, too many times.
    #[error("nesting depth {depth} exceeds {max}")]
    MaxDepth {
        /// The depth of this call.
        depth: u32,
        /// The deepest allowed.
        max: u32,
    },
    /// The request is larger than the operation allows.
    #[error("{what} of {bytes} bytes exceeds the limit of {max}")]
    TooLarge {
        /// Which part of it.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The limit.
        max: u64,
    },
    /// The bytes do not parse.
    #[error("malformed request: {0}")]
    Malformed(String),
    /// Nothing answers to this operation.
    #[error("unknown operation `{}`", shown(.0))]
    UnknownOperation(String),
    /// The grant names other commands.
    #[error("command `{}` is not in the granted list{why}", shown(command))]
    CommandNotGranted {
        /// Its name, or its path.
        command: Arc<str>,
        /// Empty, or which part of a grant that names it stands in the way.
        why: &'static str,
        /// What the arguments are, where a grant that names it stands in the way by its rules; nothing where no rules
        /// could say it.
        rules: Option<Arc<[ArgumentRule]>>,
    },
    /// Nobody registered the name.
    #[error("unknown command `{}`", shown(.0))]
    UnknownCommand(Arc<str>),
    /// A file that was called by its path is none that runs.
    #[error("`{}` cannot be executed: {why}", shown(.path))]
    NotExecutable {
        /// The path as it was called.
        path: Arc<str>,
        /// What it lacks.
        why: &'static str,
    },
    /// No grant names the tool, or none allows it with these arguments.
    #[error("tool `{}` is not granted{why}", shown(tool))]
    ToolNotGranted {
        /// `provider.tool`.
        tool: Arc<str>,
        /// Empty, or which part of a grant that names it stands in the way.
        why: &'static str,
        /// What the arguments are, where a grant that names it stands in the way by its rules; nothing where no rules
        /// could say it.
        rules: Option<Arc<[ArgumentRule]>>,
    },
    /// No grant names the host, opens its address, or allows such a request to it.
    #[error("host `{}` is not granted{why}", shown(host))]
    HostNotGranted {
        /// The power that was asked to go there.
        cap: Cap,
        /// `host:port`, or `private:address:port` where an address is not public.
        host: Arc<str>,
        /// Empty, or what stands in the way.
        why: &'static str,
        /// What the request is, where a grant that names the host stands in the way by its rules; nothing where no rules
        /// could say it.
        rules: Option<Arc<[ArgumentRule]>>,
    },
    /// The principal has as many runs in flight as it may.
    #[error("{max} commands are running already for this principal")]
    TooManyProcesses {
        /// The cap.
        max: u32,
    },
    /// The session's budget is spent.
    #[error("budget exceeded: {what}{}", lacking(*.needed, *.left))]
    BudgetExceeded {
        /// Which part of it: a unit, or what else is counted.
        what: &'static str,
        /// How much would have been needed; 0 where that says nothing.
        needed: u64,
        /// How much was left.
        left: u64,
    },
    /// Only grants that want a person's word first admit the call.
    #[error("`{}` needs a review: only a grant that wants a person's word admits it", shown(.subjects.first()))]
    ReviewNeeded {
        /// The power that was asked for.
        cap: Cap,
        /// What it was asked for.
        subjects: Subjects,
        /// What that grant comes to once somebody said yes: for this call, and with no more words to be had. None where it
        /// cannot be said exactly.
        grant: Option<Arc<GrantSpec>>,
    },
    /// A bound of the power's own: how much may be kept, which names there can be.
    #[error("{why}")]
    ByPower {
        /// Whose bound.
        cap: Cap,
        /// The stable code, which the power lists.
        code: &'static str,
        /// What was asked, what the bound is, and what to do.
        why: String,
    },
}

/// A denial as a value: for `--json`, for an agent, for whoever approves.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DenialDetails {
    /// The power that was asked for, where the denial is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<Cap>,
    /// The stable code.
    pub code: &'static str,
    /// What it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<Arc<str>>,
    /// In words.
    pub why: String,
    /// The smallest grant that would have allowed the call, where a grant would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantSpec>,
    /// What a person says on the command line in its place, where there is a flag for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<String>,
}

/// How much of a budget a call lacks, where there is a number.
fn lacking(needed: u64, left: u64) -> String {
    match needed {
        0 => String::new(),
        _ => format!(": {needed} needed, {left} left"),
    }
}

/// A guest's text without the power to move a cursor or to start a line.
fn shown(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

impl Denial {
    /// Why a grant does not count any more.
    pub const GRANT_REVOKED: &'static str = ": the grant was revoked";
    /// The same.
    pub const GRANT_EXPIRED: &'static str = ": the grant has expired";
    /// The same.
    pub const GRANT_USED_UP: &'static str = ": the grant is used up";

    /// The budget has nothing left of this.
    pub const fn spent(what: &'static str) -> Self {
        Self::BudgetExceeded { what, needed: 0, left: 0 }
    }

    /// The stable code, as the seeds spell it.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::Cancelled => "cancelled",
            Self::RateLimited { .. } => "rate_limited",
            Self::NotGranted { .. } => "denied",
            Self::MaxDepth { .. } => "max_depth",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed(_) => "malformed",
            Self::UnknownOperation(_) => "unknown_operation",
            Self::CommandNotGranted { .. } => "command_not_granted",
            Self::UnknownCommand(_) => "unknown_command",
            Self::NotExecutable { .. } => "not_executable",
            Self::ToolNotGranted { .. } => "tool_not_granted",
            Self::HostNotGranted { .. } => "host_not_granted",
            Self::TooManyProcesses { .. } => "too_many_processes",
            Self::BudgetExceeded { .. } => "budget_exceeded",
            Self::ReviewNeeded { .. } => "review_needed",
            Self::ByPower { code, .. } => code,
        }
    }

    /// The power that a grant would have to be of, and what it would have to name.
    fn about(&self) -> (Option<Cap>, Option<&str>) {
        match self {
            Self::NotGranted { cap, subjects, .. } | Self::ReviewNeeded { cap, subjects, .. } => {
                (Some(*cap), Some(subjects.first()).filter(|it| !it.is_empty()))
            }
            Self::CommandNotGranted { command: name, .. } | Self::UnknownCommand(name) => {
                (Some(Cap::Exec), Some(name))
            }
            Self::NotExecutable { path, .. } => (Some(Cap::Exec), Some(path)),
            Self::ToolNotGranted { tool, .. } => (Some(Cap::Tool), Some(tool)),
            Self::HostNotGranted { cap, host, .. } => (Some(*cap), Some(host)),
            Self::ByPower { cap, .. } => (Some(*cap), None),
            _ => (None, None),
        }
    }

    /// The smallest grant that would have allowed the call, where a grant would: the power, for these subjects and no
    /// others, and with these arguments if others are all that is granted. None where that cannot be said exactly: whoever
    /// chooses the request must not choose that a wider grant is proposed than the one they asked for.
    pub fn remedy(&self) -> Option<GrantSpec> {
        let (grant, rules) = match self {
            Self::ReviewNeeded { grant, .. } => return grant.as_deref().cloned(),
            // What lapsed had rules and an end of its own, and a guest can bring that about by asking often enough.
            Self::NotGranted {
                why: Self::GRANT_REVOKED | Self::GRANT_EXPIRED | Self::GRANT_USED_UP, ..
            } => {
                return None;
            }
            // A name that was not read is empty, and no pattern is.
            Self::NotGranted { cap, subjects, .. } => (GrantSpec::exactly(*cap, subjects.iter())?, &[][..]),
            Self::CommandNotGranted { command: name, rules, .. } => {
                (GrantSpec::exactly(Cap::Exec, [&**name])?, rules.as_deref()?)
            }
            Self::ToolNotGranted { tool: name, rules, .. } => {
                (GrantSpec::exactly(Cap::Tool, [&**name])?, rules.as_deref()?)
            }
            Self::HostNotGranted { cap, host, rules, .. } => {
                (GrantSpec::exactly(*cap, [&**host])?, rules.as_deref()?)
            }
            _ => return None,
        };
        Some(GrantSpec { rules: rules.to_vec(), ..grant })
    }

    /// The denial as a value that can be shown to a person, and approved.
    pub fn details(&self) -> DenialDetails {
        let (power, subject) = self.about();
        DenialDetails {
            power,
            code: self.code(),
            subject: subject.map(Arc::from),
            why: self.to_string(),
            grant: self.remedy(),
            flag: self.flag(),
        }
    }

    /// What a person says on the command line in the place of that grant, where there is a flag for it.
    pub fn flag(&self) -> Option<String> {
        host::flag(&self.remedy()?)
    }

    /// As much of a guest's text as a denial holds on to: all that a grant could name. What is longer ends with three
    /// dots, and no grant is proposed for it.
    pub fn subject(text: &str) -> Arc<str> {
        match text.len() {
            0..=SUBJECT_BYTES_MAX => text.into(),
            _ => format!("{}...", &text[..text.floor_char_boundary(SUBJECT_BYTES_MAX)]).into(),
        }
    }

    /// One of each, for docs and snapshots.
    pub fn samples() -> Vec<Denial> {
        vec![
            Self::Revoked,
            Self::Cancelled,
            Self::RateLimited { calls_max: 120_000, window_s: 60 },
            Self::NotGranted { cap: Cap::Exec, subjects: Subjects::none(), why: "" },
            Self::NotGranted { cap: Cap::Exec, subjects: Subjects::cut("jq"), why: Self::GRANT_EXPIRED },
            Self::MaxDepth { depth: 9, max: 8 },
            Self::TooLarge { what: "argv", bytes: 300_000, max: 262_144 },
            Self::Malformed("4 bytes of a name were promised, 2 are there".into()),
            Self::UnknownOperation("exec.destroy".into()),
            Self::CommandNotGranted { command: "jq".into(), why: "", rules: Some(Arc::new([])) },
            Self::CommandNotGranted {
                command: "jq".into(),
                why: " with these arguments",
                rules: Some(Arc::new([ArgumentRule::new("/1", Must::Equal(Scalar::Text("-r".into())))])),
            },
            Self::UnknownCommand("rm -rf /".into()),
            Self::NotExecutable { path: "./prog".into(), why: "it has no permission bit for it" },
            Self::ToolNotGranted { tool: "files.write".into(), why: "", rules: Some(Arc::new([])) },
            Self::ToolNotGranted {
                tool: "files.write".into(),
                why: " with these arguments",
                rules: Some(Arc::new([ArgumentRule::new(
                    "/path",
                    Must::Equal(Scalar::Text("/etc/a".into())),
                )])),
            },
            Self::HostNotGranted {
                cap: Cap::Net,
                host: "a.test:443".into(),
                why: "",
                rules: Some(Arc::new([])),
            },
            Self::HostNotGranted {
                cap: Cap::Tcp,
                host: "private:127.0.0.1:8080".into(),
                why: ": this address is not public",
                rules: Some(Arc::new([])),
            },
            Self::TooManyProcesses { max: 64 },
            Self::spent("fuel"),
            Self::BudgetExceeded { what: "tokens", needed: 4_200, left: 900 },
            Self::ReviewNeeded {
                cap: Cap::Tool,
                subjects: Subjects::cut("agent.git"),
                grant: GrantSpec::exactly(Cap::Tool, ["agent.git"]).map(Arc::new),
            },
            Self::ByPower {
                cap: Cap::Kv,
                code: "value_too_large",
                why: "a value of 2000000 bytes exceeds the limit of 1048576".into(),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_denial_has_a_stable_code_and_a_clear_message() {
        let list: Vec<String> = Denial::samples()
            .iter()
            .map(|it| {
                format!("{:<20} {it} [{}]", it.code(), it.remedy().map(|it| it.to_json()).unwrap_or_default())
            })
            .collect();
        insta::assert_snapshot!(list.join("\n"), @r#"
        revoked              principal is revoked []
        cancelled            the session was cancelled []
        rate_limited         rate limit of 120000 calls in 60 s reached; try again later []
        denied               capability `exec` is not granted []
        denied               capability `exec` is not granted: the grant has expired []
        max_depth            nesting depth 9 exceeds 8 []
        too_large            argv of 300000 bytes exceeds the limit of 262144 []
        malformed            malformed request: 4 bytes of a name were promised, 2 are there []
        unknown_operation    unknown operation `exec.destroy` []
        command_not_granted  command `jq` is not in the granted list [{"cap":"exec","subjects":["jq"]}]
        command_not_granted  command `jq` is not in the granted list with these arguments [{"cap":"exec","subjects":["jq"],"rules":[{"argument":"/1","equal":"-r"}]}]
        unknown_command      unknown command `rm -rf /` []
        not_executable       `./prog` cannot be executed: it has no permission bit for it []
        tool_not_granted     tool `files.write` is not granted [{"cap":"tool","subjects":["files.write"]}]
        tool_not_granted     tool `files.write` is not granted with these arguments [{"cap":"tool","subjects":["files.write"],"rules":[{"argument":"/path","equal":"/etc/a"}]}]
        host_not_granted     host `a.test:443` is not granted [{"cap":"net","subjects":["a.test:443"]}]
        host_not_granted     host `private:127.0.0.1:8080` is not granted: this address is not public [{"cap":"tcp","subjects":["private:127.0.0.1:8080"]}]
        too_many_processes   64 commands are running already for this principal []
        budget_exceeded      budget exceeded: fuel []
        budget_exceeded      budget exceeded: tokens: 4200 needed, 900 left []
        review_needed        `agent.git` needs a review: only a grant that wants a person's word admits it [{"cap":"tool","subjects":["agent.git"]}]
        value_too_large      a value of 2000000 bytes exceeds the limit of 1048576 []
        "#);
    }

    #[test]
    fn a_denial_is_a_value_with_the_grant_that_would_have_helped() {
        let denial = Denial::CommandNotGranted { command: "jq".into(), why: "", rules: Some(Arc::new([])) };
        insta::assert_snapshot!(serde_json::to_string(&denial.details()).unwrap(), @r#"{"power":"exec","code":"command_not_granted","subject":"jq","why":"command `jq` is not in the granted list","grant":{"cap":"exec","subjects":["jq"]}}"#);
        insta::assert_snapshot!(serde_json::to_string(&Denial::Revoked.details()).unwrap(), @r#"{"code":"revoked","why":"principal is revoked"}"#);
        let unknown = Denial::UnknownCommand("rm".into()).details();
        assert!(unknown.grant.is_none() && unknown.subject.is_some(), "no grant makes a command");
    }

    #[test]
    fn no_grant_is_proposed_for_a_subject_that_none_can_name() {
        for (subject, want) in [
            ("x".repeat(1024), true),
            ("x".repeat(1025), false),
            ("ü".repeat(600), false),
            (String::new(), false),
        ] {
            let subjects = Denial::subject(&subject).into();
            let denial = Denial::NotGranted { cap: Cap::Kv, subjects, why: "" };
            assert_eq!(denial.remedy().is_some(), want);
        }
        let both = Denial::NotGranted {
            cap: Cap::Instance,
            subjects: ["shop", "sha256:00ff"].map(Arc::from).into(),
            why: "",
        };
        let json = r#"{"cap":"instance","subjects":["shop","sha256:00ff"]}"#;
        assert_eq!(both.remedy().unwrap().to_json(), json);
        let unsaid = Denial::CommandNotGranted { command: "seq".into(), why: "", rules: None };
        assert_eq!(unsaid.remedy(), None, "without its arguments it would be wider");
        let half = Denial::NotGranted {
            cap: Cap::Kv,
            subjects: [Arc::from("short"), Denial::subject(&"x".repeat(1025))].into(),
            why: "",
        };
        assert_eq!(half.remedy(), None, "all of them, or no grant at all");
    }
}
