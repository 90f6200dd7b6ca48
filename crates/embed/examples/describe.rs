//! What a model needs to use a sandbox: names, JSON Schemas and words.
//! `cargo run -p drydock-embed --example describe`.

use std::{error::Error, path::Path, sync::Arc};

use drydock_embed::{Dock, Sandbox, SandboxSetup, Setup, ShellSetup, Watch, contract::Limits, line_limits};
use serde_json::json;

/// Tools in the shape most model APIs take them, and one call as a model would make it.
pub async fn example(home: &Path) -> Result<String, Box<dyn Error>> {
    let sandbox = Sandbox::open(
        Arc::new(Dock::open(home)?),
        SandboxSetup {
            principal: "agent".into(),
            setup: Setup { limits: Some(line_limits()), ..Setup::profile("minimal") },
            shell: ShellSetup::default(),
            bases: Vec::new(),
            program: Limits::default(),
            allow_commit: false,
        },
    )?;
    let tools: Vec<_> = sandbox
        .operations()
        .map(
            |it| json!({ "name": it.name, "description": it.description, "input_schema": it.input_schema() }),
        )
        .collect();
    assert!(sandbox.prompt().contains("/workspace"));
    let answer = sandbox.call("sh", json!({ "script": "echo hi | rev" }), &Watch::default()).await?;
    Ok(format!("{} {} {}", tools.len(), tools[0]["name"], answer["stdout"]))
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout)]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", example(&std::env::temp_dir().join("drydock-example")).await?);
    Ok(())
}
