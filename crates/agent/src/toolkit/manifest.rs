//! `manifest.org`: keywords say what the toolkit is and declare its first command; headings tagged `:command:` declare more, with
//! the same names in their drawers. Skills lie in `skills/`, as NAME.org, NAME.md or NAME/SKILL.md.

use super::{
    Ask, COMMANDS_MAX, MANIFEST, SKILLS_MAX, TAGLINE_CHARS_MAX, Toolkit, ToolkitError, Trust, asked, command,
    folder::Folder, provenance,
};
use crate::{
    skill::{Skill, SkillFile, is_slug},
    text::{Outline, one_line, shown},
};

const REQUIRES_MAX: usize = 32;

pub(super) fn read(
    folder: Folder,
    trust: &Trust,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<Toolkit, ToolkitError> {
    let outline = Outline::read(folder.text(MANIFEST)?)?;
    let said = |name: &str| outline.keywords.get(name);
    let says_third_party = match said("TRUST").map(str::to_ascii_lowercase).as_deref() {
        None | Some("first-party") => false,
        Some("third-party") => true,
        Some(other) => {
            let why = format!("`{}` is none; write first-party or third-party", shown(other));
            return Err(ToolkitError::BadKeyword { keyword: "TRUST", why });
        }
    };
    let provenance = provenance::judge(&folder, says_third_party, trust)?;
    let id = said("TOOLKIT").unwrap_or(folder.name());
    if id != folder.name() {
        return Err(ToolkitError::WrongFolder { id: shown(id), folder: folder.name().to_owned() });
    }
    let requires = requires(said("REQUIRES").unwrap_or_default())?;

    let drawers = outline.headings.iter().filter(|it| it.is_tagged("command")).map(|it| &it.properties);
    let mut commands = Vec::new();
    for drawer in [&outline.keywords].into_iter().chain(drawers) {
        commands.extend(command::read(drawer, &folder, is_taken)?);
        if commands.len() > COMMANDS_MAX {
            return Err(ToolkitError::TooMany { what: "commands", max: COMMANDS_MAX });
        }
    }
    twice("the command", commands.iter().map(|it| it.name.as_str()))?;
    let asks_of = |it: &super::ToolkitCommand| Ask {
        toolkit: id.to_owned(),
        wanted_by: it.name.to_string(),
        grants: it.grants.clone(),
    };
    let mut asks: Vec<Ask> = commands.iter().map(asks_of).collect();

    let (skills, notes) = skills(&folder, id, &mut asks)?;
    let line = |name: &str| said(name).map(|it| one_line(it, 128));
    Ok(Toolkit {
        id: id.to_owned(),
        title: line("TITLE"),
        version: line("VERSION"),
        status: line("STATUS"),
        tagline: one_line(said("TAGLINE").or(said("TITLE")).unwrap_or_default(), TAGLINE_CHARS_MAX),
        requires,
        commands,
        skills,
        asks,
        provenance,
        digest: provenance::digest(&folder)?,
        notes,
        folder,
    })
}

fn requires(text: &str) -> Result<Vec<String>, ToolkitError> {
    let ids: Vec<&str> = text.split_whitespace().collect();
    if ids.len() > REQUIRES_MAX {
        return Err(ToolkitError::TooMany { what: "toolkits in REQUIRES", max: REQUIRES_MAX });
    }
    if let Some(bad) = ids.iter().find(|it| !is_slug(it)) {
        return Err(ToolkitError::BadName { what: "the toolkit", shown: shown(bad) });
    }
    twice("the toolkit", ids.iter().copied())?;
    Ok(ids.into_iter().map(str::to_owned).collect())
}

/// The skills, by name, what they ask for, and what a person should know of them.
fn skills(folder: &Folder, id: &str, asks: &mut Vec<Ask>) -> Result<(Vec<Skill>, Vec<String>), ToolkitError> {
    let (mut skills, mut notes) = (Vec::new(), Vec::new());
    for (path, _) in folder.files() {
        let Some(rest) = path.strip_prefix("skills/") else { continue };
        let parts: Vec<&str> = rest.split('/').collect();
        let failed = |cause| ToolkitError::Skill { skill: shown(rest), cause };
        let skill = match parts[..] {
            [file] => match file.rsplit_once('.') {
                Some((name, "org")) => Skill::org(name, folder.text(path)?).map_err(failed)?,
                Some((name, "md")) => Skill::markdown(name, folder.text(path)?).map_err(failed)?,
                _ => continue,
            },
            [name, super::SKILL] => {
                let file = SkillFile::read(name, folder.text(path)?).map_err(failed)?;
                let (grants, more) = asked(&file);
                notes.extend(more.into_iter().map(|it| format!("skill {name}: {it}")));
                if !grants.is_empty() {
                    asks.push(Ask { toolkit: id.to_owned(), wanted_by: name.to_owned(), grants });
                }
                let dir = format!("skills/{name}");
                Skill::named(name, &file.description, &file.body, &dir).map_err(failed)?
            }
            _ => continue,
        };
        skills.push(skill);
        if skills.len() > SKILLS_MAX {
            return Err(ToolkitError::TooMany { what: "skills", max: SKILLS_MAX });
        }
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    twice("the skill", skills.iter().map(|it| it.name.as_str()))?;
    Ok((skills, notes))
}

fn twice<'n>(what: &'static str, names: impl Iterator<Item = &'n str>) -> Result<(), ToolkitError> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(ToolkitError::DuplicateId { what, name: shown(name) });
        }
    }
    Ok(())
}
