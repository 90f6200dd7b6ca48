//! Functions that jaq lacks, or that must speak through this guest's own streams.

use super::{base32, paths, table};
use crate::data::Kind;
use crate::{halt, output, stdio};
use jaq_core::box_iter::box_once;
use jaq_core::native::{Filter, Fun, bome, run, v};
use jaq_core::{Bind, Ctx, Error, Exn, RunPtr, compile::TermId};
use jaq_json::{Val, ValX};

/// Ours, to be put before jaq's.
pub fn funs() -> impl Iterator<Item = Fun<Kind>> {
    let funs: [Filter<RunPtr<Kind>>; 16] = [
        ("debug_empty", v(0), |cv| {
            stdio::print_error(format!("[\"DEBUG:\",{}]\n", output::compact(&cv.1)).as_bytes());
            Box::new(std::iter::empty())
        }),
        ("stderr_empty", v(0), |cv| {
            stdio::print_error(raw(&cv.1).as_bytes());
            Box::new(std::iter::empty())
        }),
        ("halt_error_native", [Bind::Var(())].into(), |mut cv| match status(&cv.0.pop_var()) {
            Ok(status) => {
                let end = if matches!(cv.1, Val::TStr(_)) { "" } else { "\n" };
                stdio::print_error((raw(&cv.1) + end).as_bytes());
                halt(status)
            }
            Err(error) => bome(Err(error)),
        }),
        ("input_filename", v(0), |cv| bome(Ok(cv.0.data().place.file().map_or(Val::Null, Val::from)))),
        ("input_line_number", v(0), |cv| bome(Ok(Val::from(cv.0.data().place.line())))),
        ("tojson", v(0), |cv| bome(Ok(Val::from(output::compact(&cv.1))))),
        ("setpath_native", v(2), |mut cv| {
            let (fresh, path) = (cv.0.pop_var(), cv.0.pop_var());
            bome(items(path).and_then(|path| paths::update(cv.1, &path, &mut |_| Ok(fresh.clone()))))
        }),
        ("assign_at", v(2), |mut cv| {
            let (fresh, all) = (cv.0.pop_var(), cv.0.pop_var());
            let set = |value, path| paths::update(value, &items(path)?, &mut |_| Ok(fresh.clone()));
            bome(items(all).and_then(|all| all.into_iter().try_fold(cv.1, set)))
        }),
        ("modify_at", [Bind::Var(()), Bind::Fun(())].into(), |mut cv| {
            let (change, all) = (cv.0.pop_fun(), cv.0.pop_var());
            box_once(items(all).map_err(Exn::from).and_then(|all| modify(cv.1, all, change)))
        }),
        ("delpaths_native", v(1), |mut cv| {
            let all = cv.0.pop_var();
            bome(items(all).and_then(|all| paths::delete(cv.1, all)))
        }),
        ("escape_html", v(0), |cv| bome(text(&cv.1).map(|it| Val::from(escape_html(&it))))),
        ("escape_csv", v(0), |cv| bome(table::csv(&cv.1))),
        ("escape_tsv", v(0), |cv| bome(table::tsv(&cv.1))),
        ("encode_base32", v(0), |cv| bome(text(&cv.1).map(|it| Val::from(base32::encode(it.as_bytes()))))),
        ("decode_base32", v(0), |cv| {
            let decoded =
                text(&cv.1).and_then(|it| base32::decode(&it).ok_or_else(|| not_decodable(&cv.1, "base32")));
            bome(decoded.map(|bytes| Val::from(String::from_utf8_lossy(&bytes).into_owned())))
        }),
        ("decode_base64", v(0), |cv| {
            let decoded =
                text(&cv.1).and_then(|it| base64(&it).ok_or_else(|| not_decodable(&cv.1, "base64")));
            bome(decoded.map(|bytes| Val::from(String::from_utf8_lossy(&bytes).into_owned())))
        }),
    ];
    funs.into_iter().map(run::<Kind>)
}

/// Replaces the value at each path by the first result for it; without one, it is deleted in the end.
fn modify<'a>(value: Val, all: Vec<Val>, (change, ctx): (TermId, Ctx<'a, Kind>)) -> ValX<'a> {
    let (mut value, mut gone) = (value, Vec::new());
    for path in all {
        let mut kept = true;
        value = paths::update(value, &items(path.clone())?, &mut |old: Val| match change
            .run((ctx.clone(), old))
            .next()
        {
            Some(new) => new,
            None => {
                kept = false;
                Ok(Val::Null)
            }
        })?;
        if !kept {
            gone.push(path);
        }
    }
    Ok(paths::delete(value, gone)?)
}

fn items(array: Val) -> Result<Vec<Val>, jaq_json::Error> {
    match array {
        Val::Arr(items) => Ok(std::rc::Rc::unwrap_or_clone(items)),
        _ => Err(Error::str("Path must be specified as an array")),
    }
}

/// As a message: a string as it is, anything else as JSON.
fn raw(value: &Val) -> String {
    match value {
        Val::TStr(text) => String::from_utf8_lossy(text).into_owned(),
        other => output::compact(other),
    }
}

fn status(value: &Val) -> Result<i32, jaq_json::Error> {
    match value {
        Val::Num(_) => Ok(jaq_std::ValT::as_f64(value).unwrap_or(5.0) as i32),
        _ => Err(Error::str("halt_error/1: number required")),
    }
}

fn text(value: &Val) -> Result<String, jaq_json::Error> {
    match value {
        Val::TStr(text) => Ok(String::from_utf8_lossy(text).into_owned()),
        other => Err(Error::typ(other.clone(), "string")),
    }
}

fn not_decodable(value: &Val, format: &str) -> jaq_json::Error {
    Error::str(format!("string ({}) is not valid {format} data", output::compact(value)))
}

fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(sign),
        }
    }
    out
}

/// Decodes with or without padding, as jq does; a lone last letter is dropped by neither.
fn base64(text: &str) -> Option<Vec<u8>> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok()
}
