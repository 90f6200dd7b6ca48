//! Everything a run needs, none of it real but the run.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Instant,
};

use drydock_abi::{
    broker::Answer,
    llm::{Asked, Complete, Completion, Script},
};
use drydock_agent::{
    DriveError, Driven, Driver, Event, Given, Host, Order, Purse, Run, RunOptions, Stop,
    tools::{CATALOGUE, ToolOutput, ToolText},
};
use drydock_contract::{
    AgentHead, AgentId, AgentStatus, BoxFuture, Call, CallError, Denial, Dispatch, Reply, ReviewAnswer,
    Streams, Tenant, Timestamp, ToolAnswer, ToolRequest,
    port::{AgentRefusal, Agents, Clock, LedgerError, RunHold},
};
use drydock_testkit::{MemoryAgents, block_on};
use serde_json::{Value, json};

/// What a tool of the table does.
pub(crate) enum Does {
    /// Answers after it was polled so often.
    Says(ToolAnswer, u32),
    /// Never answers.
    Hangs,
    /// The gate says no.
    Denied(Denial),
}

pub(crate) fn says(text: &str) -> Does {
    Does::Says(Ok(ToolOutput::text(text).to_json().into()), 0)
}

pub(crate) fn answers(output: ToolOutput) -> Does {
    Does::Says(Ok(output.to_json().into()), 0)
}

type Table = Box<dyn Fn(&str, &Value, usize) -> Does + Send + Sync>;
type Model = Box<dyn Fn(&Complete) -> Option<Result<Answer<Completion>, CallError>> + Send + Sync>;

/// A door behind which a script is the model and a table the tools.
pub(crate) struct Door {
    script: Script,
    table: Table,
    pub(crate) instead_of_model: Model,
    /// What was done, in order: `begin tool path`, `end tool path`, `drop tool path`.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    /// How often each call was carried out: by tool and arguments.
    pub(crate) done: Mutex<BTreeMap<String, usize>>,
    pub(crate) asked: Mutex<Vec<Complete>>,
    pub(crate) keeps_asked: bool,
}

struct Logged<T> {
    work: T,
    name: String,
    log: Arc<Mutex<Vec<String>>>,
    is_over: bool,
}

impl<T: Future + Unpin> Future for Logged<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        let polled = Pin::new(&mut self.work).poll(cx);
        if polled.is_ready() {
            self.is_over = true;
            self.log.lock().unwrap().push(format!("end {}", self.name));
        }
        polled
    }
}

impl<T> Drop for Logged<T> {
    fn drop(&mut self) {
        if !self.is_over {
            self.log.lock().unwrap().push(format!("drop {}", self.name));
        }
    }
}

/// Is ready after it was polled so often.
pub(crate) async fn polls(count: u32) {
    let mut left = count;
    std::future::poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Dispatch for Door {
    fn dispatch<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, CallError>> {
        let typed = call.typed.expect("the loop asks by values").value;
        if call.operation == "llm.complete" {
            let asked = typed.downcast::<Asked>().expect("a request for the model");
            if self.keeps_asked {
                self.asked.lock().unwrap().push(asked.request().clone());
            }
            let instead = (self.instead_of_model)(asked.request());
            let answer = instead.unwrap_or_else(|| Ok(self.script.answer(&asked)));
            return Box::pin(async { Ok(Reply::of_value(answer?, Streams::default())) });
        }
        assert_eq!(call.operation, "tool.call");
        let request = typed.downcast::<ToolRequest>().expect("a request for a tool");
        assert_eq!(&*request.provider, "agent");
        let input: Value = serde_json::from_slice(request.input.as_deref().unwrap()).unwrap();
        let name = format!("{} {input}", request.tool);
        self.log.lock().unwrap().push(format!("begin {name}"));
        let before = {
            let mut done = self.done.lock().unwrap();
            let count = done.entry(name.clone()).or_default();
            *count += 1;
            *count - 1
        };
        let does = (self.table)(&request.tool, &input, before);
        if matches!(does, Does::Denied(_)) {
            self.done.lock().unwrap().entry(name.clone()).and_modify(|it| *it -= 1);
        }
        let work: BoxFuture<'a, Result<ToolAnswer, CallError>> = Box::pin(async move {
            match does {
                Does::Says(answer, count) => {
                    polls(count).await;
                    Ok(answer)
                }
                Does::Hangs => std::future::pending().await,
                Does::Denied(denial) => Err(denial.into()),
            }
        });
        let logged = Logged { work, name, log: Arc::clone(&self.log), is_over: false };
        Box::pin(async move { Ok(Reply::of_value(logged.await?, Streams::default())) })
    }
}

