//! What the host asks for: `{"code", "providers", "args"?, "random_seed"?, "result_bytes_max"?, "log_bytes_max"?,
//! "file"?}`, or the same packed, less the seed and the result's limit.
//!
//! With a `file`, the program's own path, it has the globals of the web and may import; without, the globals
//! are the protocol's.

use super::{failure::Failure, packed, tools, web};
use js::engine::PLAIN;
use js::prelude::*;
use js::value::{Kind, Value};

/// One request.
pub struct Request {
    pub code: String,
    pub random_seed: Option<u64>,
    pub result_bytes_max: usize,
    pub log_bytes_max: usize,
    pub file: Option<String>,
    providers: Vec<(String, Vec<String>)>,
    args: Option<Value>,
}

const RESULT_BYTES_MAX: usize = 8 << 20;
const LOG_BYTES_MAX: usize = 1 << 20;

impl Request {
    /// Reads the request, or says what is wrong with it.
    pub fn parse(mut text: Vec<u8>) -> Result<Self, &'static str> {
        if text.first() == Some(&packed::MARK) {
            return Self::unpack(&text);
        }
        text.push(0);
        let all = Value::parse_json(&text).ok_or("the request is not JSON")?;
        drop(text);
        let code = all.own_data(c"code").to_string_lossy().ok_or("the request has no code")?;
        let args = all.own_data(c"args");
        Ok(Self {
            code,
            random_seed: number(&all.own_data(c"random_seed")),
            result_bytes_max: size(&all.own_data(c"result_bytes_max"), RESULT_BYTES_MAX),
            log_bytes_max: size(&all.own_data(c"log_bytes_max"), LOG_BYTES_MAX),
            file: all.own_data(c"file").to_string_lossy(),
            providers: providers(&all.own_data(c"providers"))?,
            args: (args.kind() != Kind::Undefined).then_some(args),
        })
    }

    fn unpack(bytes: &[u8]) -> Result<Self, &'static str> {
        let packed = packed::read(bytes).ok_or("the request is not well formed")?;
        let args = match packed.args {
            None => None,
            Some(json) => {
                let text = [json, &[0]].concat();
                Some(Value::parse_json(&text).ok_or("the arguments are not JSON")?)
            }
        };
        let names = |tools: Vec<&str>| tools.into_iter().map(str::to_owned).collect();
        Ok(Self {
            code: packed.code.to_owned(),
            random_seed: None,
            result_bytes_max: RESULT_BYTES_MAX,
            log_bytes_max: packed.log_bytes_max.map_or(LOG_BYTES_MAX, |it| it as usize),
            file: packed.file.map(str::to_owned),
            providers: packed
                .providers
                .into_iter()
                .map(|(name, tools)| (name.to_owned(), names(tools)))
                .collect(),
            args,
        })
    }

    /// Gives the program its arguments and its tools.
    pub fn inject(&self) -> Result<(), Failure> {
        web::show(self.file.is_some());
        let global = Value::global();
        if let Some(args) = &self.args {
            global.define(c"args", args.clone(), PLAIN);
        }
        for name in tools::taken_back() {
            global.delete(&name);
        }
        for (name, names) in &self.providers {
            // What the host hands over has the name, not what we would have put there.
            if web::NAMES.contains(&name.as_str()) {
                global.delete(name);
            }
            // The host refuses such names before; this is what they would break.
            if global.has(name) {
                let text = format!("Invalid provider namespace: {name}");
                return Err(Failure::new("internal_error", &text));
            }
            let namespace = tools::namespace(name, names);
            global.define(&CString::new(name.as_str()).unwrap_or_default(), namespace, PLAIN);
        }
        Ok(())
    }
}

impl Request {
    /// Whether the program was handed that tool.
    pub fn has_tool(&self, provider: &str, tool: &str) -> bool {
        self.providers.iter().any(|(name, tools)| name == provider && tools.iter().any(|it| it == tool))
    }
}

fn providers(list: &Value) -> Result<Vec<(String, Vec<String>)>, &'static str> {
    let mut all = Vec::new();
    if list.kind() != Kind::Object {
        return Ok(all);
    }
    let wrong = "a provider needs a name and a list of tools";
    let mut at = 0;
    while let Some(provider) = list.at(at) {
        let name = provider.own_data(c"name").to_string_lossy().ok_or(wrong)?;
        let tools = provider.own_data(c"tools");
        if name.contains('\0') || tools.kind() != Kind::Object {
            return Err(wrong);
        }
        let mut names = Vec::new();
        while let Some(tool) = tools.at(names.len() as u32) {
            let name = tool.to_string_lossy().filter(|it| !it.contains('\0')).ok_or(wrong)?;
            names.push(name);
        }
        all.push((name, names));
        at += 1;
    }
    Ok(all)
}

/// A number, by its digits: seeds are larger than small integers.
fn number(value: &Value) -> Option<u64> {
    if value.kind() == Kind::Undefined {
        return None;
    }
    value.to_text()?.to_string_lossy()?.parse().ok()
}

fn size(value: &Value, default: usize) -> usize {
    number(value).and_then(|it| usize::try_from(it).ok()).unwrap_or(default)
}
