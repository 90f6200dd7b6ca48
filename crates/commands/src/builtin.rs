//! The built-in modules, as `cargo xtask guests` left them in `wasm/`.

/// One module that is compiled into this program.
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// The command it belongs to, or one part of a command that has several: `wbox`, `wbox-text`.
    pub name: &'static str,
    /// The hash it must have, by the lock file.
    pub sha256: &'static str,
    /// The module.
    pub bytes: &'static [u8],
    /// The applets in it; empty for a command that is just itself.
    pub applets: &'static [&'static str],
    /// Who starts it.
    pub kind: ModuleKind,
}

/// Who starts a built-in module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleKind {
    /// Anybody who may run commands, by its name.
    Command,
    /// A front end, which hands it a program. It is on no list of commands.
    Runtime,
}

/// The built-in module of that name that a front end starts, such as `js`.
pub fn runtime(name: &str) -> Option<&'static Module> {
    MODULES.iter().find(|module| module.kind == ModuleKind::Runtime && module.name == name)
}

/// Every built-in module.
pub const MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The built-in commands, each with its modules. A module `box-part` with applets belongs to `box` if there is one; the
/// applets of a module that stands alone, like `npm-fetch`, are its other names.
pub fn commands() -> Vec<(&'static str, Vec<&'static Module>)> {
    let mut all: Vec<(&'static str, Vec<&'static Module>)> = Vec::new();
    for module in MODULES.iter().filter(|module| module.kind == ModuleKind::Command) {
        let owner = match module.applets {
            [] => module.name,
            _ => {
                let (first, _) = module.name.split_once('-').unwrap_or((module.name, ""));
                MODULES.iter().find(|it| it.name == first).map_or(module.name, |it| it.name)
            }
        };
        match all.iter_mut().find(|(name, _)| *name == owner) {
            Some((_, modules)) => modules.push(module),
            None => all.push((owner, vec![module])),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use drydock_contract::{CommandName, Digest};

    use super::*;

    #[test]
    fn the_seeds_four_are_built_in() {
        let names: Vec<_> = commands().iter().map(|(name, _)| *name).collect();
        assert!(["grep", "jq", "upper", "wbox"].iter().all(|it| names.contains(it)), "{names:?}");
    }

    #[test]
    fn a_module_is_a_command_by_its_own_name_unless_it_is_part_of_another() {
        let named = |wanted: &str| commands().into_iter().find(|it| it.0 == wanted).map(|it| it.1.len());
        for name in ["html-to-markdown", "npm-fetch", "pip-run", "tcp-send"] {
            assert_eq!(named(name), Some(1), "{name}");
        }
        assert!(named("wbox").is_some_and(|it| it > 1) && named("wbox-text").is_none());
        assert!(named("html").or(named("npm")).is_none());
    }

    #[test]
    fn a_runtime_is_found_by_its_name_and_is_no_command() {
        assert!(runtime("js").is_some_and(|module| module.name == "js"));
        assert!(runtime("jq").is_none());
        assert!(commands().iter().all(|(name, _)| *name != "js"));
    }

    #[test]
    fn every_built_in_module_is_what_the_lock_says() {
        for module in MODULES {
            let digest: Digest = module.sha256.parse().unwrap();
            assert_eq!(Digest::of(module.bytes), digest, "{}", module.name);
        }
    }

    #[test]
    fn wbox_has_the_seeds_applets_and_sixty_in_all() {
        let applets: Vec<_> = MODULES.iter().flat_map(|it| it.applets).copied().collect();
        let seeds = "cat echo seq head wc nl rev basename dirname tr sort uniq tail true false";
        for applet in seeds.split(' ') {
            assert!(applets.contains(&applet), "{applet}");
        }
        assert!(applets.len() >= 60, "{}", applets.len());
        let names = applets.iter().filter(|it| **it != "[");
        names.for_each(|it| assert!(it.parse::<CommandName>().is_ok(), "{it}"));
    }
}
