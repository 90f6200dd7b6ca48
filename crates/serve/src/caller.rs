//! Who asks: the tenant that the token names, and the most that the token may ask for.

use std::sync::Arc;

use axum::http::{Extensions, HeaderMap, StatusCode, header};
use drydock_contract::{
    AgentHead, Cap, GrantSpec, Must, Review, ReviewAnswer, Scalar, Tenant, Timestamp,
    host::{PRIVATE, SCHEME},
    port::Clock as _,
};
use drydock_embed::{HostEntry, SystemClock, UrlEntry, agent::run_of_workspace, gate::Profile, store::Token};

use crate::{
    agents::is_over_http,
    app::{Reach, Shared, TenantState},
    error::ApiError,
    local::Local,
};

/// Who asks.
#[derive(Clone)]
pub(crate) struct Caller {
    pub(crate) tenant: Tenant,
    pub(crate) state: Arc<TenantState>,
    /// What the gate calls it.
    pub(crate) principal: Arc<str>,
    /// None for the developer on loopback, before there is any token.
    pub(crate) token: Option<Arc<Token>>,
}

/// What a route takes of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Power {
    /// Nothing: anybody may ask.
    Open,
    /// Requests to extensions.
    Invoke,
    /// Installing, listing and removing extensions.
    Install,
    /// Naming, keeping and forgetting secrets.
    Secrets,
    /// Commands, lines and programs.
    Run,
    /// Workspaces.
    Workspaces,
    /// What guests keep: values by key, and messages.
    Kept,
    /// Runs of agents, whose models cost the operator's money: only where a token names it.
    Agents,
    /// Answering what runs of agents ask a person: only where a token names it.
    Reviews,
    /// The tenant's own records.
    Audit,
    /// Figures about the whole process, so of all tenants: only where a token names it.
    Metrics,
}

impl Power {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Invoke => "invoke",
            Self::Install => "install",
            Self::Secrets => "secrets",
            Self::Run => "run",
            Self::Workspaces => "workspaces",
            Self::Kept => "kept",
            Self::Agents => "agents",
            Self::Reviews => "reviews",
            Self::Audit => "audit",
            Self::Metrics => "metrics",
        }
    }
}

/// Named sets of powers are the command line's: over HTTP there is one.
pub(crate) const PROFILE: &str = "minimal";

/// The principal of whoever asks without a token.
const DEVELOPER: &str = "http";
/// The principal of whoever owns the data directory.
const OWNER: &str = "cli";

/// Finds out who asks.
pub(crate) fn identify(
    app: &Shared,
    headers: &HeaderMap,
    extensions: &Extensions,
) -> Result<Caller, ApiError> {
    if extensions.get::<Local>().is_some() {
        let tenant = Tenant::default();
        let state = app.tenant(&tenant);
        return Ok(Caller { tenant, state, principal: OWNER.into(), token: None });
    }
    let unknown = |text: &str| ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", text);
    let Some(given) = headers.get(header::AUTHORIZATION).filter(|it| is_bearer(it.as_bytes())) else {
        if app.settings.reach == Reach::Loopback && !app.tokens.any()? {
            let tenant = Tenant::default();
            let state = app.tenant(&tenant);
            return Ok(Caller { tenant, state, principal: DEVELOPER.into(), token: None });
        }
        return Err(unknown("a bearer token is needed: `drydock token add` makes one"));
    };
    let text = given.to_str().ok().and_then(|it| it.get(BEARER.len()..)).map(str::trim).unwrap_or_default();
    let found = app.tokens.find(text, now())?;
    let token = found.ok_or_else(|| unknown("this token is none, was removed, or its time is over"))?;
    let (tenant, state) = (token.tenant.clone(), app.tenant(&token.tenant));
    let principal = format!("{DEVELOPER}:{}", token.id).into();
    Ok(Caller { tenant, state, principal, token: Some(token) })
}

