//! The command line: one file a subcommand, each with its flags and what it does.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod build;
pub(crate) mod catalog;
pub(crate) mod commands;
pub(crate) mod compile;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod egress;
pub(crate) mod explain;
pub(crate) mod ext;
pub(crate) mod grants;
mod hosts;
pub(crate) mod js;
mod kept;
pub(crate) mod kernel;
pub(crate) mod kv;
pub(crate) mod lembeh;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mistyped;
pub(crate) mod models;
mod powers;
pub(crate) mod precompile;
pub(crate) mod process;
pub(crate) mod profiles;
pub(crate) mod py;
pub(crate) mod queue;
pub(crate) mod review;
pub(crate) mod revoke;
pub(crate) mod run;
pub(crate) mod sandbox;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod serve_guest;
pub(crate) mod sh;
mod snapshot;
mod start;
pub(crate) mod stdio;
pub(crate) mod tape;
pub(crate) mod tenants;
pub(crate) mod token;
pub(crate) mod toolkit;
mod tree;
pub(crate) mod usual;
pub(crate) mod warm;
pub(crate) mod ws;

use clap::{Parser, Subcommand};

/// Runs commands as WebAssembly: each in a fresh instance that holds nothing and reaches the world
/// only through one gate.
#[derive(Debug, Parser)]
#[command(name = "drydock", version, max_term_width = 100, after_help = AFTER)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Data lives in $DRYDOCK_HOME, else in the platform's data directory.

Examples:
  echo '{\"name\":\"ada\"}' | drydock run jq -r .name
  drydock run --timeout 2s --memory 32MiB sort < words.txt
  drydock sh -c 'cat *.csv | cut -d, -f2 | sort | uniq -c' --dir .
  drydock commands add hello hello.wasm && drydock run hello
  drydock audit --denied";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a command in a fresh sandbox
    Run(run::Run),
    /// Run a line or a script of commands, or type them
    Sh(sh::Sh),
    /// Run a JavaScript program that can reach nothing but its tools
    Js(js::Js),
    /// Run a Python program that can reach nothing but its tools and files
    Py(py::Py),
    /// Run agents: open, follow, end, resume, replay and fork their runs
    Agent(agent::AgentArgs),
    /// Answer what runs of agents ask a person
    Review(review::ReviewArgs),
    /// Serve an agent over MCP: lines, commands, programs and files as tools
    Mcp(mcp::Mcp),
    /// Serve a sandbox to a program in another language, as JSON lines on stdin and stdout
    Stdio(stdio::Stdio),
    /// Serve extensions, commands, programs and workspaces over HTTP
    Serve(serve::Serve),
    /// Listen for one guest that answers, over HTTP or with bytes
    ServeGuest(serve_guest::ServeGuest),
    /// List processes that go on by themselves, and those that did
    Ps(process::Ps),
    /// Print what a process wrote, from any byte on
    Logs(process::Logs),
    /// End a process
    Kill(process::Kill),
    /// Install, ask, list and remove HTTP extensions of the Runner ABI
    Ext(ext::Ext),
    /// Say what would be decided about a request to a host
    Egress(egress::EgressCommand),
    /// Pass bytes through a kernel: a module that keeps its memory from call to call
    Kernel(kernel::KernelCommand),
    /// Run, record and replay guests of the lembeh ABI
    Lembeh(lembeh::LembehCommand),
    /// Say what a line would run, read and write, without running it
    Explain(explain::Explain),
    /// List, show, add, remove and verify commands
    Commands(commands::Commands),
    /// Compile C, C++, JavaScript or TypeScript in the sandbox into a command
    Build(build::Build),
    /// The same with the source on stdin
    BuildInline(build::BuildInline),
    /// Install programs of the catalog, such as python and clang, and prove that they work
    Catalog(catalog::Catalog),
    /// Show, verify, sign and add toolkits and skills of agents
    Toolkit(toolkit::ToolkitCommand),
    /// Look into workspaces: files, changes, snapshots
    Ws(ws::Ws),
    /// List, read, write and remove values that guests keep by key
    Kv(kv::Kv),
    /// List topics, and look at, add and take messages of guests
    Queue(queue::Queue),
    /// List, show, add and revoke grants that are kept for a principal
    Grants(grants::Grants),
    /// List tenants and what each keeps
    Tenants(tenants::Tenants),
    /// Make, list and remove tokens for callers over HTTP
    Token(token::Token),
    /// Register where secrets of extensions come from
    Secret(secret::Secret),
    /// List, show, replay, compare and remove recorded runs
    Tape(tape::Tape),
    /// Show what was allowed and what was refused
    Audit(audit::Audit),
    /// Take every power from a principal or a tenant, in every process that uses this data
    Revoke(revoke::Revoke),
    /// Let a revoked principal or tenant ask again
    Unrevoke(revoke::Unrevoke),
    /// Show the profiles: named sets of powers and limits
    Profiles(profiles::Profiles),
    /// Show the models that your drydock.toml configures
    Models(models::Models),
    /// Show what boundary this machine really gives
    Doctor(doctor::Doctor),
    /// Show the defaults that drydock.toml gives, and where each comes from
    Config(config::Config),
    /// Compile commands now, so that their first use need not
    Warm(warm::Warm),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Write the manual pages
    #[command(hide = true)]
    Man(man::Man),
    /// Compile the built-in commands for any machine of this architecture
    #[command(hide = true)]
    Precompile(precompile::Precompile),
    /// Compile one module from stdin; started by Drydock itself
    #[command(hide = true)]
    CompileWorker(compile::CompileWorker),
}
