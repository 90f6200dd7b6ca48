//! From a line to a message, or to nothing: junk is ignored by both sides.

use std::sync::Arc;

use drydock_abi::json::mend_surrogates;

use super::{
    Done, Execute, Failure, HostMessage, Json, RunnerMessage, RuntimeOptions, ToolCall, ToolResult, manifest,
    members::Members, message,
};

/// What a host said, if it is well formed.
pub fn host_message(line: &[u8]) -> Option<HostMessage> {
    let text = mend_surrogates(std::str::from_utf8(line).ok()?);
    let members = Members::of(&text)?;
    match &*members.text("type")? {
        "execute" => Some(HostMessage::Execute(execute(&members)?)),
        "cancel" => Some(HostMessage::Cancel { id: members.text("id")? }),
        "tool_result" => Some(HostMessage::ToolResult(tool_result(&members)?)),
        _ => None,
    }
}

/// What a runner said, if it is well formed.
pub fn runner_message(line: &[u8]) -> Option<RunnerMessage> {
    let text = mend_surrogates(std::str::from_utf8(line).ok()?);
    let members = Members::of(&text)?;
    match &*members.text("type")? {
        "started" => Some(RunnerMessage::Started { id: members.text("id")? }),
        "tool_call" => Some(RunnerMessage::ToolCall(ToolCall {
            call_id: members.text("callId")?,
            provider_name: members.text("providerName")?,
            safe_tool_name: members.text("safeToolName")?,
            // JSON has no `undefined`, so a transport of JSON drops it.
            input: members.get("input").map(Json::of_raw),
        })),
        "done" => Some(RunnerMessage::Done(done(&members)?)),
        _ => None,
    }
}

fn execute(members: &Members<'_>) -> Option<Execute> {
    let options = members.inner("options")?;
    Some(Execute {
        id: members.text("id")?,
        code: members.text("code")?,
        options: RuntimeOptions {
            timeout_ms: options.number("timeoutMs")?,
            memory_limit_bytes: options.number("memoryLimitBytes")?,
            max_log_lines: options.number("maxLogLines")?,
            max_log_chars: options.number("maxLogChars")?,
        },
        providers: manifest::list(members.get("providers")?)?.into(),
        args: members.get("args").map(Json::of_raw),
    })
}

fn tool_result(members: &Members<'_>) -> Option<ToolResult> {
    let call_id = members.text("callId")?;
    let answer = match members.flag("ok")? {
        true => Ok(Json::of_raw(members.get("result")?)),
        false => Err(failure(members)?),
    };
    Some(ToolResult { call_id, answer })
}

fn done(members: &Members<'_>) -> Option<Done> {
    let id: Arc<str> = members.text("id")?;
    let outcome = match members.flag("ok")? {
        true => Ok(members.get("result").map(Json::of_raw)),
        false => Err(failure(members)?),
    };
    Some(Done {
        id,
        outcome,
        duration_ms: members.number("durationMs")?,
        logs: serde_json::from_str(members.get("logs")?.get()).ok()?,
    })
}

fn failure(members: &Members<'_>) -> Option<Failure> {
    let error = members.inner("error")?;
    Some(Failure::new(message::code(&error.text("code")?), &*error.text("message")?))
}
