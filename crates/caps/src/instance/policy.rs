//! Is the module there, is the kernel the session's own, does the request say who it is for as its host does, and how much
//! may it take?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::{
    lembeh::run::RunGuest,
    runner::{
        AskedLimits, BadRequest, ContextFrom, EffectiveLimits, Invoke, MEMORY_MB, PreparedRequest,
        REQUEST_BODY_BYTES_MAX, TIMEOUT_MS,
    },
};
use drydock_contract::{
    Artifact, Denial, Digest, Kernel, Limits, Tenant,
    port::{LiveInstance, Subjects},
};
use drydock_gate::{Refused, Session};

use super::{
    Shelf,
    request::{Asked, Request},
};
use crate::{lembeh::RunReady, program::short, shelf::Place};

/// A request that may be carried out.
pub struct Ready {
    pub(super) subjects: Subjects,
    pub(super) act: Act,
}

pub(crate) enum Act {
    Invoke(Box<InvokeReady>),
    Run(Box<RunReady>),
    Open(OpenReady),
    Call(CallReady),
    Close(u64),
}

pub(crate) struct InvokeReady {
    pub(crate) artifact: Artifact,
    pub(crate) request: PreparedRequest,
    /// As the guest is shown them, and as its lines are tagged.
    pub(crate) tenant: String,
    pub(crate) extension: String,
    pub(crate) limits: EffectiveLimits,
}

pub(crate) struct OpenReady {
    pub(crate) artifact: Artifact,
    pub(crate) kernel: Kernel,
    pub(crate) memory_bytes_max: u64,
    pub(crate) place: Place,
}

pub(crate) struct CallReady {
    pub(crate) instance: Arc<dyn LiveInstance>,
    pub(crate) wall_max: Duration,
    pub(crate) input: Bytes,
}

pub(super) fn check(shelf: &Arc<Shelf>, session: &Session, request: Request) -> Result<Ready, Refused> {
    let subjects: Subjects = match request.module() {
        None => short(request.subject()).into(),
        Some(module) => [short(request.subject()), module.into()].into(),
    };
    match act(shelf, session, request.asked) {
        Ok(act) => Ok(Ready { subjects, act }),
        Err(denial) => Err(Refused { denial, subjects }),
    }
}

fn act(shelf: &Arc<Shelf>, session: &Session, asked: Asked) -> Result<Act, Denial> {
    let module = |digest: Digest| {
        let missing = || Denial::Malformed(format!("no module {digest} was handed over"));
        shelf.module(digest).ok_or_else(missing)
    };
    let own = |id: u64, module: Digest| {
        let missing = || Denial::Malformed(format!("this session has no kernel {id} of module {module}"));
        shelf.kernel(session, id, module).ok_or_else(missing)
    };
    let spec = session.spec();
    match asked {
        Asked::Invoke(invoke) => {
            let artifact = module(invoke.module)?;
            let Invoke { extension, context_from, sent, .. } = *invoke;
            let request = sent.request.map_err(|bad| match bad {
                BadRequest::BodyTooLarge(bytes) => {
                    Denial::TooLarge { what: "request body", bytes, max: REQUEST_BODY_BYTES_MAX }
                }
                BadRequest::Malformed(_) => Denial::Malformed(bad.to_string()),
            })?;
            let (tenant, extension) = shown(&spec.tenant, extension, context_from, &request)?;
            let limits = effective(request.asked, &spec.limits);
            Ok(Act::Invoke(Box::new(InvokeReady { artifact, request, tenant, extension, limits })))
        }
        Asked::Run(guest) => {
            let RunGuest { module: digest, host, limits } = *guest;
            Ok(Act::Run(Box::new(RunReady { artifact: module(digest)?, host, limits })))
        }
        Asked::Open(open) => {
            let artifact = module(open.module)?;
            let place = shelf.reserve(session, open.module)?;
            let most = spec.limits.memory_bytes_max;
            let memory_bytes_max = open.memory_bytes_max.unwrap_or(most).min(most);
            Ok(Act::Open(OpenReady { artifact, kernel: open.kernel, memory_bytes_max, place }))
        }
        Asked::Close { id, module } => {
            own(id, module)?;
            Ok(Act::Close(id))
        }
        Asked::Call { id, module, wall_ms, input } => {
            let instance = own(id, module)?;
            let wall_max = Duration::from_millis(wall_ms).min(spec.call_wall_max);
            Ok(Act::Call(CallReady { instance, wall_max, input }))
        }
    }
}

/// The tenant and the extension that the guest is shown: the session's and the host's, with which a request that names
/// them agrees. Only a developer's request is believed.
fn shown(
    tenant: &Tenant,
    extension: String,
    from: ContextFrom,
    request: &PreparedRequest,
) -> Result<(String, String), Denial> {
    let is_developer = from == ContextFrom::Request && *tenant == Tenant::default();
    let said = [
        ("tenant_id", &request.context.tenant_id, tenant.as_str().to_owned()),
        ("extension_id", &request.context.extension_id, extension),
    ];
    let [tenant, extension] = said.map(|(member, said, ours)| match said {
        Some(said) if *said != ours && !is_developer => Err(Denial::Malformed(format!(
            "`context.{member}` is `{}`, and the call is for `{ours}`: leave it out, or send it to where it belongs",
            short(said).escape_debug()
        ))),
        Some(said) => Ok(said.clone()),
        None => Ok(ours),
    });
    Ok((tenant?, extension?))
}

/// What was asked for or is usual, and no more than the session has.
fn effective(asked: AskedLimits, most: &Limits) -> EffectiveLimits {
    let wall_ms = u64::try_from(most.wall_max.as_millis()).unwrap_or(u64::MAX);
    let fuel = asked.fuel.unwrap_or(u64::MAX).min(most.fuel_max);
    EffectiveLimits {
        timeout_ms: asked.timeout_ms.unwrap_or(TIMEOUT_MS).min(wall_ms),
        memory_mb: asked.memory_mb.unwrap_or(MEMORY_MB).min(most.memory_bytes_max >> 20),
        fuel: (fuel < u64::MAX).then_some(fuel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_the_usual_ones_the_asked_ones_or_the_sessions_if_those_are_less() {
        let most = Limits {
            wall_max: Duration::from_secs(60),
            memory_bytes_max: 1 << 30,
            fuel_max: u64::MAX,
            ..Limits::default()
        };
        let told = |asked, most: &Limits| {
            let told = effective(asked, most);
            (told.timeout_ms, told.memory_mb, told.fuel)
        };
        let asked = |timeout_ms, memory_mb, fuel| AskedLimits { timeout_ms, memory_mb, fuel };
        assert_eq!(told(asked(None, None, None), &most), (5_000, 64, None));
        assert_eq!(told(asked(Some(7), Some(8), Some(9)), &most), (7, 8, Some(9)));
        let huge = Some(u64::MAX);
        assert_eq!(told(asked(huge, huge, huge), &most), (60_000, 1024, None));
        let small =
            Limits { wall_max: Duration::from_millis(3), memory_bytes_max: 4 << 20, fuel_max: 5, ..most };
        assert_eq!(told(asked(None, None, None), &small), (3, 4, Some(5)));
    }
}