/// A clock that moves by being looked at, and whose alarms ring after a few polls.
#[derive(Default)]
pub(crate) struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp((1_000 + self.0.fetch_add(1, Ordering::SeqCst)) * 1_000_000)
    }

    fn alarm(&self, _: Instant) -> Option<BoxFuture<'static, ()>> {
        Some(Box::pin(polls(20)))
    }
}

/// Remembers what it was told.
#[derive(Default)]
pub(crate) struct Memory {
    ids: AtomicU64,
    pub(crate) kept: Mutex<BTreeMap<String, String>>,
    pub(crate) snapshots: Mutex<Vec<u64>>,
    pub(crate) given: Mutex<Vec<Given>>,
    pub(crate) more: Mutex<Vec<(Purse, u64)>>,
    pub(crate) seen: Mutex<Vec<Event>>,
}

impl Host for Memory {
    fn fresh_id(&self) -> AgentId {
        AgentId::of(u128::from(self.ids.fetch_add(1, Ordering::SeqCst)) + 1)
    }

    fn keep_output<'a>(&'a self, step: u64, place: usize, output: &'a str) -> BoxFuture<'a, Option<String>> {
        let path = format!("/workspace/.drydock/{step}-{place}.txt");
        self.kept.lock().unwrap().insert(path.clone(), output.to_owned());
        Box::pin(async move { Some(path) })
    }

    fn snapshot(&self, step: u64) -> BoxFuture<'_, ()> {
        self.snapshots.lock().unwrap().push(step);
        Box::pin(async {})
    }

    fn give<'a>(&'a self, given: &'a Given) -> BoxFuture<'a, Result<(), String>> {
        self.given.lock().unwrap().push(given.clone());
        Box::pin(async { Ok(()) })
    }

    fn more(&self, purse: Purse, amount: u64) {
        self.more.lock().unwrap().push((purse, amount));
    }

    fn preview<'a>(&'a self, call: &'a drydock_abi::llm::ToolCall) -> BoxFuture<'a, Option<Value>> {
        let command = call.arguments.get("pipeline").cloned();
        Box::pin(async move { command.map(|it| json!({ "command": it })) })
    }

    fn on_events(&self, _: u64, events: &[Event], _: &AgentHead) {
        self.seen.lock().unwrap().extend_from_slice(events);
    }
}

/// A hold that fails at one append, before it wrote or after: as a disk that is full, or a process that is killed.
pub(crate) struct Failing<'a> {
    pub(crate) inner: &'a dyn RunHold,
    pub(crate) left: AtomicU64,
    pub(crate) writes: bool,
}

impl RunHold for Failing<'_> {
    fn run(&self) -> &AgentId {
        self.inner.run()
    }

    fn append<'a>(
        &'a self,
        at: u64,
        events: Vec<Vec<u8>>,
        head: AgentHead,
    ) -> BoxFuture<'a, Result<Result<(), AgentRefusal>, LedgerError>> {
        Box::pin(async move {
            let fails = self.left.fetch_sub(1, Ordering::SeqCst) == 0;
            let done = match fails && !self.writes {
                true => Ok(Ok(())),
                false => self.inner.append(at, events, head).await,
            };
            match fails {
                true => Err(LedgerError {
                    code: "ledger_no_space",
                    path: "memory".into(),
                    problem: "is full".into(),
                    cause: None,
                }),
                false => done,
            }
        })
    }

    fn sync(&self) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.inner.sync()
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        self.inner.cancelled()
    }
}

pub(crate) struct World {
    pub(crate) agents: MemoryAgents,
    pub(crate) tenant: Tenant,
    pub(crate) door: Door,
    pub(crate) clock: Ticks,
    pub(crate) host: Memory,
    pub(crate) order: Order,
}

pub(crate) fn run_id() -> AgentId {
    AgentId::of(0xface)
}

pub(crate) fn options() -> RunOptions {
    RunOptions { model: "m".into(), ..RunOptions::default() }
}

pub(crate) fn started(options: RunOptions) -> Vec<Event> {
    vec![Event::Started {
        at_ms: 1,
        system: "You are a clerk.".into(),
        task: "do it".into(),
        agent: None,
        options,
        opened_by: serde_json::Map::new(),
    }]
}

impl World {
    pub(crate) fn new(
        turns: &Value,
        table: impl Fn(&str, &Value, usize) -> Does + Send + Sync + 'static,
    ) -> Self {
        Self {
            agents: MemoryAgents::default(),
            tenant: Tenant::default(),
            door: Door {
                script: Script::parse(&turns.to_string()).unwrap(),
                table: Box::new(table),
                instead_of_model: Box::new(|_| None),
                log: Arc::default(),
                done: Mutex::default(),
                asked: Mutex::default(),
                keeps_asked: true,
            },
            clock: Ticks::default(),
            host: Memory::default(),
            order: Order::SideBySide,
        }
    }

