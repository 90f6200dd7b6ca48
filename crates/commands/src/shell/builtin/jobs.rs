//! `wait`, and the job control there is not.

use crate::shell::state::{Env, Eval};

pub(super) async fn wait(env: &mut Env, args: &[String]) -> Eval<i32> {
    let any = args.first().is_some_and(|it| it == "-n");
    let ids: Vec<&String> = args.iter().filter(|it| !it.starts_with('-')).collect();
    if any {
        if env.jobs.is_empty() {
            return Ok(127);
        }
        loop {
            if let Some(at) = env.jobs.iter().position(|job| job.done.is_done()) {
                let job = env.jobs.remove(at);
                return Ok(job.done.take().unwrap_or(127));
            }
            env.step().await?;
            crate::shell::tasks::yield_now().await;
        }
    }
    if ids.is_empty() {
        for job in std::mem::take(&mut env.jobs) {
            job.done.await;
        }
        return Ok(0);
    }
    let mut status = 0;
    for id in ids {
        let wanted = id.strip_prefix('%').unwrap_or(id);
        let by_number = id.starts_with('%');
        let at = match wanted.parse::<usize>() {
            Ok(number) if by_number => Some(number.wrapping_sub(1)).filter(|at| *at < env.jobs.len()),
            Ok(number) => env.jobs.iter().position(|job| job.id as usize == number),
            Err(_) => None,
        };
        let Some(at) = at else {
            env.complain(&format!("wait: pid {id} is not a child of this shell")).await?;
            status = 127;
            continue;
        };
        let job = env.jobs.remove(at);
        status = job.done.await;
    }
    Ok(status)
}

pub(super) async fn kill(env: &mut Env, args: &[String]) -> Eval<i32> {
    if let [flag, names @ ..] = args
        && matches!(flag.as_str(), "-l" | "-L")
    {
        return super::signals::list(env, "kill", names).await;
    }
    // `kill -0 id` asks whether it lives.
    if let [flag, id] = args
        && flag == "-0"
    {
        let lives = env.jobs.iter().any(|job| job.id.to_string() == *id && !job.done.is_done());
        return Ok(i32::from(!lives));
    }
    env.complain("kill: there are no signals here; a job ends with its line").await?;
    Ok(1)
}

pub(super) async fn refused(env: &mut Env, name: &str) -> Eval<i32> {
    if name == "jobs" && env.jobs.iter().all(|job| job.done.is_done()) {
        return Ok(0);
    }
    env.complain(&format!("{name}: there is no job control; use `&` and `wait`")).await?;
    Ok(1)
}
