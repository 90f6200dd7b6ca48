//! What a model is told before everything else, put together.

/// The system text of a run: whose prompt it is first, then the index of its toolkits. Each stands alone, and what is empty is
/// left out. The order is the order of authority: what a toolkit says of itself comes after what the agent was told to be.
pub fn assemble(system: &str, toolkits: &str) -> String {
    let parts = [system, toolkits].map(str::trim);
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_comes_before_the_toolkits_and_what_is_empty_leaves_no_trace() {
        assert_eq!(
            assemble("You are a clerk.\n", "## Toolkits\n- csv: tables"),
            "You are a clerk.\n\n## Toolkits\n- csv: tables"
        );
        assert_eq!(assemble("", "## Toolkits"), "## Toolkits");
        assert_eq!(assemble("You.", " \n"), "You.");
    }
}
