//! Proofs for skills: the public format by field, and what allowed tools ask for.

use proptest::prelude::*;

use super::*;

fn skill(fields: &str) -> Result<SkillFile, SkillError> {
    SkillFile::read("pdf-tools", &format!("---\n{fields}\n---\n# PDF\nDo it.\n"))
}

#[test]
fn a_skill_md_is_read_with_every_field_of_the_format() {
    let read = skill(
        "name: pdf-tools\ndescription: Reads PDF files. Use it when somebody hands you one.\nlicense: MIT\n\
         compatibility: needs python\nmetadata:\n  author: x\n  version: \"1.0\"\nallowed-tools: Bash(pdf:*) Read\ncolor: red",
    )
    .unwrap();
    assert_eq!((read.name.as_str(), read.license.as_deref()), ("pdf-tools", Some("MIT")));
    assert!(read.description.starts_with("Reads PDF"));
    assert_eq!(read.metadata, [("author".into(), "x".into()), ("version".into(), "1.0".into())]);
    assert_eq!(read.allowed_tools, ["Bash(pdf:*)", "Read"]);
    assert_eq!(read.other, ["color"], "fields of other programs are named, and mean nothing");
    assert_eq!(read.body, "# PDF\nDo it.");
}

#[test]
fn a_skill_md_that_breaks_the_format_is_refused_by_field() {
    let long = format!("name: pdf-tools\ndescription: {}", "x".repeat(1025));
    let wide = format!("name: pdf-tools\ndescription: x\ncompatibility: {}", "x".repeat(501));
    let cases = [
        ("description: x", "the field `name` is missing"),
        ("name: pdf-tools", "the field `description` is missing"),
        ("name: pdf-tools\ndescription: ''", "field `description`: it is empty"),
        (&long, "longer than 1024 characters"),
        (&wide, "longer than 500 characters"),
        ("name: PDF\ndescription: x", "field `name`: take lower-case"),
        ("name: -pdf\ndescription: x", "field `name`"),
        ("name: pdf--tools\ndescription: x", "field `name`"),
        ("name: ../up\ndescription: x", "field `name`"),
        ("name: other\ndescription: x", "it is called `other` and its folder `pdf-tools`"),
        ("name: pdf-tools\ndescription: [x]", "write one text"),
        ("name: pdf-tools\ndescription: x\nmetadata: y", "write texts under names"),
        ("name: &a pdf-tools\ndescription: *a", "an anchor"),
    ];
    for (fields, want) in cases {
        let error = skill(fields).unwrap_err();
        assert!(error.to_string().contains(want), "{fields}: {error}");
    }
    let long_name = "a".repeat(65);
    let text = format!("---\nname: {long_name}\ndescription: x\n---\n");
    assert!(SkillFile::read(&long_name, &text).unwrap_err().to_string().contains("longer than 64"));
}

#[test]
fn allowed_tools_become_the_grants_that_are_asked_for() {
    let asked = |word: &str| match allowed_tools(word) {
        AllowedTool::Grants(grants) => serde_json::to_string(&grants).unwrap(),
        AllowedTool::Unknown => "unknown".into(),
    };
    let shell = r#"{"cap":"tool","subjects":["agent.shell"]}"#;
    let cases = [
        ("Read", r#"[{"cap":"tool","subjects":["agent.vfs_read"]}]"#.to_owned()),
        ("vfs_write", r#"[{"cap":"tool","subjects":["agent.vfs_write"]}]"#.into()),
        ("Bash", format!(r#"[{shell},{{"cap":"exec"}}]"#)),
        ("Glob", format!("[{shell}]")),
        ("Bash(jq:*)", format!(r#"[{shell},{{"cap":"exec","subjects":["jq"]}}]"#)),
        (
            "Bash(git add:*)",
            format!(
                r#"[{shell},{{"cap":"exec","subjects":["git"],"rules":[{{"argument":"/1","equal":"add"}}]}}]"#
            ),
        ),
        (
            "Bash(git status)",
            format!(
                r#"[{shell},{{"cap":"exec","subjects":["git"],"rules":[{{"argument":"/1","equal":"status"}},{{"argument":"/2","length_at_most":0,"if_absent":"allow"}}]}}]"#
            ),
        ),
        (
            "WebFetch(domain:example.com)",
            r#"[{"cap":"tool","subjects":["agent.fetch"]},{"cap":"net","subjects":["example.com"]}]"#.into(),
        ),
        ("Bash(a|b)", "unknown".into()),
        ("Bash(rm $HOME)", "unknown".into()),
        ("Bash(", "unknown".into()),
        ("Read(/etc/*)", "unknown".into()),
        ("mcp__server__tool", "unknown".into()),
    ];
    for (word, want) in cases {
        assert_eq!(asked(word), want, "{word}");
    }
    assert_eq!(allowed::split("Bash(git add:*), Read  Write"), ["Bash(git add:*)", "Read", "Write"]);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(\\PC|[-:\\n#(),* ]|---\n|name: a\n|description: b\n){0,60}") {
        let _ = SkillFile::read("a", &text);
        let _ = Skill::org("a", &text);
        let _ = Skill::markdown("a", &text);
        for word in allowed::split(&text) {
            let _ = allowed_tools(&word);
        }
    }
}
