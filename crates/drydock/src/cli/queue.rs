//! `drydock queue`: the messages that a tenant's guests pass each other.

use std::{process::ExitCode, time::Duration};

use clap::{Args, Subcommand};
use drydock_embed::{
    contract::{Tenant, Timestamp},
    listing::{Listing, ROWS_MAX},
    queue::{
        ACK, ATTEMPTS, ATTEMPTS_MAX, Ack, BATCH_MAX, DEPTH, Depth, LEASE, LEASE_MS, Lease, MESSAGE_BYTES_MAX,
        Message, Messages, NACK, Nack, PEEK, PUBLISH, Peek, Publish, QueueRequest, QueueValue, Receipt,
        TOPICS,
    },
};

use super::kept::{Keeper, bytes, ended, told};
use crate::{show, units};

#[derive(Debug, Args)]
#[command(after_help = "\
Guests pass messages through the capability `queue`, where a grant names the topic; here is what a
tenant has of them. A message that was leased too often is in the topic with .dead behind its name.
drain takes nothing that it could not print; a batch of up to 256 whose output failed comes again, whole.

Examples:
  drydock queue topics
  drydock queue publish jobs '{\"id\": 7}'
  drydock queue peek jobs.dead --max 10
  drydock queue drain jobs > jobs.jsonl --json
  drydock queue lease jobs --for 5m")]
pub(crate) struct Queue {
    #[command(subcommand)]
    act: Act,
    /// Whose
    #[arg(long, value_name = "T", default_value_t = Tenant::default(), global = true)]
    tenant: Tenant,
    /// Print JSON, one message a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// List topics that have messages
    Topics {
        /// Only those that begin so
        #[arg(default_value = "", hide_default_value = true)]
        prefix: String,
        /// Only those behind this one
        #[arg(long, value_name = "TOPIC")]
        after: Option<String>,
    },
    /// Say how many messages a topic has
    Depth { topic: String },
    /// Show the first messages, which stay
    Peek {
        topic: String,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=i64::from(BATCH_MAX)))]
        max: u32,
    },
    /// Add a message
    Publish {
        topic: String,
        /// The message; - or nothing for stdin
        message: Option<String>,
    },
    /// Print messages with a receipt for each, and hide them for a while
    Lease {
        topic: String,
        /// How many at most
        #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=i64::from(BATCH_MAX)))]
        max: u32,
        /// For how long nobody else sees them [default: 30s]
        #[arg(long = "for", value_name = "TIME", value_parser = units::lifetime)]
        hidden: Option<Duration>,
    },
    /// Say that leased messages are done
    Ack {
        topic: String,
        #[arg(required = true)]
        receipts: Vec<Receipt>,
    },
    /// Give leased messages back
    Nack {
        topic: String,
        #[arg(required = true)]
        receipts: Vec<Receipt>,
    },
    /// Print all messages that can be taken, and take for good what was printed
    Drain {
        topic: String,
        /// How many at most [default: all]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        max: Option<u64>,
    },
}

pub(crate) fn run(queue: Queue) -> anyhow::Result<ExitCode> {
    let (tenant, json) = (queue.tenant.clone(), queue.json);
    ended(act(queue), &tenant, json)
}

