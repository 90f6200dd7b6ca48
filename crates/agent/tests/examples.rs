//! The example definition and toolkits of `tests/data`: they are what the documents say, and they are read.
#![allow(clippy::unwrap_used)]

use drydock_agent::{
    definition::AgentDefinition,
    toolkit::{Folder, Origin, Toolkit, ToolkitError, ToolkitSet, Trust, grants_file, wb},
};

const PAPERS: &[(&str, &[u8])] = &[
    ("manifest.org", include_bytes!("data/toolkits/papers/manifest.org")),
    ("paper-title.wasm", include_bytes!("data/toolkits/papers/paper-title.wasm")),
    ("skills/index.org", include_bytes!("data/toolkits/papers/skills/index.org")),
];
const COUNT_WORDS: &[(&str, &[u8])] = &[
    ("SKILL.md", include_bytes!("data/toolkits/count-words/SKILL.md")),
    ("scripts/count.sh", include_bytes!("data/toolkits/count-words/scripts/count.sh")),
    ("references/words.md", include_bytes!("data/toolkits/count-words/references/words.md")),
];

fn load(id: &str) -> Result<Option<Toolkit>, ToolkitError> {
    let files = match id {
        "papers" => PAPERS,
        "count-words" => COUNT_WORDS,
        _ => return Ok(None),
    };
    let mut folder = Folder::new(id);
    for (path, bytes) in files {
        folder.put(path, bytes.to_vec())?;
    }
    Toolkit::read(folder, &Trust { origin: Origin::Own, authors: None }).map(Some)
}

#[test]
fn the_example_says_the_same_in_org_and_in_markdown() {
    let org = AgentDefinition::read("librarian.org", include_bytes!("data/librarian.org")).unwrap();
    let markdown = AgentDefinition::read("librarian.md", include_bytes!("data/librarian.md")).unwrap();
    assert_eq!(org, markdown);
    assert_eq!(org.toolkits, ["papers", "count-words"]);
}

#[test]
fn the_example_has_its_toolkits_in_the_prompt_and_their_bodies_on_demand() {
    let agent = AgentDefinition::read("librarian.org", include_bytes!("data/librarian.org")).unwrap();
    let set = ToolkitSet::resolve(&agent.toolkits, load).unwrap();
    let system = agent.system(&set.index());
    assert!(system.starts_with("You keep INDEX.md"), "{system}");
    assert!(
        system.contains("\n- papers: Titles of papers, and an index of them\n  skills: index\n"),
        "{system}"
    );
    assert!(!system.contains("scripts/count.sh"), "a body is read when it is asked for");
    let body = wb(&set, "show count-words/count-words");
    assert!(body.output.contains("scripts/count.sh"), "{}", body.output);
    assert_eq!(
        grants_file(set.asks()).to_string(),
        "{\"grants\":[{\"cap\":\"tool\",\"subjects\":[\"agent.shell\"]},{\"cap\":\"exec\",\"subjects\":[\"wc\"]},\
         {\"cap\":\"tool\",\"subjects\":[\"agent.vfs_read\"]},{\"cap\":\"exec\",\"subjects\":[\"paper-title\"]},\
         {\"cap\":\"kv\",\"subjects\":[\"papers/*\"]}]}"
    );
}
