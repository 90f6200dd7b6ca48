//! A request through egress, which parses, judges, counts and bounds, against a bare call of the same hyper. Both open a
//! connection for it.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use anyhow::ensure;
use bytes::Bytes;
use drydock_embed::{
    contract::Tenant,
    egress::{Caller, Egress, Method, Parts, Policy, QuotaLimits, Request, Rules, Target, Unobserved},
};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use super::Bench;
use crate::{
    figure::{Amount, Bound, Figure},
    harness::{Contender, interleave},
};

pub(super) fn measure(bench: &Bench) -> anyhow::Result<Vec<Figure>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let router = axum::Router::new().fallback(async || "hello");
    runtime.spawn(async move { axum::serve(listener, router).await });
    let quota = QuotaLimits { requests_max: u32::MAX, bytes_max: u64::MAX, ..QuotaLimits::default() };
    let egress = Egress::new(Parts { quota, ..Parts::default() });
    let place = address.to_string();
    let policy = Policy::new(Rules::parse(&[], &[], &[place.as_str()])?, Vec::new());
    let principal = "bench".parse()?;
    let caller = Caller { tenant: Tenant::default(), principal, observer: Arc::new(Unobserved) };
    let samples = interleave(
        bench.plan,
        &mut [
            Contender::timing_itself(|calls| {
                runtime.block_on(async {
                    let mut seconds = Vec::new();
                    for _ in 0..calls {
                        let began = Instant::now();
                        let target: Target = format!("http://{place}/a?b=c").parse()?;
                        let answer =
                            egress.fetch(&caller, &policy, Request::new(Method::GET, target)).await?;
                        let body = answer.body.read_all().await?;
                        seconds.push(began.elapsed().as_secs_f64());
                        ensure!(body == "hello", "another answer");
                    }
                    Ok(seconds)
                })
            }),
            Contender::timing_itself(|calls| {
                runtime.block_on(async {
                    let mut seconds = Vec::new();
                    for _ in 0..calls {
                        let began = Instant::now();
                        let body = bare(address).await?;
                        seconds.push(began.elapsed().as_secs_f64());
                        ensure!(body == "hello", "another answer");
                    }
                    Ok(seconds)
                })
            }),
        ],
    )?;
    Ok(vec![Figure {
        group: "egress",
        name: "a request through egress: times as long as a bare call of hyper".into(),
        ours: Amount::Seconds(samples.seconds(0)),
        peer: Some(Amount::Seconds(samples.seconds(1))),
        judged: samples.ratio(0, 1),
        bound: Bound::Known,
    }])
}

async fn bare(address: SocketAddr) -> anyhow::Result<Bytes> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request =
        hyper::Request::get("/a?b=c").header("host", address.to_string()).body(Empty::<Bytes>::new())?;
    Ok(sender.send_request(request).await?.into_body().collect().await?.to_bytes())
}
