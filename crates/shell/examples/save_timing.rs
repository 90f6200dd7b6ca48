//! What saving a shell after a line costs: `cargo run --release -p drydock-shell --example save_timing`.

// A chore for people: it prints, and looks at the real clock.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

#[path = "../tests/shell_room/mod.rs"]
mod shell_room;

use std::time::{Duration, Instant};

use shell_room::{Room, room};

const ROUNDS: u32 = 2_000;

/// Time of `save` alone after each of many runs of a line; the middle of what was seen.
fn after(room: &mut Room, line: &str) -> Duration {
    room.shell.save().unwrap();
    let mut all: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            room.run(line);
            let started = Instant::now();
            let saved = room.shell.save();
            let took = started.elapsed();
            saved.unwrap();
            took
        })
        .collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// Time of many saves in a row, each.
fn in_a_row(room: &mut Room) -> Duration {
    let started = Instant::now();
    for _ in 0..ROUNDS * 50 {
        std::hint::black_box(room.shell.save().unwrap());
    }
    started.elapsed() / (ROUNDS * 50)
}

fn main() {
    let mut few = room();
    for i in 0..20 {
        few.run(&format!("v{i}='the value of a variable of forty characters'"));
    }
    println!("nothing changed, saves in a row          {:>9.3?}", in_a_row(&mut few));
    println!("only $?, PIPESTATUS and $_ changed       {:>9.3?}", after(&mut few, "false | true $RANDOM"));
    println!("one of 40 variables changed              {:>9.3?}", after(&mut few, "v1=$RANDOM"));
    let mut many = few;
    for i in 0..200 {
        many.run(&format!("function_{i}() {{\n  local x=$1\n  if [ \"$x\" = {i} ]; then echo \"it is $x\"; fi\n  v{i}=$x\n}}"));
    }
    println!("200 functions, nothing changed           {:>9.3?}", in_a_row(&mut many));
    println!("200 functions, one variable changed      {:>9.3?}", after(&mut many, "v1=$RANDOM"));
    println!("200 functions, one of them defined anew  {:>9.3?}", after(&mut many, "function_1() { :; }"));
    let saved = many.shell.save().unwrap();
    let bytes = saved.to_vec();
    let started = Instant::now();
    let restored = many.restored_from(&bytes).unwrap();
    println!("restoring that ({} bytes)              {:>9.3?}", bytes.len(), started.elapsed());
    drop(restored);
}