const BEARER: &str = "Bearer ";

/// Whether a value is a token for this server, and nothing that a guest is to see.
pub(crate) fn is_bearer(value: &[u8]) -> bool {
    value.get(..BEARER.len()).is_some_and(|it| it.eq_ignore_ascii_case(BEARER.as_bytes()))
}

fn now() -> Timestamp {
    SystemClock.now()
}

impl Caller {
    /// Refuses a route that the token does not have.
    pub(crate) fn may(&self, power: Power) -> Result<(), ApiError> {
        let Some(token) = &self.token else { return Ok(()) };
        let held = match &token.ceiling.powers {
            None => !matches!(power, Power::Metrics | Power::Agents | Power::Reviews),
            Some(powers) => powers.iter().any(|it| it == power.name()),
        };
        if held { Ok(()) } else { Err(beyond("power", power.name())) }
    }

    /// Refuses a host that the token may not give to an extension.
    pub(crate) fn may_allow(&self, host: &HostEntry) -> Result<(), ApiError> {
        if self.has_host(|it| host.is_within(it)) { Ok(()) } else { Err(beyond("host", &host.to_string())) }
    }

    /// Refuses a part of a host, unless the token may give all of the host.
    pub(crate) fn may_allow_url(&self, url: &UrlEntry) -> Result<(), ApiError> {
        if self.has_host(|it| url.is_within(it)) { Ok(()) } else { Err(beyond("url", &url.to_string())) }
    }

    /// Whether one of the token's hosts is such a one; whoever needs no token has every host.
    fn has_host(&self, fits: impl Fn(&HostEntry) -> bool) -> bool {
        let Some(token) = &self.token else { return true };
        token.ceiling.hosts.iter().filter_map(|it| it.parse().ok()).any(|it| fits(&it))
    }

    /// Refuses to end a run, or to answer for it, that another door opened: where there is no token, nobody named the power to.
    pub(crate) fn may_decide(&self, run: &AgentHead) -> Result<(), ApiError> {
        if self.token.is_some() || self.is_owner() || is_over_http(&run.principal) {
            return Ok(());
        }
        let text = "this run was opened on the command line, and that decides for it; over HTTP a token that names the power does";
        Err(ApiError::forbidden("another_principal", text))
    }

    /// Refuses to change the own files of a run that somebody else opened and that is not over: what a person is asked about
    /// may lie in them.
    pub(crate) async fn may_change(&self, workspace: &str) -> Result<(), ApiError> {
        let Some(run) = run_of_workspace(workspace) else { return Ok(()) };
        let head = match self.state.dock.agents().show(&run).await.map_err(ApiError::from) {
            Ok(head) => head,
            // It is only called like one.
            Err(absent) if absent.status == StatusCode::NOT_FOUND => return Ok(()),
            Err(error) => return Err(error),
        };
        if head.status.is_over() || self.is_owner() || *head.principal == *self.principal {
            return Ok(());
        }
        let text = "these are the files of a run that another caller opened and that is not over; only they change them";
        Err(ApiError::forbidden("another_principal", text))
    }

    /// Refuses a yes that would give a run more than the caller could have given it in opening it. A no is everybody's who
    /// may decide.
    pub(crate) fn may_answer(
        &self,
        run: &AgentHead,
        review: &Review,
        answer: &ReviewAnswer,
    ) -> Result<(), ApiError> {
        self.may_decide(run)?;
        match (&review.grant, answer) {
            (None, _) | (_, ReviewAnswer::Deny { .. }) => Ok(()),
            (Some(_), _) if self.is_owner() => Ok(()),
            (Some(grant), _) => match GrantSpec::parse(grant.to_string().as_bytes()) {
                Ok(grant) => self.may_give(&grant),
                Err(_) => Err(beyond("a grant", "that cannot be read")),
            },
        }
    }

