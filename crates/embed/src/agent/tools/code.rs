//! `run_code`: a program in the place of many calls, with the commands and files that the run has.
//!
//! What the run's grants say of tools holds for the program's too. Powers are namespaces of a program where the run holds
//! them, and each use of one is judged by its own grant.

use std::sync::Arc;

use drydock_agent::tools::{CodeLanguage, RunCodeArguments, ToolDenial, ToolOutput};
use drydock_codemode::executor::ExecuteOptions;
use drydock_contract::{Cap, Limits, Pattern, Switch, Terms};
use drydock_gate::{DenialLog, Grant};

use super::{AgentTools, Called, ToolError};
use crate::{CodeInput, OpenPyError, PyInput, Setup, code::broker_tools::power_namespaces, program_tools};

/// The longest program.
const CODE_BYTES_MAX: usize = 1 << 20;

impl AgentTools {
    pub(super) async fn run_code(
        &self,
        _: Called,
        wanted: RunCodeArguments,
    ) -> Result<ToolOutput, ToolError> {
        let RunCodeArguments { language, code } = wanted;
        if code.trim().is_empty() || code.len() > CODE_BYTES_MAX {
            let why = format!("`code` is a program of 1 to {CODE_BYTES_MAX} bytes");
            return Err(ToolError::new("bad_arguments", why));
        }
        self.changes.clear();
        let denials = Arc::<DenialLog>::default();
        let setup = self.program_setup(&denials);
        let limits = setup.limits.unwrap_or(self.limits);
        let (output, exit_code) = match language {
            CodeLanguage::JavaScript => self.javascript(setup, &code, &limits, &denials).await?,
            CodeLanguage::Python => self.python(setup, &code, &limits, &denials).await?,
        };
        Ok(ToolOutput {
            exit_code: Some(exit_code),
            files_changed: Some(self.changes.is_changed()),
            denials: denials.take().iter().map(ToolDenial::from).collect(),
            ..ToolOutput::text(output)
        })
    }

    /// The run's setup with what a program's own namespaces need.
    fn program_setup(&self, denials: &Arc<DenialLog>) -> Setup {
        let mut setup = Setup { denials: Some(Arc::clone(denials)), ..self.setup.clone() };
        setup.preparing = Arc::default();
        let held = self.session.inner().grants();
        let powers: Vec<Pattern> =
            power_namespaces(held.caps()).filter_map(|it| format!("{it}.*").parse().ok()).collect();
        let mut grants: Vec<Arc<Grant>> = held.iter().cloned().collect();
        if !powers.is_empty() {
            grants.push(Arc::new(Grant::of(Cap::Tool).within(Terms::of(powers))));
        }
        setup.held = Some(grants.into_iter().collect());
        setup
    }

    async fn javascript(
        &self,
        setup: Setup,
        code: &str,
        limits: &Limits,
        denials: &Arc<DenialLog>,
    ) -> Result<(String, i32), ToolError> {
        let failed = |error: &dyn std::fmt::Display| ToolError::new("internal_error", error.to_string());
        let tools =
            program_tools(&self.dock, &self.principal, &setup, &self.shell).map_err(|it| failed(&it))?;
        let programs = self.dock.code(&self.principal, setup, tools)?;
        self.dock.warm_js().await.map_err(|fault| failed(&fault))?;
        let signal = Arc::<Switch>::default();
        let _ends = Ends(Arc::clone(&signal));
        let input = CodeInput {
            options: options(limits),
            signal: Some(signal),
            denials: Some(Arc::clone(denials)),
            ..CodeInput::default()
        };
        let done = programs.execute_whole(code, input).await;
        if let Some(refused) = done.refused {
            return Err(refused.into());
        }
        let mut output = lines(&done.execute.logs);
        if done.execute.logs_cut {
            output.push_str("[it logged more than is kept]\n");
        }
        match done.execute.outcome {
            Ok(result) => {
                if let Some(result) = result {
                    output.push_str(result.as_str());
                }
                Ok((output, 0))
            }
            Err(failure) => {
                let place = done.position.map(|it| format!(" (line {}, column {})", it.line, it.column));
                output.push_str(&format!(
                    "{}: {}{}\n",
                    failure.code,
                    failure.message,
                    place.unwrap_or_default()
                ));
                output.extend(done.hint.map(|it| format!("[{it}]\n")));
                Ok((output, i32::from(failure.code.exit_status())))
            }
        }
    }

    async fn python(
        &self,
        setup: Setup,
        code: &str,
        limits: &Limits,
        denials: &Arc<DenialLog>,
    ) -> Result<(String, i32), ToolError> {
        let failed = |error: &dyn std::fmt::Display| ToolError::new("internal_error", error.to_string());
        let tools =
            program_tools(&self.dock, &self.principal, &setup, &self.shell).map_err(|it| failed(&it))?;
        let programs = self.dock.py(&self.principal, setup, &self.shell, tools, None).map_err(not_opened)?;
        programs.warm().await.map_err(|fault| failed(&fault))?;
        let signal = Arc::<Switch>::default();
        let _ends = Ends(Arc::clone(&signal));
        let input = PyInput {
            options: options(limits),
            signal: Some(signal),
            denials: Some(Arc::clone(denials)),
            ..PyInput::default()
        };
        let done = programs.execute(code, input).await;
        let mut output = String::from_utf8_lossy(&done.stdout).into_owned();
        output.push_str(&String::from_utf8_lossy(&done.stderr));
        match (&done.execute.outcome, &done.traceback) {
            (Ok(Some(result)), _) if result.as_str() != "null" => output.push_str(result.as_str()),
            (Ok(_), _) => {}
            (Err(_), Some(traceback)) => output.push_str(traceback),
            (Err(failure), None) => output.push_str(&format!("{}: {}\n", failure.code, failure.message)),
        }
        output.extend(done.hint.map(|it| format!("\n[{it}]\n")));
        Ok((output, i32::from(done.status)))
    }
}

fn not_opened(error: OpenPyError) -> ToolError {
    match error {
        OpenPyError::Setup(error) => error.into(),
        OpenPyError::NotInstalled => ToolError::new(
            "not_installed",
            "python is not installed here (a person does: drydock catalog add python); write JavaScript",
        ),
        other => ToolError::new(other.code(), other.to_string()),
    }
}

fn options(limits: &Limits) -> ExecuteOptions {
    ExecuteOptions {
        timeout_ms: Some(limits.wall_max.as_secs_f64() * 1e3),
        memory_limit_bytes: Some(limits.memory_bytes_max as f64),
        ..ExecuteOptions::default()
    }
}

fn lines(logs: &[String]) -> String {
    logs.iter().map(|it| format!("{it}\n")).collect()
}

/// Ends a program that nobody waits for any more.
struct Ends(Arc<Switch>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.trip();
    }
}
