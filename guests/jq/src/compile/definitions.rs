//! Functions written in the language itself. Each is parsed only when a program mentions it.

/// Name, arity, and the definition.
const ALL: &[(&str, usize, &str)] = &[
    ("arrays", 0, r#"def arrays: select(type == "array");"#),
    ("objects", 0, r#"def objects: select(type == "object");"#),
    ("iterables", 0, r#"def iterables: select(type | . == "array" or . == "object");"#),
    ("booleans", 0, r#"def booleans: select(type == "boolean");"#),
    ("numbers", 0, r#"def numbers: select(type == "number");"#),
    ("strings", 0, r#"def strings: select(type == "string");"#),
    ("nulls", 0, "def nulls: select(. == null);"),
    ("values", 0, "def values: select(. != null);"),
    ("scalars", 0, r#"def scalars: select(type | . != "array" and . != "object");"#),
    ("normals", 0, "def normals: select(isnormal);"),
    ("finites", 0, "def finites: select(isfinite);"),
    ("leaf_paths", 0, "def leaf_paths: paths(scalars);"),
    ("in", 1, "def in(whole): . as $key | whole | has($key);"),
    ("inside", 1, "def inside(whole): . as $part | whole | contains($part);"),
    (
        "combinations",
        0,
        "def combinations: if length == 0 then [] else .[0][] as $head | (.[1:] | combinations) as $rest | [$head] + $rest end;",
    ),
    ("combinations", 1, "def combinations(count): . as $all | [range(count) | $all] | combinations;"),
    ("match", 1, "def match($re): _match($re; null)[];"),
    ("match", 2, "def match($re; $flags): _match($re; $flags)[];"),
    ("capture", 1, "def capture($re): _match($re; null)[] | _named;"),
    ("capture", 2, "def capture($re; $flags): _match($re; $flags)[] | _named;"),
    ("scan", 1, "def scan($re): scan($re; null);"),
    (
        "scan",
        2,
        r#"def scan($re; $flags): _match($re; "g" + $flags)[] | if .captures == [] then .string else [.captures[].string] end;"#,
    ),
    ("splits", 1, "def splits($re): split($re; null)[];"),
    ("splits", 2, "def splits($re; flags): split($re; flags)[];"),
    ("sub", 2, r#"def sub($re; text): _substitute($re; text; "");"#),
    ("sub", 3, "def sub($re; text; $flags): _substitute($re; text; $flags);"),
    ("gsub", 2, r#"def gsub($re; text): _substitute($re; text; "g");"#),
    ("gsub", 3, r#"def gsub($re; text; $flags): _substitute($re; text; $flags + "g");"#),
    (
        "fromstream",
        1,
        r#"def fromstream(events): {value: null, done: false} as $start | foreach events as $event ($start;
        (if .done then $start else . end)
        | if $event | length == 2
          then setpath(["done"]; $event[0] | length == 0) | setpath(["value"] + $event[0]; $event[1])
          else setpath(["done"]; $event[0] | length == 1) end;
        if .done then .value else empty end);"#,
    ),
    (
        "truncate_stream",
        1,
        r#"def truncate_stream(events): . as $depth | null | events | . as $event
        | if (.[0] | length) > $depth then setpath([0]; $event[0][$depth:]) else empty end;"#,
    ),
    ("INDEX", 1, "def INDEX(key): INDEX(.[]; key);"),
    ("INDEX", 2, "def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);"),
    ("JOIN", 2, "def JOIN($index; key): [.[] | [., $index[key]]];"),
    ("JOIN", 3, "def JOIN($index; rows; key): rows | [., $index[key]];"),
    ("JOIN", 4, "def JOIN($index; rows; key; joined): rows | [., $index[key]] | joined;"),
    ("IN", 1, "def IN(all): any(all == .; .);"),
    ("IN", 2, "def IN(rows; all): any(rows == all; .);"),
    ("todate", 0, "def todate: todateiso8601;"),
    ("fromdate", 0, "def fromdate: fromdateiso8601;"),
    ("date", 0, "def date: todate;"),
    ("dateadd", 2, "def dateadd(unit; count): . + count;"),
    ("datesub", 2, "def datesub(unit; count): . - count;"),
    ("todateiso8601", 0, r#"def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");"#),
    ("fromdateiso8601", 0, r#"def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;"#),
    ("ascii", 0, r#"def ascii: [.] | implode;"#),
    (
        "_nwise",
        1,
        "def _nwise($size): if length <= $size then . else .[:$size], (.[$size:] | _nwise($size)) end;",
    ),
    ("_nwise", 2, "def _nwise(all; $size): all | _nwise($size);"),
];

/// The definition of a name.
pub(super) fn find(name: &str, arity: usize) -> Option<(&'static str, &'static str)> {
    let found = ALL.iter().find(|(known, count, _)| *known == name && *count == arity)?;
    Some((found.0, found.2))
}

/// `name/arity` of each.
pub(super) fn names() -> impl Iterator<Item = String> {
    ALL.iter().map(|(name, arity, _)| format!("{name}/{arity}")).filter(|name| !name.starts_with('_'))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_definition_parses_and_has_the_name_and_arity_it_is_listed_under() {
        for (name, arity, text) in super::ALL {
            let all = crate::syntax::parse_definitions(text).unwrap_or_default();
            let found = all.first().map(|it| (it.name.as_str(), it.params.len()));
            assert_eq!(found, Some((*name, *arity)), "{text}");
        }
    }

    #[test]
    fn every_definition_compiles() {
        for (name, arity, _) in super::ALL {
            let args = vec!["."; *arity].join(";");
            let call = if *arity == 0 { (*name).to_owned() } else { format!("{name}({args})") };
            assert!(crate::compile::compile(&call, Vec::new(), &[]).is_ok(), "{call}");
        }
    }
}
