//! Texts about agents: outlines, front matter, definitions, skills. Any text is read or refused; what is found in one is of it, and
//! no definition is without a prompt.
#![no_main]

use drydock_agent::{
    definition::{AgentDefinition, DefinitionForm},
    skill::{SkillFile, allowed_tools},
    text::{FrontMatter, Outline},
};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(outline) = Outline::read(text) {
        for index in 0..outline.headings.len().min(50) {
            assert!(text.contains(outline.subtree(index)));
        }
    }
    if let Ok(read) = FrontMatter::read(text) {
        assert!(text.contains(read.body));
    }
    for form in [DefinitionForm::Org, DefinitionForm::Markdown] {
        if let Ok(agent) = AgentDefinition::parse(text, form) {
            assert!(!agent.prompt.trim().is_empty());
        }
    }
    let name = text.lines().find_map(|it| it.strip_prefix("name: ")).unwrap_or("a");
    if let Ok(skill) = SkillFile::read(name, text) {
        assert!((1..=64).contains(&skill.name.len()) && !skill.name.contains(['/', '.']));
        for word in &skill.allowed_tools {
            let _ = allowed_tools(word);
        }
    }
});
