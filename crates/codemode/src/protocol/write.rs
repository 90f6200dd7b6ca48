//! From a message to its line, newline included.

use serde_json::Value;

use super::{Execute, Failure, HostMessage, Json, Manifest, RunnerMessage};

/// The line of a host's message.
pub fn host_line(message: &HostMessage) -> Vec<u8> {
    let mut line = Object::of(match message {
        HostMessage::Execute(_) => "execute",
        HostMessage::Cancel { .. } => "cancel",
        HostMessage::ToolResult(_) => "tool_result",
    });
    match message {
        HostMessage::Execute(execute) => write_execute(&mut line, execute),
        HostMessage::Cancel { id } => line.text("id", id),
        HostMessage::ToolResult(it) => {
            line.text("callId", &it.call_id);
            line.raw("ok", if it.answer.is_ok() { "true" } else { "false" });
            match &it.answer {
                Ok(result) => line.json("result", result),
                Err(failure) => line.failure(failure),
            }
        }
    }
    line.end()
}

/// The line of a runner's message.
pub fn runner_line(message: &RunnerMessage) -> Vec<u8> {
    let mut line = Object::of(match message {
        RunnerMessage::Started { .. } => "started",
        RunnerMessage::ToolCall(_) => "tool_call",
        RunnerMessage::Done(_) => "done",
    });
    match message {
        RunnerMessage::Started { id } => line.text("id", id),
        RunnerMessage::ToolCall(call) => {
            line.text("callId", &call.call_id);
            line.text("providerName", &call.provider_name);
            line.text("safeToolName", &call.safe_tool_name);
            if let Some(input) = &call.input {
                line.json("input", input);
            }
        }
        RunnerMessage::Done(done) => {
            line.text("id", &done.id);
            line.raw("ok", if done.outcome.is_ok() { "true" } else { "false" });
            line.number("durationMs", done.duration_ms);
            line.raw("logs", &Value::from(done.logs.as_slice()).to_string());
            match &done.outcome {
                Ok(Some(result)) => line.json("result", result),
                Ok(None) => {}
                Err(failure) => line.failure(failure),
            }
        }
    }
    line.end()
}

fn write_execute(line: &mut Object, execute: &Execute) {
    line.text("id", &execute.id);
    line.text("code", &execute.code);
    let mut options = Object(b"{".to_vec());
    options.number("timeoutMs", execute.options.timeout_ms);
    options.number("memoryLimitBytes", execute.options.memory_limit_bytes);
    options.number("maxLogLines", execute.options.max_log_lines);
    options.number("maxLogChars", execute.options.max_log_chars);
    line.object("options", options);
    line.name("providers");
    line.0.push(b'[');
    for (index, provider) in execute.providers.iter().enumerate() {
        if index > 0 {
            line.0.push(b',');
        }
        line.0.append(&mut manifest(provider).0);
        line.0.push(b'}');
    }
    line.0.push(b']');
    if let Some(args) = &execute.args {
        line.json("args", args);
    }
}

fn manifest(it: &Manifest) -> Object {
    let mut tools = Object(b"{".to_vec());
    for (key, tool) in &it.tools {
        let mut entry = Object(b"{".to_vec());
        entry.text("safeName", &tool.safe_name);
        entry.text("originalName", &tool.original_name);
        if let Some(text) = &tool.description {
            entry.text("description", text);
        }
        tools.object(key, entry);
    }
    let mut manifest = Object(b"{".to_vec());
    manifest.text("name", &it.name);
    manifest.object("tools", tools);
    manifest.text("types", &it.types);
    manifest
}

/// An object that is being written.
struct Object(Vec<u8>);

impl Object {
    fn of(kind: &str) -> Self {
        let mut object = Self(b"{".to_vec());
        object.text("type", kind);
        object
    }

    #[expect(clippy::expect_used, reason = "text is JSON, and a vector takes it")]
    fn name(&mut self, name: &str) {
        if self.0.last() != Some(&b'{') {
            self.0.push(b',');
        }
        serde_json::to_writer(&mut self.0, name).expect("text is JSON, and a vector takes it");
        self.0.push(b':');
    }

    fn raw(&mut self, name: &str, text: &str) {
        self.name(name);
        self.0.extend_from_slice(text.as_bytes());
    }

    #[expect(clippy::expect_used, reason = "text is JSON, and a vector takes it")]
    fn text(&mut self, name: &str, text: &str) {
        self.name(name);
        serde_json::to_writer(&mut self.0, text).expect("text is JSON, and a vector takes it");
    }

    /// Whole numbers as JavaScript writes them, without `.0`.
    fn number(&mut self, name: &str, number: f64) {
        let whole = number.fract() == 0.0 && number.abs() < 9e15;
        let text = if whole { format!("{}", number as i64) } else { Value::from(number).to_string() };
        self.raw(name, &text);
    }

    /// A newline between the tokens of a value would end the line.
    fn json(&mut self, name: &str, value: &Json) {
        self.name(name);
        let from = self.0.len();
        self.0.extend_from_slice(value.bytes());
        let newlines = self.0[from..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r'));
        newlines.for_each(|byte| *byte = b' ');
    }

    fn failure(&mut self, failure: &Failure) {
        let mut error = Object(b"{".to_vec());
        error.text("code", failure.code.as_str());
        error.text("message", &failure.message);
        self.object("error", error);
    }

    fn object(&mut self, name: &str, mut inner: Object) {
        inner.0.push(b'}');
        self.name(name);
        self.0.append(&mut inner.0);
    }

    fn end(mut self) -> Vec<u8> {
        self.0.extend_from_slice(b"}\n");
        self.0
    }
}
