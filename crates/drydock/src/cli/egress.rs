//! `drydock egress explain URL`: what would be decided about a request, and why, without making it.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use drydock_embed::{
    contract::exit::DENIED,
    egress::{Egress, Explanation, Limits, Method, ParseRuleError, Parts, Rules},
};

use crate::show;

#[derive(Debug, Args)]
pub(crate) struct EgressCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say whether a URL would be fetched, and why; names are looked up, and nothing is connected to
    Explain(Explain),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Rules are those of run, sh, js, py, mcp and ext invoke; without one no host is allowed.
Exit status: 0 allowed; 126 refused, also where the URL or a rule cannot be read.

Examples:
  drydock egress explain https://api.example.com/v1 --allow-host example.com
  drydock egress explain http://127.0.0.1:8080/ --allow-private 127.0.0.1:8080")]
struct Explain {
    /// The URL
    url: String,
    /// The method of the request
    #[arg(long, value_name = "NAME", default_value = "GET")]
    method: Method,
    // Read as texts, because a rule that cannot be read is a refusal here and no mistake of the command line.
    /// A host that may be reached
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,
    /// An address that is opened though it is not public
    #[arg(long, value_name = "ADDR:PORT")]
    allow_private: Vec<String>,
    /// A host by method and by the beginning of the path
    #[arg(long, value_name = "[METHODS ]URL")]
    allow_url: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: EgressCommand) -> anyhow::Result<ExitCode> {
    let Command::Explain(asked) = command.command;
    let told = match asked.rules() {
        Ok(rules) => explain(&asked, &rules)?,
        Err(bad) => Explanation::of_bad_rule(&bad),
    };
    match asked.json {
        true => show::json(&told)?,
        false => show::line(&told.to_string())?,
    }
    Ok(if told.allowed { ExitCode::SUCCESS } else { ExitCode::from(DENIED) })
}

impl Explain {
    fn rules(&self) -> Result<Rules, ParseRuleError> {
        Rules::parse(&self.allow_host, &self.allow_url, &self.allow_private)
    }
}

fn explain(asked: &Explain, rules: &Rules) -> anyhow::Result<Explanation> {
    let egress = Egress::new(Parts::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(egress.explain(rules, &asked.method, &asked.url, &Limits::default()));
    // A look-up that hangs keeps its thread; the process does not wait for it.
    runtime.shutdown_background();
    Ok(told)
}
