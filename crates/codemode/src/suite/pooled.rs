//! What a pool adds: runners that live longer than an execution, and nothing else that does.

use serde_json::json;

use super::{programs, value};
use crate::executor::{ExecuteRequest, Executor as _, Pool};

/// `exposes lifecycle methods`: a pool is warmed, used and closed, and executes nothing after that.
pub async fn lives_from_prewarm_to_close(pool: &Pool) {
    pool.prewarm().await.expect("a runner starts");
    assert!(pool.idle() >= 1, "a warm runner waits");
    assert_eq!(value(&pool.execute(ExecuteRequest::new(programs::SIMPLE)).await), json!(2));
    assert!(pool.idle() >= 1, "and is used again");
    pool.close();
    assert_eq!(pool.idle(), 0);
    let late = pool.execute(ExecuteRequest::new(programs::SIMPLE)).await;
    assert_eq!(late.code().map(|it| it.as_str()), Some("internal_error"), "{late:?}");
}

/// `leaks nothing across pooled runs`: many executions on few runners, each in a fresh world.
pub async fn keeps_nothing_between_runs(pool: &Pool, rounds: usize) {
    for round in 0..rounds {
        let left = pool.execute(ExecuteRequest::new(programs::LEAVE)).await;
        assert_eq!(value(&left), json!("left"), "round {round}");
        let looked = pool.execute(ExecuteRequest::new(programs::LOOK)).await;
        assert_eq!(value(&looked), json!(["undefined", "undefined"]), "round {round}");
    }
}
