//! Searching a sandbox's files: `rg` in a guest of its own, so that a pattern costs what a guest may cost.

use drydock_contract::CommandName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Sandbox, SandboxError, Watch, files::tree_path, typed};

/// How many matches are told where nobody says.
const MATCHES_USUAL: usize = 200;
const MATCHES_MAX: usize = 10_000;
/// The longest line that is shown.
const LINE_CHARS_MAX: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    literal: bool,
    max: Option<usize>,
}

impl Sandbox {
    /// The sandbox decides that files may be searched, whatever commands the agent may run by itself.
    pub(super) async fn search(&self, input: Value, watch: &Watch) -> Result<Value, SandboxError> {
        let Search { pattern, path, glob, ignore_case, literal, max } = typed(input)?;
        let max = max.unwrap_or(MATCHES_USUAL).clamp(1, MATCHES_MAX);
        let place = tree_path(&self.shell.cwd, path.as_deref().unwrap_or("."))?;
        let mut args: Vec<String> =
            ["-H", "-n", "-0", "--no-heading", "--color", "never"].map(String::from).into();
        let flags = [(ignore_case, "-i"), (literal, "-F")];
        args.extend(flags.iter().filter(|it| it.0).map(|it| it.1.to_owned()));
        if let Some(glob) = glob {
            args.extend(["-g".into(), glob]);
        }
        let shown = format!("/{}", place.names().collect::<Vec<_>>().join("/"));
        args.extend(["-e".into(), pattern, "--".into(), shown]);
        let mut setup = self.setup.clone();
        let name: CommandName =
            "rg".parse().map_err(|error| SandboxError::new("internal_error", format!("{error}")))?;
        setup.allow = Some(vec![name]);
        let limits = setup.limits.unwrap_or_else(|| setup.profile.limits());
        let quiet = Watch { cancel: std::sync::Arc::clone(&watch.cancel), output: None };
        let done = self.command(setup, limits, "rg", &args, String::new(), &quiet).await?;
        let stdout = done.get("stdout").and_then(Value::as_str).unwrap_or_default();
        let cut = done.contains_key("limit");
        // 1 is "nothing found"; what is worse has said why.
        if done.get("status").and_then(Value::as_i64) > Some(1) && !cut && stdout.is_empty() {
            let why = done.get("stderr").and_then(Value::as_str).unwrap_or_default().trim();
            return Err(SandboxError::bad_input(why));
        }
        let all: Vec<Value> = stdout.lines().filter_map(found).take(max + 1).collect();
        let truncated = cut || all.len() > max;
        let matches: Vec<Value> = all.into_iter().take(max).collect();
        Ok(json!({ "matches": matches, "truncated": truncated }))
    }
}

/// `path NUL line : text`.
fn found(line: &str) -> Option<Value> {
    let (path, rest) = line.split_once('\0')?;
    let (number, text) = rest.split_once(':')?;
    let text: String = text.chars().take(LINE_CHARS_MAX).collect();
    Some(json!({ "path": path, "line": number.parse::<u64>().ok()?, "text": text }))
}
