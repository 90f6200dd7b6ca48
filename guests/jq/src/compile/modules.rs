//! `import` and `include`: modules are files named in the program, found below the library folders.
//!
//! A module is compiled once, at the root of the chain of links; its functions are known to the
//! importer under the name it gave, or under their own with `include`.

use super::{Compiler, Entry, syntax_report};
use crate::error::Failure;
use crate::read;
use crate::syntax::{self, ast};
use crate::value::{Object, Value};
use std::path::{Path, PathBuf};

/// How deeply modules may import each other.
const DEPTH_MAX: usize = 50;

/// A module that was compiled, and what it defines.
pub(super) struct Loaded {
    path: PathBuf,
    names: Vec<(String, usize, u32)>,
}

impl Compiler {
    /// Puts what `module` imports in scope; `origin` is the folder of its file.
    pub(super) fn imports(&mut self, module: &ast::Module, origin: Option<&Path>) -> Result<(), Failure> {
        for import in &module.imports {
            if let Some(name) = import.name.as_deref().and_then(|name| name.strip_prefix('$')) {
                let path = self.find(import, origin, "json")?;
                let text = std::fs::read(&path).map_err(|_| not_found(import))?;
                let values = read::parse_all(text)
                    .map_err(|problem| Failure::Compile(format!("{}: {problem}", path.display())))?;
                let value = Value::arr(values);
                for name in [name.to_owned(), format!("{name}::{name}")] {
                    self.scope.push(Entry::Constant { name, value: value.clone() });
                }
                continue;
            }
            let path = self.find(import, origin, "jq")?;
            let loaded = self.load(&path, import)?;
            for (own, arity, function) in self.modules[loaded].names.clone() {
                let name = match &import.name {
                    Some(prefix) => format!("{prefix}::{own}"),
                    None => own,
                };
                self.scope.push(Entry::Function { name, arity, function, depth: 0 });
            }
        }
        Ok(())
    }

    fn find(&self, import: &ast::Import, origin: Option<&Path>, ending: &str) -> Result<PathBuf, Failure> {
        let here = origin.unwrap_or(Path::new("."));
        let mut folders: Vec<PathBuf> = Vec::new();
        if let Some(search) = &import.search {
            folders.push(here.join(search));
        }
        folders.extend(self.folders.iter().map(PathBuf::from));
        if self.folders.is_empty() {
            folders.push(here.to_owned());
        }
        locate(&import.path, &folders, ending).ok_or_else(|| not_found(import))
    }

    fn load(&mut self, path: &Path, import: &ast::Import) -> Result<usize, Failure> {
        if let Some(known) = self.modules.iter().position(|it| it.path == path) {
            return Ok(known);
        }
        if self.modules.len() >= DEPTH_MAX {
            return Err(Failure::Compile(format!("module imported in a circle: {}", import.path)));
        }
        let text = std::fs::read(path).map_err(|_| not_found(import))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let shown = path.display().to_string();
        let module =
            syntax::parse(&text).map_err(|error| Failure::Compile(syntax_report(&error, &text, &shown)))?;
        if module.body.is_some() {
            return Err(Failure::Compile(format!(
                "library should only have function definitions, not a main expression at {shown}"
            )));
        }
        // Known before it is done, so that a circle ends.
        let place = self.modules.len();
        self.modules.push(Loaded { path: path.to_owned(), names: Vec::new() });
        let scope = std::mem::take(&mut self.scope);
        let outer = std::mem::replace(&mut self.text, text);
        let file = self.file.replace(shown);
        self.imports(&module, path.parent())?;
        let mut names: Vec<(String, usize, u32)> = Vec::new();
        for entry in &self.scope {
            // What a module includes, it passes on.
            if let Entry::Function { name, arity, function, .. } = entry
                && !name.contains("::")
            {
                names.push((name.clone(), *arity, *function));
            }
        }
        for definition in &module.definitions {
            let function = self.define(definition);
            names.push((definition.name.clone(), definition.params.len(), function));
        }
        (self.scope, self.text, self.file) = (scope, outer, file);
        self.modules[place].names = names;
        Ok(place)
    }
}

/// The file of a module: of its name, or of its name in a folder of that name.
fn locate(name: &str, folders: &[PathBuf], ending: &str) -> Option<PathBuf> {
    let last = name.rsplit('/').next().unwrap_or_default();
    folders.iter().find_map(|folder| {
        let plain = folder.join(format!("{name}.{ending}"));
        let inside = folder.join(name).join(format!("{last}.{ending}"));
        [plain, inside].into_iter().find(|path| path.is_file())
    })
}

/// What `modulemeta` tells of a module that is found below `folders`: what it says of itself, what it
/// imports, and what it defines.
pub(crate) fn describe(name: &str, folders: &[PathBuf]) -> Result<Value, String> {
    let path = locate(name, folders, "jq").ok_or_else(|| format!("module not found: {name}"))?;
    let text = std::fs::read(&path).map_err(|_| format!("module not found: {name}"))?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let module =
        syntax::parse(&text).map_err(|error| syntax_report(&error, &text, &path.display().to_string()))?;
    let mut all = fields_of(module.meta.as_ref());
    let deps = module.imports.iter().map(|import| {
        let mut fields = fields_of(import.meta.as_ref());
        let bare = import.name.as_deref().map(|it| it.trim_start_matches('$'));
        if let Some(name) = bare {
            fields.insert("as".into(), Value::str(name));
        }
        fields.insert("is_data".into(), Value::Bool(bare != import.name.as_deref()));
        fields.insert("relpath".into(), Value::str(&import.path));
        Value::obj(fields)
    });
    let deps = Value::arr(deps.collect());
    let defs = module.definitions.iter().map(|it| Value::str(&format!("{}/{}", it.name, it.params.len())));
    let defs = Value::arr(defs.collect());
    all.insert("deps".into(), deps);
    all.insert("defs".into(), defs);
    Ok(Value::obj(all))
}

fn fields_of(meta: Option<&Value>) -> Object {
    match meta {
        Some(Value::Obj(fields)) => Object::clone(fields),
        _ => Object::new(),
    }
}

fn not_found(import: &ast::Import) -> Failure {
    Failure::Compile(format!("module not found: {}\n", import.path))
}
