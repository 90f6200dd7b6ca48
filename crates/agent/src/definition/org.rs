//! A definition in org: the first heading tagged `:agent:`, its drawer, and the prompt below `System prompt`.

use crate::text::Outline;

use super::{AgentDefinition, DefinitionError, names, shown, steps};

pub(super) fn parse(text: &str) -> Result<AgentDefinition, DefinitionError> {
    let outline = Outline::read(text)?;
    let agents = outline.headings.iter().enumerate().filter(|it| it.1.is_tagged("agent"));
    let mut ids: Vec<&str> = Vec::new();
    for id in agents.clone().filter_map(|it| it.1.properties.get("ID")) {
        if ids.contains(&id) {
            return Err(DefinitionError::DuplicateId { what: "the agent", id: shown(id) });
        }
        ids.push(id);
    }
    let (index, agent) = agents.clone().next().ok_or(DefinitionError::NoAgent)?;
    let is_prompt = |it: &usize| {
        outline.headings.get(*it).is_some_and(|it| it.title.eq_ignore_ascii_case("System prompt"))
    };
    // The seed's rule: without such a heading the text of the agent's own is the prompt, since an agent that somebody
    // wrote plainly should not run without one. A heading without a text is somebody's mistake, and no reason to go on.
    let prompt = match outline.children(index).find(is_prompt) {
        Some(prompt) => outline.subtree(prompt),
        None => outline.subtree(index),
    };
    let property = |name: &str| agent.properties.get(name);
    Ok(AgentDefinition {
        id: property("ID").map(str::to_owned),
        name: Some(agent.title).filter(|it| !it.is_empty()).map(str::to_owned),
        model: property("MODEL").map(str::to_owned),
        toolkits: property("TOOLKITS").map(names).unwrap_or_default(),
        tagline: property("TAGLINE").map(str::to_owned),
        tools: property("TOOLS").map(names),
        max_steps: property("MAX_STEPS").map(steps).transpose()?,
        prompt: prompt.to_owned(),
    })
}
