//! The generated pages of `docs/reference`, compared with what the code says.
//! `DRYDOCK_WRITE_DOCS=1 cargo test -p drydock-embed --test reference` writes them.
#![allow(clippy::unwrap_used)]

use std::{fmt::Write as _, fs, path::Path};

use drydock_embed::{
    SPECS,
    contract::{Cap, Denial, Outcome},
    engine::{IMPORTS, OWN_IMPORTS, SERVING_IMPORTS},
    gate::{Audited, Profile, RUNGS},
};

const FIRST_LINE: &str =
    "<!-- generated, do not edit: DRYDOCK_WRITE_DOCS=1 cargo test -p drydock-embed --test reference -->";

fn check(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(page);
    let want = format!("{FIRST_LINE}\n{text}");
    if std::env::var_os("DRYDOCK_WRITE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &want).unwrap();
    }
    let have = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(have, want, "docs/reference/{page} is out of date; write it anew with `just docs`");
}

#[test]
fn the_page_of_capabilities_is_up_to_date() {
    let mut text = String::from("# Capabilities\n\n| capability | what it gives | state |\n|---|---|---|\n");
    for cap in Cap::ALL {
        let built = SPECS.iter().any(|spec| spec.cap == *cap) || *cap == Cap::Vfs;
        let state = match built {
            true => "built",
            false => "named, not built yet",
        };
        writeln!(text, "| `{cap}` | {} | {state} |", cap.summary()).unwrap();
    }
    text.push_str("\n`vfs` has no operation of its own: it is the preopened directory of WASI, and two imports below.\n");
    for spec in SPECS {
        writeln!(
            text,
            "\n## `{}`\n\n| operation | what it does | request at most | in flight | recorded |",
            spec.cap
        )
        .unwrap();
        text.push_str("|---|---|---|---|---|\n");
        for it in spec.operations {
            let recorded = match it.audited {
                Audited::Everything => "everything",
                Audited::Denials => "denials",
            };
            let flight = it.in_flight_max.map_or("–".to_owned(), |max| max.to_string());
            writeln!(
                text,
                "| `{}` | {} | {} bytes | {flight} | {recorded} |",
                it.name, it.summary, it.request_bytes_max
            )
            .unwrap();
        }
        text.push_str("\n| import | type |\n|---|---|\n");
        for it in spec.imports {
            writeln!(text, "| `{}.{}` | `{}` |", it.module, it.name, it.signature).unwrap();
        }
    }
    text.push_str(
        "\n## Imports without a call\n\nThey are answered from what the run has, and leave no record.\n\n| import | type | needs |\n|---|---|---|\n",
    );
    for (space, name, signature, cap) in OWN_IMPORTS {
        let needs = cap.map_or("nothing".to_owned(), |it| format!("`{it}`"));
        writeln!(text, "| `{space}.{name}` | `{signature}` | {needs} |").unwrap();
    }
    for (space, name, signature) in SERVING_IMPORTS {
        writeln!(text, "| `{space}.{name}` | `{signature}` | to be a serving guest |").unwrap();
    }
    check("capabilities.md", &text);
}

#[test]
fn the_page_of_profiles_is_up_to_date() {
    let mut text = String::from(
        "# Profiles\n\n| profile | memory | call | importable | granted |\n|---|---|---|---|---|\n",
    );
    for it in Profile::ALL {
        let [importable, granted] = [it.importable, it.granted()]
            .map(|caps| caps.iter().map(Cap::as_str).collect::<Vec<_>>().join(" "));
        let (memory, call) = (it.memory_bytes_max >> 20, it.call_max.as_secs());
        writeln!(text, "| `{}` | {memory} MiB | {call} s | {importable} | {granted} |", it.name).unwrap();
    }
    text.push_str(
        "\nAn unknown name is `compute`. A power that is importable and not granted reaches only what a grant names.\n",
    );
    check("profiles.md", &text);
}

#[test]
fn the_page_of_codes_is_up_to_date() {
    let mut text = String::from("# Codes\n\n## The ladder\n\n");
    for (number, rung) in RUNGS.iter().enumerate() {
        writeln!(text, "{}. {rung}", number + 1).unwrap();
    }
    text.push_str("\n## Denials\n\n| code | an example |\n|---|---|\n");
    for it in Denial::samples() {
        writeln!(text, "| `{}` | {it} |", it.code()).unwrap();
    }
    text.push_str("\n## Outcomes\n\n");
    for it in Outcome::samples() {
        writeln!(text, "- `{}`", it.code()).unwrap();
    }
    check("codes.md", &text);
}

#[test]
fn the_imports_in_the_specs_are_the_imports_the_engine_links() {
    let mut specified: Vec<_> =
        SPECS.iter().flat_map(|spec| spec.imports.iter().map(|it| (it.module, it.name, spec.cap))).collect();
    let mut linked = IMPORTS.to_vec();
    specified.sort();
    linked.sort();
    assert_eq!(specified, linked);
}
