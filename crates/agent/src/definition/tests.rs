//! Proofs for definitions: what each form says, and what is refused.

use proptest::prelude::*;

use super::*;

const ORG: &str = "\
#+TITLE: agents

* Notes
not an agent
* Librarian  :agent:
:PROPERTIES:
:ID: librarian
:MODEL: openrouter/small
:TOOLKITS: papers pdf-tools
:TAGLINE: Finds and sorts papers.
:END:
Some words about it.
** System prompt
You sort papers.
*** Style
Short sentences.
** Log
nothing
* Second  :agent:
:PROPERTIES:
:ID: second
:END:
";

fn org(text: &str) -> Result<AgentDefinition, DefinitionError> {
    AgentDefinition::parse(text, DefinitionForm::Org)
}

fn markdown(text: &str) -> Result<AgentDefinition, DefinitionError> {
    AgentDefinition::parse(text, DefinitionForm::Markdown)
}

#[test]
fn an_agent_in_org_has_its_id_model_toolkits_tagline_and_prompt() {
    let agent = org(ORG).unwrap();
    assert_eq!(agent.id.as_deref(), Some("librarian"));
    assert_eq!(agent.name.as_deref(), Some("Librarian"));
    assert_eq!(agent.model.as_deref(), Some("openrouter/small"));
    assert_eq!(agent.toolkits, ["papers", "pdf-tools"]);
    assert_eq!(agent.tagline.as_deref(), Some("Finds and sorts papers."));
    assert_eq!(agent.prompt, "You sort papers.\n*** Style\nShort sentences.");
}

#[test]
fn without_a_heading_system_prompt_the_body_of_the_node_is_the_prompt() {
    let text = ORG.replace("** System prompt\n", "");
    let agent = org(&text).unwrap();
    assert!(agent.prompt.starts_with("Some words about it.\nYou sort papers."), "{}", agent.prompt);
    assert!(!agent.prompt.contains("Second"), "what follows is another node");
    // Of an agent that is not at the top, the prompt is one level below it, and no deeper.
    let nested = "* Team\n** Ada :agent:\n*** System prompt\nBe Ada.\n**** More\nx\n*** Rest\ny\n";
    assert_eq!(org(nested).unwrap().prompt, "Be Ada.\n**** More\nx");
}

#[test]
fn an_agent_in_markdown_says_the_same() {
    let text = "---\nid: librarian\nname: Librarian\nmodel: openrouter/small\ntoolkits:\n  - papers\n  - pdf-tools\n\
                tagline: Finds and sorts papers.\n---\nYou sort papers.\n*** Style\nShort sentences.\n";
    assert_eq!(markdown(text).unwrap(), org(ORG).unwrap());
    let other =
        markdown("---\nname: helper\ndescription: Helps.\ntools: shell, vfs_read\nmax_steps: 3\n---\nHelp.")
            .unwrap();
    assert_eq!((other.id.as_deref(), other.tagline.as_deref()), (Some("helper"), Some("Helps.")));
    assert_eq!(
        (other.tools.unwrap(), other.max_steps),
        (vec!["shell".to_owned(), "vfs_read".into()], Some(3))
    );
}

#[test]
fn a_definition_without_a_prompt_is_refused_by_name() {
    for text in
        ["* Ada :agent:\n", "* Ada :agent:\n:PROPERTIES:\n:ID: ada\n:END:\n** System prompt\n\n** Other\nx\n"]
    {
        let error = org(text).unwrap_err();
        assert_eq!(error.code(), "no_prompt", "{text:?}");
        assert!(error.to_string().contains("da` has no prompt"), "{error}");
    }
    assert_eq!(markdown("---\nname: ada\n---\n\n").unwrap_err().code(), "no_prompt");
}

#[test]
fn what_makes_no_definition_is_told_by_a_code_and_a_sentence() {
    let twice = ORG.replace(":ID: second", ":ID: librarian");
    let org_cases = [
        ("nothing here\n* Heading\n", "no_agent"),
        (twice.as_str(), "duplicate_id"),
        ("* A :agent:\n:PROPERTIES:\n:TOOLKITS: a b a\n:END:\nx\n", "duplicate_id"),
        ("* A :agent:\n:PROPERTIES:\n:TOOLKITS: ../up a\\b\n:END:\nx\n", "bad_name"),
        ("* A :agent:\n:PROPERTIES:\n:ID: a b\n:END:\nx\n", "bad_name"),
        ("* A :agent:\n:PROPERTIES:\n:ID: a\nx\n", "bad_definition"),
        ("* A :agent:\n:PROPERTIES:\n:MAX_STEPS: many\n:END:\nx\n", "bad_field"),
    ];
    for (text, code) in org_cases {
        assert_eq!(org(text).unwrap_err().code(), code, "{text}");
    }
    let markdown_cases = [
        ("---\ntoolkit: papers\n---\nx", "bad_field"),
        ("---\nname: [a]\n---\nx", "bad_field"),
        ("---\nmax_steps: 0\n---\nx", "bad_field"),
        ("---\nname: a\n", "bad_definition"),
        ("just a text", "bad_definition"),
    ];
    for (text, code) in markdown_cases {
        assert_eq!(markdown(text).unwrap_err().code(), code, "{text}");
    }
    let many: String = (0..=TOOLKITS_MAX).map(|it| format!("t{it} ")).collect();
    let text = format!("* A :agent:\n:PROPERTIES:\n:TOOLKITS: {many}\n:END:\nx\n");
    assert_eq!(org(&text).unwrap_err().code(), "too_many");
    let long = vec![b' '; TEXT_BYTES_MAX + 1];
    assert_eq!(AgentDefinition::read("a.org", &long).unwrap_err().code(), "definition_too_large");
    assert_eq!(AgentDefinition::read("a.org", &[0xff]).unwrap_err().code(), "definition_not_text");
    assert_eq!(AgentDefinition::read("a.exe", b"").unwrap_err().code(), "no_definition");
}

#[test]
fn the_index_of_toolkits_stands_below_the_prompt() {
    let agent = org(ORG).unwrap();
    assert_eq!(agent.system(""), agent.prompt);
    assert!(agent.system("## Toolkits").ends_with("Short sentences.\n\n## Toolkits"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_no_agent_is_without_a_prompt(
        text in "(\\PC|\n|\\* |:agent:|:PROPERTIES:\n|:END:\n|\\*\\* System prompt\n|:ID: a\n|---\n|name: a\n){0,80}"
    ) {
        for form in [DefinitionForm::Org, DefinitionForm::Markdown] {
            if let Ok(agent) = AgentDefinition::parse(&text, form) {
                prop_assert!(!agent.prompt.trim().is_empty());
            }
        }
    }
}