    /// Refuses a grant that is more than what opens a run over HTTP could have had in it.
    fn may_give(&self, grant: &GrantSpec) -> Result<(), ApiError> {
        let cap = grant.cap;
        match cap {
            Cap::Net | Cap::Browse | Cap::Tcp | Cap::Tls | Cap::Udp => {
                let all = grant.subjects.as_deref().ok_or_else(|| beyond(cap.as_str(), "for every host"))?;
                all.iter().try_for_each(|subject| {
                    let host = host_of(grant, subject.as_str());
                    self.may_allow(&host.ok_or_else(|| beyond(cap.as_str(), subject.as_str()))?)
                })
            }
            Cap::Kv | Cap::Queue => self.may(Power::Kept),
            _ if may_be_asked_for(cap) => Ok(()),
            _ => Err(beyond("the capability", cap.as_str())),
        }
    }

    /// Whether this is whoever owns the data directory.
    fn is_owner(&self) -> bool {
        self.token.is_none() && *self.principal == *OWNER
    }

    /// The time that was asked for, or the usual, unless it is more than the token may ask for.
    pub(crate) fn timeout_ms(&self, asked: Option<u64>, usual: u64) -> Result<u64, ApiError> {
        within("timeout_ms", asked, usual, self.token.as_ref().and_then(|it| it.ceiling.limits.timeout_ms))
    }

    /// How long a request waits for what comes: not at all if it is not said, and within the same time.
    pub(crate) fn wait_ms(&self, asked: Option<u64>) -> Result<u64, ApiError> {
        within("wait_ms", asked, 0, self.token.as_ref().and_then(|it| it.ceiling.limits.timeout_ms))
    }

    /// The memory that was asked for, likewise.
    pub(crate) fn memory_mb(&self, asked: Option<u64>, usual: u64) -> Result<u64, ApiError> {
        within("memory_mb", asked, usual, self.token.as_ref().and_then(|it| it.ceiling.limits.memory_mb))
    }

    /// How many of its requests may run at once.
    pub(crate) fn in_flight_max(&self) -> u32 {
        self.token.as_ref().and_then(|it| it.ceiling.limits.in_flight).unwrap_or(u32::MAX)
    }
}

/// What a subject of a grant names, as a rule for hosts that is as wide at least. No address that is not public is opened over
/// HTTP, whatever somebody answers.
fn host_of(grant: &GrantSpec, subject: &str) -> Option<HostEntry> {
    let scheme = grant.rules.iter().find_map(|it| match &it.must {
        Must::Equal(Scalar::Text(scheme)) if it.argument == SCHEME => Some(format!("{scheme}://")),
        _ => None,
    });
    let named = !subject.starts_with(PRIVATE) && subject.contains(':');
    named.then(|| format!("{}{subject}", scheme.unwrap_or_default()).parse().ok())?
}

/// Whether a run over HTTP may have this by being asked for. Commands are said by name, and tools and models by being an
/// agent: none of these is given by an answer.
fn may_be_asked_for(cap: Cap) -> bool {
    cap == Cap::Exec || (!SAID.contains(&cap) && Profile::named(PROFILE).granted().contains(cap))
}

/// What a run has by being an agent, or by the names of its commands.
pub(crate) const SAID: [Cap; 4] = [Cap::Exec, Cap::Tool, Cap::Llm, Cap::Code];

fn within(name: &str, asked: Option<u64>, usual: u64, most: Option<u64>) -> Result<u64, ApiError> {
    match (asked, most) {
        (Some(asked), Some(most)) if asked > most => {
            Err(beyond(name, &format!("{asked}, and the most is {most}")))
        }
        (Some(asked), _) => Ok(asked),
        (None, most) => Ok(usual.min(most.unwrap_or(u64::MAX))),
    }
}

/// A wish that is more than the token may have.
fn beyond(what: &str, which: &str) -> ApiError {
    ApiError::forbidden("beyond_ceiling", format!("this caller may not have {what} {which}"))
}