    /// A run of one script whose tools all answer `ok`.
    pub(crate) fn saying_ok(turns: &Value) -> Self {
        Self::new(turns, |_, _, _| says("ok"))
    }

    pub(crate) fn head(&self) -> AgentHead {
        AgentHead {
            id: run_id(),
            status: AgentStatus::Running,
            principal: "ada".into(),
            agent: None,
            model: "m".into(),
            task: "do it".into(),
            workspace: None,
            parent: None,
            steps: 0,
            usage: Default::default(),
            started_ms: 1,
            updated_ms: 1,
            result: None,
            reason: None,
        }
    }

    pub(crate) fn driver<'a>(&'a self, hold: &'a dyn RunHold, tools: &'a [&'static ToolText]) -> Driver<'a> {
        Driver {
            door: &self.door,
            agents: &self.agents,
            tenant: &self.tenant,
            hold,
            host: &self.host,
            clock: &self.clock,
            timer: &self.clock,
            tools,
            order: self.order,
        }
    }

    pub(crate) fn drive_held(
        &self,
        hold: &dyn RunHold,
        run: Run,
        first: Vec<Event>,
    ) -> Result<Driven, DriveError> {
        let tools: Vec<_> = CATALOGUE.iter().collect();
        block_on(self.driver(hold, &tools).drive(run, self.head(), first))
    }

    pub(crate) fn create(&self) -> Box<dyn RunHold> {
        block_on(self.agents.create(&self.tenant, self.head())).unwrap().unwrap()
    }

    /// A new run, driven as far as it goes.
    pub(crate) fn start(&self, options: RunOptions) -> Driven {
        let hold = self.create();
        self.drive_held(&*hold, Run::default(), started(options)).unwrap()
    }

    pub(crate) fn result(&self, options: RunOptions) -> String {
        end_of(&self.start(options))
    }

    /// What is kept of the run.
    pub(crate) fn kept(&self) -> Vec<Event> {
        let events = block_on(self.agents.events(&self.tenant, &run_id(), 0, usize::MAX)).unwrap();
        events.iter().map(|it| Event::parse(it).unwrap()).collect()
    }

    /// The run from what is kept of it, driven on.
    pub(crate) fn go_on(&self, first: Vec<Event>) -> Driven {
        let hold = block_on(self.agents.hold(&self.tenant, &run_id())).unwrap().unwrap();
        self.drive_held(&*hold, Run::of(&self.kept()).unwrap(), first).unwrap()
    }

    /// Answers the only question there is.
    pub(crate) fn answer(&self, answer: ReviewAnswer) -> drydock_contract::Review {
        let wanted = drydock_contract::port::Wanted::Pending;
        let pending = block_on(self.agents.reviews(&self.tenant, None, wanted, 9, self.clock.now())).unwrap();
        let [review] = &pending[..] else { panic!("{pending:?}") };
        let now = self.clock.now();
        let answered = block_on(self.agents.answer(&self.tenant, &review.id, answer, "ada", now));
        answered.unwrap().unwrap();
        review.clone()
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.door.log.lock().unwrap().clone()
    }

    /// Names of events, with the code of a failed result.
    pub(crate) fn names(&self) -> String {
        let name = |it: &Event| match it {
            Event::Result { outcome: drydock_agent::CallOutcome::Failed { code }, .. } => {
                format!("result({code})")
            }
            Event::Ended { end: drydock_agent::RunEnd::Failed { code, .. }, .. } => format!("ended({code})"),
            other => other.name().to_owned(),
        };
        self.kept().iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// What the model was told by its last request.
    pub(crate) fn last_told(&self) -> String {
        let asked = self.door.asked.lock().unwrap();
        serde_json::to_string(&asked.last().unwrap().messages).unwrap()
    }
}

pub(crate) fn end_of(driven: &Driven) -> String {
    match &driven.stop {
        Stop::Ended(drydock_agent::RunEnd::Done { result }) => result.clone(),
        Stop::Ended(drydock_agent::RunEnd::Failed { code, .. }) => format!("failed: {code}"),
        Stop::Ended(drydock_agent::RunEnd::Cancelled) => "cancelled".into(),
        Stop::Paused { .. } => "paused".into(),
    }
}

/// A turn that calls these.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(name, arguments): &(&str, Value)| json!({ "name": name, "arguments": arguments });
    json!({ "tool_calls": calls.iter().map(call).collect::<Vec<_>>() })
}

pub(crate) fn said(text: &str) -> Value {
    json!({ "content": text })
}

pub(crate) fn done(result: &str) -> Value {
    calls(&[("done", json!({ "result": result }))])
}
