//! The `drydock` binary. A table of contents: arguments in, one subcommand, an exit status out.
//!
//! Only this room reads the environment, the arguments and the terminal. It decides nothing: every
//! decision is the gate's.

mod cli;
mod config;
mod exit;
mod extensions;
mod home;
mod interrupt;
mod limits;
mod listen;
mod local;
mod log;
mod models;
mod module;
mod progress;
mod provide;
mod searches;
mod show;
mod streams;
mod taped;
mod trusted;
mod typed;
mod units;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    cli::completions::answer();
    limits::prepare();
    let words = match config::with_defaults(std::env::args_os().collect()) {
        Ok(words) => words,
        Err(error) => {
            exit::report(&error);
            return ExitCode::from(2);
        }
    };
    taped::began_with(&words);
    let command = cli::usual::read(&words).unwrap_or_else(|| {
        let arguments = cli::Arguments::try_parse_from(&words);
        arguments.unwrap_or_else(|error| cli::mistyped::with_subcommand(error).exit()).command
    });
    if !matches!(&command, cli::Command::Serve(serve) if serve.tells_spans()) {
        log::install(None);
    }
    let done = match command {
        // A status of 1 would read as the command's own.
        cli::Command::Run(run) => {
            let json = run.is_json();
            return cli::run::run(run).unwrap_or_else(|error| exit::never_began(&error, json));
        }
        cli::Command::Sh(sh) => {
            let json = sh.is_json();
            return cli::sh::run(sh).unwrap_or_else(|error| exit::never_began(&error, json));
        }
        cli::Command::Js(js) => {
            return cli::js::run(js).unwrap_or_else(|error| exit::could_not_run(&error));
        }
        cli::Command::Py(py) => {
            return cli::py::run(py).unwrap_or_else(|error| exit::could_not_run(&error));
        }
        cli::Command::Ext(ext) => {
            return cli::ext::run(ext).unwrap_or_else(|error| exit::could_not_run(&error));
        }
        cli::Command::Kernel(kernel) => {
            return cli::kernel::run(kernel).unwrap_or_else(|error| exit::could_not_run(&error));
        }
        cli::Command::Lembeh(lembeh) => {
            return cli::lembeh::run(lembeh).unwrap_or_else(|error| exit::could_not_run(&error));
        }
        cli::Command::ServeGuest(guest) => {
            let json = guest.is_json();
            return cli::serve_guest::run(guest).unwrap_or_else(|error| exit::never_began(&error, json));
        }
        cli::Command::Egress(egress) => cli::egress::run(egress),
        cli::Command::Serve(serve) => cli::serve::run(serve),
        cli::Command::Tenants(tenants) => cli::tenants::run(tenants),
        cli::Command::Ps(ps) => cli::process::ps(ps),
        cli::Command::Logs(logs) => cli::process::logs(logs),
        cli::Command::Kill(kill) => cli::process::kill(kill),
        cli::Command::Token(token) => cli::token::run(token),
        cli::Command::Secret(secret) => cli::secret::run(secret),
        cli::Command::Agent(agent) => cli::agent::run(agent),
        cli::Command::Review(review) => cli::review::run(review),
        cli::Command::Mcp(mcp) => cli::mcp::run(mcp),
        cli::Command::Stdio(stdio) => cli::stdio::run(stdio),
        cli::Command::Explain(explain) => cli::explain::run(explain),
        cli::Command::Commands(commands) => cli::commands::run(commands),
        cli::Command::Build(build) => cli::build::run(build),
        cli::Command::BuildInline(build) => cli::build::inline(build),
        cli::Command::Catalog(catalog) => cli::catalog::run(catalog),
        cli::Command::Toolkit(toolkit) => cli::toolkit::run(toolkit),
        cli::Command::Ws(ws) => cli::ws::run(ws),
        cli::Command::Kv(kv) => cli::kv::run(kv),
        cli::Command::Queue(queue) => cli::queue::run(queue),
        cli::Command::Grants(grants) => cli::grants::run(grants),
        cli::Command::Tape(tape) => cli::tape::run(tape),
        cli::Command::Audit(audit) => cli::audit::run(audit),
        cli::Command::Revoke(revoke) => cli::revoke::run(revoke),
        cli::Command::Unrevoke(unrevoke) => cli::revoke::unrevoke(unrevoke),
        cli::Command::Profiles(profiles) => cli::profiles::run(profiles),
        cli::Command::Models(models) => cli::models::run(models),
        cli::Command::Doctor(doctor) => cli::doctor::run(doctor),
        cli::Command::Config(config) => cli::config::run(config),
        cli::Command::Warm(warm) => cli::warm::run(warm),
        cli::Command::Completions(shell) => cli::completions::run(shell),
        cli::Command::Man(man) => cli::man::run(man),
        cli::Command::Precompile(precompile) => cli::precompile::run(precompile),
        cli::Command::CompileWorker(worker) => return cli::compile::worker(worker),
    };
    match done {
        Ok(code) => code,
        Err(error) => exit::report(&error),
    }
}