fn act(queue: Queue) -> anyhow::Result<()> {
    let Queue { act, tenant, json } = queue;
    let (operation, request) = match act {
        Act::Topics { prefix, after } => {
            (TOPICS, QueueRequest::Topics(Listing::new(prefix, after, ROWS_MAX)))
        }
        Act::Depth { topic } => (DEPTH, QueueRequest::Depth(Depth { topic })),
        Act::Peek { topic, max } => (PEEK, QueueRequest::Peek(Peek { topic, max })),
        Act::Publish { topic, message } => {
            let messages = Messages::one(&bytes(message, MESSAGE_BYTES_MAX)?);
            (PUBLISH, QueueRequest::Publish(Publish { topic, messages }))
        }
        Act::Lease { topic, max, hidden } => {
            let visibility_ms =
                hidden.map_or(LEASE_MS, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX));
            let lease = Lease { topic, max, wait_ms: 0, visibility_ms, attempts_max: ATTEMPTS };
            (LEASE, QueueRequest::Lease(lease))
        }
        Act::Ack { topic, receipts } => (ACK, QueueRequest::Ack(Ack { topic, receipts })),
        Act::Nack { topic, receipts } => {
            (NACK, QueueRequest::Nack(Nack { topic, receipts, visibility_ms: 0 }))
        }
        Act::Drain { topic, max } => {
            return drain(&Keeper::of(&tenant)?, &topic, max.unwrap_or(u64::MAX), json);
        }
    };
    let keeper = Keeper::of(&tenant)?;
    match told(keeper.runtime.block_on(keeper.session.ask_queue(operation, request)))? {
        QueueValue::Messages(told) => print(told.messages, json)?,
        other if json => show::json(&other)?,
        QueueValue::Published(published) => show::line(&format!("the topic has {}", published.depth))?,
        QueueValue::Depth(deep) => {
            show::line(&format!("{}, {} hidden", count(deep.depth, "message"), deep.hidden))?
        }
        QueueValue::Settled(settled) => {
            show::line(&count(settled.settled, "message"))?;
            for unknown in &settled.unknown {
                crate::exit::warn(&format!(
                    "{unknown} is no lease any more: the message may be somebody else's"
                ));
            }
        }
        QueueValue::Topics(listed) if listed.topics.is_empty() => show::line("no topic has messages")?,
        QueueValue::Topics(listed) => {
            show::table(
                ["MESSAGES", "TOPIC"],
                listed.topics.into_iter().map(|it| [it.depth.to_string(), it.topic]),
            )?;
            if let Some(next) = listed.next {
                crate::exit::warn(&format!("there are more: go on with --after {}", show::plain(&next)));
            }
        }
    }
    Ok(())
}

/// Until there is none, or so many. A batch is leased, printed and only then taken for good: if it cannot be printed, all of
/// it can be taken again at once, and so it can once the lease ends if this process does.
fn drain(keeper: &Keeper, topic: &str, max: u64, json: bool) -> anyhow::Result<()> {
    let ask = |operation, request| keeper.runtime.block_on(keeper.session.ask_queue(operation, request));
    let mut left = max;
    while left > 0 {
        let lease = Lease {
            topic: topic.to_owned(),
            max: u32::try_from(left).unwrap_or(BATCH_MAX).min(BATCH_MAX),
            wait_ms: 0,
            visibility_ms: LEASE_MS,
            // A disk that is full is no fault of the message.
            attempts_max: ATTEMPTS_MAX,
        };
        let mut messages = match ask(LEASE, QueueRequest::Lease(lease)) {
            Ok(Err(failure)) if failure.code == "empty" => return Ok(()),
            answered => match told(answered)? {
                QueueValue::Messages(told) => told.messages,
                _ => return Ok(()),
            },
        };
        left = left.saturating_sub(messages.len() as u64);
        // To whoever reads them they were taken, and not leased.
        let receipts: Vec<Receipt> = messages.iter_mut().filter_map(|it| it.receipt.take()).collect();
        messages.iter_mut().for_each(|it| it.attempt = None);
        if let Err(error) = print(messages, json) {
            let back = Nack { topic: topic.to_owned(), receipts, visibility_ms: 0 };
            if let QueueValue::Settled(back) = told(ask(NACK, QueueRequest::Nack(back)))? {
                let told = count(back.settled, "message");
                crate::exit::warn(&format!("the output failed; {told} of the last batch stay in the topic"));
            }
            return Err(error);
        }
        let ack = Ack { topic: topic.to_owned(), receipts };
        if let QueueValue::Settled(taken) = told(ask(ACK, QueueRequest::Ack(ack)))?
            && !taken.unknown.is_empty()
        {
            let told = count(taken.unknown.len() as u64, "message");
            crate::exit::warn(&format!("printing took longer than a lease; {told} may come again"));
        }
    }
    Ok(())
}

fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// One on a line, for people; as they are where they are text.
fn print(messages: Vec<Message>, json: bool) -> anyhow::Result<()> {
    for it in messages {
        if json {
            show::json(&it)?;
            continue;
        }
        let head = match it.receipt {
            Some(receipt) => receipt.to_string(),
            None => Timestamp(it.published_ms.saturating_mul(1_000_000)).to_rfc3339(),
        };
        let text = String::from_utf8_lossy(&it.message.0);
        show::line(&format!("{head}  {}", show::plain(&text)))?;
    }
    Ok(())
}
