//! Is the module there, is the kernel the session's own, and how much may it take?

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use drydock_abi::runner::{EffectiveLimits, Invoke, MEMORY_MB, TIMEOUT_MS};
use drydock_contract::{Artifact, Denial, Digest, Kernel, Limits, port::LiveInstance};
use drydock_gate::{Refused, Session};

use super::{
    Shelf,
    request::{Asked, Request},
};
use crate::{program::short, shelf::Place};

/// A request that may be carried out.
pub struct Ready {
    pub(super) subject: Arc<str>,
    pub(super) act: Act,
}

pub(crate) enum Act {
    Invoke(Box<InvokeReady>),
    Open(OpenReady),
    Call(CallReady),
    Close(u64),
}

pub(crate) struct InvokeReady {
    pub(crate) artifact: Artifact,
    pub(crate) invoke: Invoke,
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
    let subject = short(request.subject());
    let refused = |denial| Refused { denial, subject: Arc::clone(&subject) };
    let module = |digest: Digest| {
        let missing = || Denial::Malformed(format!("no module {digest} was handed over"));
        shelf.module(digest).ok_or_else(missing).map_err(refused)
    };
    let own = |id: u64| {
        let missing = || refused(Denial::Malformed(format!("this session has no kernel {id}")));
        shelf.kernel(session, id).ok_or_else(missing)
    };
    let limits = &session.spec().limits;
    let act = match request.asked {
        Asked::Invoke(invoke) => {
            let artifact = module(invoke.module)?;
            let limits = effective(&invoke, limits);
            Act::Invoke(Box::new(InvokeReady { artifact, invoke: *invoke, limits }))
        }
        Asked::Open(open) => {
            let artifact = module(open.module)?;
            let place = shelf.reserve(session).map_err(refused)?;
            let most = limits.memory_bytes_max;
            let memory_bytes_max = open.memory_bytes_max.unwrap_or(most).min(most);
            Act::Open(OpenReady { artifact, kernel: open.kernel, memory_bytes_max, place })
        }
        Asked::Close(id) => {
            own(id)?;
            Act::Close(id)
        }
        Asked::Call { id, wall_ms, input } => {
            let instance = own(id)?;
            Act::Call(CallReady {
                instance,
                wall_max: Duration::from_millis(wall_ms).min(limits.wall_max),
                input,
            })
        }
    };
    Ok(Ready { subject, act })
}

/// What was asked for or is usual, and no more than the session has.
fn effective(invoke: &Invoke, most: &Limits) -> EffectiveLimits {
    let asked = invoke.request.asked();
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
    use drydock_abi::runner::{AskedLimits, ExecuteRequest};

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
            let request = ExecuteRequest { limits: Some(asked), ..ExecuteRequest::default() };
            let (module, tenant, extension) = (Digest::of(b""), String::new(), String::new());
            let told = effective(&Invoke { module, tenant, extension, request }, most);
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
