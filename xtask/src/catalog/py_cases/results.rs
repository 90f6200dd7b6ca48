//! `drydock py --json`: what a program shows beside what it prints, and what it left in its files.

use std::{path::Path, process::Command};

use serde_json::{Value, json};

use super::said;

/// What it proves, the program, and members of the answer, by their JSON pointers.
type Row = (&'static str, &'static str, Vec<(&'static str, Value)>);

fn rows() -> Vec<Row> {
    vec![
        (
            "an image is the result of whoever shows one",
            "class P:\n    def _repr_png_(self): return b'\\x89PNG'\nP()",
            vec![(
                "/displays/0",
                json!({ "type": "image", "mediaType": "image/png", "encoding": "base64", "data": "iVBORw==" }),
            )],
        ),
        (
            "a data frame is a table",
            "class F:\n    columns, index = ['a', 'b'], [0, 1]\n    def __len__(self): return 2\n    def to_dict(self, how): \
             return {'columns': ['a', 'b'], 'index': [0, 1], 'data': [[1, 2.5], [3, float('nan')]]}\n    def _repr_html_(self): \
             return '<table>'\nF()",
            vec![(
                "/displays/0",
                json!({ "type": "table", "mediaType": "application/json", "columns": ["a", "b"], "index": [0, 1],
                    "rows": [[1, 2.5], [3, null]], "rowCount": 2 }),
            )],
        ),
        (
            "HTML, text and values are displayed in order",
            "class H:\n    def _repr_html_(self): return '<b>x</b>'\ndisplay(H(), 'plain', {'a'})\n5",
            vec![
                ("/displays/0", json!({ "type": "html", "mediaType": "text/html", "data": "<b>x</b>" })),
                ("/displays/1", json!({ "type": "text", "mediaType": "text/plain", "data": "plain" })),
                ("/displays/2/data", json!("{'a'}")),
                ("/result", json!(5)),
            ],
        ),
        (
            "a picture that is too large is told and not sent",
            "class P:\n    def _repr_png_(self): return bytes(3_000_000)\nP()",
            vec![("/displays/0/truncated", json!(true)), ("/status", json!(0))],
        ),
        (
            "a file that was written is listed",
            "open('/workspace/a.csv', 'w').write('1,2\\n')\nNone",
            vec![("/files/0/path", json!("/workspace/a.csv")), ("/status", json!(0))],
        ),
        (
            "an error has its code, line, traceback and hint",
            "x = 1\nimport pandas",
            vec![
                ("/error/code", json!("runtime_error")),
                ("/error/message", json!("ModuleNotFoundError: No module named 'pandas'")),
                ("/error/line", json!(2)),
                ("/error/hint", json!("pandas is part of python-data: drydock catalog add python-data")),
            ],
        ),
    ]
}

/// Answers what went otherwise.
pub(super) fn run(binary: &Path, home: &Path) -> anyhow::Result<Vec<String>> {
    let mut failed = Vec::new();
    for (name, code, wanted) in rows() {
        let mut command = Command::new(binary);
        command.args(["py", "--json", "-c", code]).env("DRYDOCK_HOME", home);
        let (stdout, stderr, _) = said(&mut command, "")?;
        let whole: Value = serde_json::from_str(&stdout).unwrap_or_default();
        for (pointer, want) in wanted {
            if whole.pointer(pointer) != Some(&want) {
                failed.push(format!("{name}: {pointer} is not {want}: {stdout} {stderr}"));
            }
        }
    }
    Ok(failed)
}
