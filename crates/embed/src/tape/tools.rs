//! What an embedder brings along, on a tape: its commands, and its tools of code mode. They run with its own rights, so
//! what they answer is the world's; a replay has their names, and calls none of them.

use std::sync::Arc;

use bytes::Bytes;
use drydock_codemode::provider::{Tool, ToolError};
use drydock_contract::{FailureCode, ToolFailure};
use drydock_store::{Frame, Seam, asked};

use super::{
    Player, Recorder,
    answer::{Reader, Writer},
    player::Reel,
    recorder::Shared,
    turn::{held, turn},
};
use crate::{HostCommands, HostInput, HostOutput};

fn digest(input: &HostInput) -> [u8; 16] {
    let words = |all: &[String]| all.iter().fold(Writer::default(), |out, it| out.text(it)).0;
    asked(&[&words(&input.args), &input.stdin, &words(&input.env)])
}

impl HostCommands {
    /// The same, with what they do written down.
    pub(super) fn recorded(&self, tape: &Arc<Shared>) -> Self {
        self.around(|name, body| {
            let (name, tape) = (name.to_string(), Arc::clone(tape));
            Arc::new(move |input: HostInput| {
                let (name, tape, asked) = (name.clone(), Arc::clone(&tape), digest(&input));
                let work = body(input);
                Box::pin(async move {
                    turn().await;
                    let output = held(work).await;
                    let HostOutput { status, stdout, stderr } = &output;
                    let answer = Writer::default().byte(*status).bytes(stdout).bytes(stderr).0;
                    tape.put(&Frame { seam: Seam::Command, call: 0, name, asked, answer });
                    output
                })
            })
        })
    }

    /// Their names, with what they did then.
    pub(super) fn played(&self, reel: &Arc<Reel>) -> Self {
        self.around(|name, _| {
            let (name, reel) = (name.to_string(), Arc::clone(reel));
            Arc::new(move |input: HostInput| {
                let (name, reel, asked) = (name.clone(), Arc::clone(&reel), digest(&input));
                Box::pin(async move {
                    turn().await;
                    played_output(&reel, &name, asked).unwrap_or_default()
                })
            })
        })
    }
}

fn played_output(reel: &Reel, name: &str, asked: [u8; 16]) -> Option<HostOutput> {
    let answer = reel.next(Seam::Command, 0, name, asked).ok()?;
    let mut reader = Reader::new(&answer);
    let mut read = || {
        let status = reader.byte()?;
        Some(HostOutput { status, stdout: reader.bytes()?.to_vec(), stderr: reader.bytes()?.to_vec() })
    };
    let output = read();
    if output.is_none() {
        reel.broken();
    }
    output
}

impl Recorder {
    /// An embedder's tool, with what it answers written down. Tools that are made of a prepared [`Setup`](crate::Setup)
    /// need none of this: what they do is recorded where it reaches the world.
    pub fn tool(&self, tool: Tool) -> Tool {
        let tape = Arc::clone(self.shared());
        tool.around(move |name, input, work| {
            let tape = Arc::clone(&tape);
            Box::pin(async move {
                let asked = asked(&[input.as_deref().unwrap_or_default(), &[u8::from(input.is_some())]]);
                turn().await;
                let answer = held(work).await;
                let bytes = match &answer {
                    Ok(bytes) => Writer::default().byte(0).bytes(bytes),
                    Err(ToolError::Message(text)) => Writer::default().byte(1).text(text),
                    Err(ToolError::Failure(failure)) => {
                        Writer::default().byte(2).text(failure.code.as_str()).text(&failure.message)
                    }
                    Err(ToolError::Silent) => Writer::default().byte(3),
                };
                let name = name.to_string();
                tape.put(&Frame { seam: Seam::Tool, call: 0, name, asked, answer: bytes.0 });
                answer
            })
        })
    }
}

impl Player {
    /// The name and the schemas of a tool, with what it answered then; its own body is gone.
    pub fn tool(&self, tool: Tool) -> Tool {
        let reel = Arc::clone(self.reel());
        tool.instead(move |name, input| {
            let asked = asked(&[input.as_deref().unwrap_or_default(), &[u8::from(input.is_some())]]);
            let (name, reel) = (name.to_owned(), Arc::clone(&reel));
            // Asked when it is waited for, as it was then.
            Box::pin(async move {
                turn().await;
                played_answer(&reel, &name, asked)
            })
        })
    }
}

fn played_answer(reel: &Reel, name: &str, asked: [u8; 16]) -> Result<Bytes, ToolError> {
    let over = || ToolError::from("the replay is over");
    let answer = reel.next(Seam::Tool, 0, name, asked).map_err(|_| over())?;
    let mut reader = Reader::new(&answer);
    let mut read = || {
        Some(match reader.byte()? {
            0 => Ok(Bytes::copy_from_slice(reader.bytes()?)),
            1 => Err(ToolError::Message(reader.text()?)),
            2 => {
                let code = FailureCode::known(&reader.text()?)?;
                Err(ToolError::Failure(ToolFailure::new(code, reader.text()?)))
            }
            3 => Err(ToolError::Silent),
            _ => return None,
        })
    };
    read().unwrap_or_else(|| {
        reel.broken();
        Err(over())
    })
}
