//! `jobs`, `wait`, `disown`, and the job control there is not.

use std::{future::poll_fn, task::Poll};

use drydock_contract::schedule;

use crate::state::{Env, Eval};

/// The place of `%1`, `%%`, `%+`, `%-`, `%name` or `%?text` among the jobs.
pub(super) fn position(env: &Env, spec: &str) -> Option<usize> {
    let wanted = spec.strip_prefix('%')?;
    let jobs = &env.jobs.list;
    match wanted {
        "" | "%" | "+" => jobs.len().checked_sub(1),
        "-" => jobs.len().checked_sub(2).or_else(|| jobs.len().checked_sub(1)),
        other => match other.parse::<u32>() {
            Ok(number) => jobs.iter().rposition(|job| job.number == number),
            Err(_) => match other.strip_prefix('?') {
                Some(text) => jobs.iter().position(|job| job.typed.contains(text)),
                None => jobs.iter().position(|job| job.typed.starts_with(other)),
            },
        },
    }
}

fn find(env: &Env, id: &str) -> Option<usize> {
    if id.starts_with('%') {
        return position(env, id);
    }
    let number = id.parse::<u32>().ok()?;
    env.jobs.list.iter().position(|job| job.id == number)
}

/// What is wrong with an argument that names no job, and the status of that.
fn stranger(id: &str) -> (String, i32) {
    if id.starts_with('%') {
        return (format!("{id}: no such job"), 127);
    }
    match id.parse::<u32>() {
        Ok(_) => (format!("pid {id} is not a child of this shell"), 127),
        Err(_) => (format!("`{id}': not a pid or valid job spec"), 1),
    }
}

pub(super) async fn wait(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut any, mut into, mut rest) = (false, None, args);
    while let [first, more @ ..] = rest {
        match first.as_str() {
            "-n" => any = true,
            "-f" | "--" => {}
            "-p" => {
                into = more.first().cloned();
                rest = more.get(1..).unwrap_or_default();
                continue;
            }
            other if other.len() > 1 && other.starts_with('-') => {
                env.complain(&format!("wait: {other}: invalid option")).await?;
                return Ok(2);
            }
            _ => break,
        }
        rest = more;
    }
    let mut status = 0;
    if any {
        return wait_any(env, rest, into).await;
    }
    if rest.is_empty() {
        while let Some(done) = env.jobs.list.first().map(|job| job.done.clone()) {
            match env.job_or_signal(&done).await {
                Some(_) => drop(env.jobs.list.remove(0)),
                None => return interrupted(env).await,
            }
        }
        // Of the process substitutions, the one that `$!` names.
        return match wait_process(env, env.jobs.last).await {
            Some(None) => interrupted(env).await,
            Some(Some(_)) | None => Ok(0),
        };
    }
    for id in rest {
        let Some(at) = find(env, id) else {
            let number = id.parse::<u32>().ok();
            let ended = match wait_process(env, number).await {
                Some(None) => return interrupted(env).await,
                Some(ended) => ended,
                None => number.and_then(|id| env.jobs.ended.get(&id).copied()),
            };
            if let Some(ended) = ended {
                status = ended;
                continue;
            }
            let (text, failed) = stranger(id);
            env.complain(&format!("wait: {text}")).await?;
            status = failed;
            continue;
        };
        let done = env.jobs.list[at].done.clone();
        match env.job_or_signal(&done).await {
            Some(ended) => {
                status = ended;
                leave(env, at, ended, into.as_deref());
            }
            None => return interrupted(env).await,
        }
    }
    Ok(status)
}

/// Waits for a process substitution: its status, or nothing if a signal came first. None if there is no such one.
async fn wait_process(env: &mut Env, id: Option<u32>) -> Option<Option<i32>> {
    let job = env.jobs.processes.iter().find(|job| Some(job.id) == id)?;
    let (id, done) = (job.id, job.done.clone());
    let status = env.job_or_signal(&done).await;
    if let Some(status) = status {
        env.jobs.take_process(id);
        env.jobs.remember(id, status);
    }
    Some(status)
}

/// Takes a job that ended off the list.
fn leave(env: &mut Env, at: usize, status: i32, into: Option<&str>) {
    let job = env.jobs.list.remove(at);
    env.jobs.remember(job.id, status);
    if let Some(name) = into {
        let _ = env.vars.set(name, job.id.to_string());
    }
}

