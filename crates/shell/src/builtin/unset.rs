//! `unset`.

use std::sync::Arc;

use crate::{
    state::{Env, Eval},
    syntax::is_name,
    vars::Value,
};

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut status = 0;
    let (mut functions, mut variables, mut reference) = (false, false, false);
    let mut options = true;
    for arg in args {
        match arg.as_str() {
            "--" if options => options = false,
            letters if options && letters.len() > 1 && letters.starts_with('-') => {
                for letter in letters.chars().skip(1) {
                    match letter {
                        'f' => functions = true,
                        'v' => variables = true,
                        'n' => reference = true,
                        other => {
                            env.complain(&format!("unset: -{other}: invalid option")).await?;
                            return Ok(2);
                        }
                    }
                }
            }
            name => {
                options = false;
                let base = name.split('[').next().unwrap_or_default();
                let named = is_name(base) && (!name.contains('[') || name.ends_with(']'));
                if !functions && !named && (variables || !env.definitions.functions.contains_key(name)) {
                    if variables || reference {
                        env.complain(&format!("unset: `{name}': not a valid identifier")).await?;
                        status = 1;
                    }
                    continue;
                }
                if functions {
                    Arc::make_mut(&mut env.define().functions).remove(name);
                    continue;
                }
                let known = env.vars.own(name).is_some();
                if !known && !variables && env.definitions.functions.contains_key(name) {
                    Arc::make_mut(&mut env.define().functions).remove(name);
                    continue;
                }
                let target = if reference { name.to_owned() } else { env.vars.resolve(name) };
                let result = match target.strip_suffix(']').and_then(|it| it.split_once('[')) {
                    Some((base, key)) => unset_element(env, base, key),
                    None => env.vars.unset(&target).map_err(|error| error.to_string()),
                };
                if let Err(error) = result {
                    env.complain(&format!("unset: {error}")).await?;
                    status = 1;
                }
            }
        }
    }
    Ok(status)
}

fn unset_element(env: &mut Env, base: &str, key: &str) -> Result<(), String> {
    if key == "@" || key == "*" {
        return env.vars.unset(base).map_err(|error| error.to_string());
    }
    let mut value = env.value(base);
    match &mut value {
        Value::Assoc(map) => {
            let key = env.key_text(key);
            map.remove(&key);
        }
        Value::Indexed(items) => {
            let key = &env.key_text(key);
            let mut index = env.compute(key).map_err(|error| error.0)?;
            if index < 0 {
                index =
                    index.saturating_add(items.keys().next_back().map_or(0, |last| last.saturating_add(1)));
                if index < 0 {
                    return Err(format!("[{key}]: bad array subscript"));
                }
            }
            items.remove(&index);
        }
        Value::Scalar(_) if key == "0" => return env.vars.unset(base).map_err(|error| error.to_string()),
        _ => return Ok(()),
    }
    env.vars.set_value(base, value).map_err(|error| error.to_string())
}