async fn wait_any(env: &mut Env, ids: &[String], into: Option<String>) -> Eval<i32> {
    let mut wanted = Vec::new();
    for id in ids {
        match find(env, id) {
            Some(at) => wanted.push(env.jobs.list[at].id),
            None => {
                let (text, _) = stranger(id);
                env.complain(&format!("wait: {text}")).await?;
            }
        }
    }
    if ids.is_empty() {
        wanted = env.jobs.list.iter().map(|job| job.id).collect();
    }
    loop {
        let ended = env.jobs.list.iter().position(|job| wanted.contains(&job.id) && job.done.is_done());
        if let Some(at) = ended {
            let status = env.jobs.list[at].done.take().unwrap_or(127);
            leave(env, at, status, into.as_deref());
            return Ok(status);
        }
        if wanted.is_empty() {
            return Ok(127);
        }
        env.step().await?;
        let jobs: Vec<_> = env.jobs.list.iter().filter(|job| wanted.contains(&job.id)).collect();
        if jobs.is_empty() {
            return Ok(127);
        }
        poll_fn(|cx| {
            env.traps.inbox.listen(cx.waker());
            // Each of them is asked, so that each of them wakes us.
            let ended = jobs.iter().filter(|job| job.done.poll_done(cx)).count();
            if ended > 0 || env.traps.inbox.any() {
                return Poll::Ready(());
            }
            schedule::waits_inside();
            Poll::Pending
        })
        .await;
        // A signal that nobody takes must not keep the others from their turn.
        schedule::turn_done().await;
    }
}

async fn interrupted(env: &mut Env) -> Eval<i32> {
    let signal = env.traps.inbox.first();
    env.take_signals().await?;
    Ok(128 + i32::from(signal.unwrap_or_default()))
}

pub(super) async fn jobs(env: &mut Env, args: &[String]) -> Eval<i32> {
    let letters: String = args.iter().filter_map(|it| it.strip_prefix('-')).collect();
    if let Some(bad) = letters.chars().find(|it| !"lnprs".contains(*it)) {
        env.complain(&format!("jobs: -{bad}: invalid option")).await?;
        return Ok(2);
    }
    let mut lines = String::new();
    // A job that ended is told of at a prompt, and there is none.
    let running = env.jobs.listed();
    let count = running.len();
    for (index, job) in running.into_iter().enumerate() {
        let mark = match count - index {
            1 => '+',
            2 => '-',
            _ => ' ',
        };
        if letters.contains('s') {
            continue;
        }
        if letters.contains('p') {
            lines.push_str(&format!("{}\n", job.id));
            continue;
        }
        let pid = if letters.contains('l') { format!("{:>5} ", job.id) } else { String::new() };
        lines.push_str(&format!("[{}]{mark}  {pid}{:<24}{} &\n", job.number, "Running", job.typed));
    }
    env.print(&lines).await?;
    Ok(0)
}

pub(super) async fn disown(env: &mut Env, args: &[String]) -> Eval<i32> {
    let names: Vec<&String> = args.iter().filter(|it| !it.starts_with('-')).collect();
    if names.is_empty() {
        if args.iter().any(|it| it == "-a") {
            env.jobs.list.clear();
        } else {
            env.jobs.list.pop();
        }
        return Ok(0);
    }
    let mut status = 0;
    for name in names {
        match find(env, name) {
            Some(at) => drop(env.jobs.list.remove(at)),
            None => {
                env.complain(&format!("disown: {name}: no such job")).await?;
                status = 1;
            }
        }
    }
    Ok(status)
}

/// `fg` waits for a job, as it can be done without a terminal; `bg` has nothing to wake.
pub(super) async fn foreground(env: &mut Env, name: &str, args: &[String]) -> Eval<i32> {
    if !env.options.long("monitor").is_some_and(|it| *it) {
        env.complain(&format!("{name}: no job control")).await?;
        return Ok(1);
    }
    let at = position(env, args.first().map_or("%%", String::as_str));
    let Some(at) = at else {
        let which = args.first().map_or("current", String::as_str);
        env.complain(&format!("{name}: {which}: no such job")).await?;
        return Ok(1);
    };
    if name == "bg" {
        env.complain(&format!("bg: job {} already in background", env.jobs.list[at].number)).await?;
        return Ok(0);
    }
    let line = format!("{}\n", env.jobs.list[at].typed);
    env.print(&line).await?;
    let done = env.jobs.list[at].done.clone();
    match env.job_or_signal(&done).await {
        Some(status) => {
            leave(env, at, status, None);
            Ok(status)
        }
        None => interrupted(env).await,
    }
}
