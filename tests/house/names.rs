//! The public names of the crate: what can be reached from its root, and where it is
//! defined.

use crate::source::{
    Sources, Written, from_root, inside, is_group, is_mark, module, paths, shown, tokens, word,
};
use proc_macro2::{Delimiter, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// What a module says of its own.
#[derive(Debug, Default)]
struct Module {
    /// Its items, public or not, with their kinds: `struct`, `fn`.
    items: BTreeMap<String, Item>,
    /// Its modules; whether they are public.
    modules: BTreeMap<String, bool>,
    /// What it imports under which name; whether it exports it.
    uses: Vec<(Written, bool)>,
}

#[derive(Clone, Debug)]
struct Item {
    kind: String,
    public: bool,
}

/// A public item: the name by which it is reached, its kind, and where it is defined.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Public {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) path: Vec<String>,
}

impl Public {
    fn is_type(&self) -> bool {
        match self.kind.as_str() {
            "struct" | "enum" | "union" | "trait" | "type" => true,
            // A macro has made it: types begin with a capital, and constants are all capitals.
            MADE => {
                self.name.starts_with(char::is_uppercase) && self.name.contains(char::is_lowercase)
            }
            _ => false,
        }
    }
}

/// The kind of an item whose definition a macro makes.
const MADE: &str = "made by a macro";

/// The kinds of items.
const KINDS: [&str; 9] =
    ["struct", "enum", "union", "trait", "type", "fn", "const", "static", "macro"];

/// What can be reached from the crate's root.
pub(crate) fn public(sources: &Sources) -> BTreeSet<Public> {
    let mut modules = BTreeMap::new();
    for (file, text) in sources.iter().filter(|(file, _)| !file.starts_with("bin/")) {
        read(&tokens(text), &module(file), &mut modules);
    }
    let mut reached = BTreeSet::new();
    let mut visited = BTreeSet::new();
    visit(&modules, &[], &mut visited, &mut reached);
    reached
}

/// Public types that share a name, a line each.
pub(crate) fn shared(public: &BTreeSet<Public>) -> Vec<String> {
    let mut places = BTreeMap::<&str, BTreeSet<String>>::new();
    for item in public.iter().filter(|item| item.is_type()) {
        let place = format!("{} {}", item.kind, shown(&item.path));
        places.entry(&item.name).or_default().insert(place);
    }
    let shared = places.into_iter().filter(|(_, places)| places.len() > 1);
    shared
        .map(|(name, places)| {
            let places: Vec<_> = places.into_iter().collect();
            format!("{name}: {}", places.join(", "))
        })
        .collect()
}

/// Reads the items of a module.
fn read(tokens: &[TokenTree], path: &[String], modules: &mut BTreeMap<Vec<String>, Module>) {
    modules.entry(path.to_vec()).or_default();
    let mut public = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        let next = tokens.get(at);
        let keyword = word(Some(token)).unwrap_or_default();
        let of_module = modules.get_mut(path).unwrap();
        match keyword.as_str() {
            // `pub(crate)` and the like are not public.
            "pub" => public = !next.is_some_and(|next| is_group(next, Delimiter::Parenthesis)),
            "use" => {
                of_module.uses.extend(paths(&tokens[at..]).into_iter().map(|path| (path, public)));
                at += tokens[at..].iter().take_while(|token| !is_mark(token, ';')).count();
                public = false;
            }
            "mod" => {
                let name = word(next).unwrap();
                of_module.modules.insert(name.clone(), public);
                public = false;
                if let Some(TokenTree::Group(group)) = tokens.get(at + 1) {
                    let path: Vec<_> = path.iter().cloned().chain([name]).collect();
                    read(&inside(group.stream()), &path, modules);
                }
            }
            // `const fn` is a function, `unsafe impl` is no item.
            "const" if word(next).is_some_and(|next| KINDS.contains(&next.as_str())) => {}
            "unsafe" | "async" | "extern" => {}
            kind if KINDS.contains(&kind) => {
                if let Some(name) = word(next) {
                    of_module.items.insert(name, Item { kind: kind.to_owned(), public });
                }
                public = false;
            }
            _ => {
                // What a macro is called with may define types. A macro's own rules do not.
                let called = matches!(token, TokenTree::Ident(name) if name != "macro_rules")
                    && next.is_some_and(|next| is_mark(next, '!'));
                if let (true, Some(TokenTree::Group(group))) = (called, tokens.get(at + 1)) {
                    types(&inside(group.stream()), of_module);
                }
                // The attributes of an item stand before its visibility.
                if is_mark(token, ';') || is_group(token, Delimiter::Brace) {
                    public = false;
                }
            }
        }
    }
}

/// Reads the types that a macro is called with.
fn types(tokens: &[TokenTree], module: &mut Module) {
    for (at, token) in tokens.iter().enumerate() {
        let kind = word(Some(token)).unwrap_or_default();
        let public = at > 0 && word(tokens.get(at - 1)).is_some_and(|word| word == "pub");
        let name =
            word(tokens.get(at + 1)).filter(|_| public && KINDS[..5].contains(&kind.as_str()));
        if let Some(name) = name {
            module.items.insert(name, Item { kind, public });
        }
        if let TokenTree::Group(group) = token {
            types(&inside(group.stream()), module);
        }
    }
}

/// Adds what can be reached from a module.
fn visit(
    modules: &BTreeMap<Vec<String>, Module>,
    path: &[String],
    visited: &mut BTreeSet<Vec<String>>,
    reached: &mut BTreeSet<Public>,
) {
    let Some(module) = modules.get(path) else { return };
    if !visited.insert(path.to_vec()) {
        return;
    }
    for (name, item) in module.items.iter().filter(|(_, item)| item.public) {
        let (name, kind) = (name.clone(), item.kind.clone());
        let path = [path, std::slice::from_ref(&name)].concat();
        reached.insert(Public { name, kind, path });
    }
    for (name, _) in module.modules.iter().filter(|(_, public)| **public) {
        visit(modules, &[path, std::slice::from_ref(name)].concat(), visited, reached);
    }
    for (written, _) in module.uses.iter().filter(|(_, public)| *public) {
        let Some(target) = absolute(&written.segments, path, modules) else { continue };
        if written.name == "*" || modules.contains_key(&target) {
            visit(modules, &target, visited, reached);
        } else {
            reached.insert(Public { name: written.name.clone(), ..defined(modules, &target) });
        }
    }
}

/// A path from the crate's root; `None` if it leads to another crate.
fn absolute(
    path: &[String],
    module: &[String],
    modules: &BTreeMap<Vec<String>, Module>,
) -> Option<Vec<String>> {
    from_root(path, module).or_else(|| {
        let relative = [module, path].concat();
        let child = relative.get(..=module.len())?;
        modules.contains_key(child).then_some(relative)
    })
}

/// Where a path's item is defined, through whatever re-exports it.
fn defined(modules: &BTreeMap<Vec<String>, Module>, path: &[String]) -> Public {
    let (name, parent) = path.split_last().unwrap();
    let made = || Public { name: name.clone(), kind: MADE.to_owned(), path: path.to_vec() };
    let Some(module) = modules.get(parent) else { return made() };
    if let Some(item) = module.items.get(name) {
        return Public { kind: item.kind.clone(), ..made() };
    }
    let used = module.uses.iter().find(|(written, _)| written.name == *name);
    let target = used.and_then(|(written, _)| absolute(&written.segments, parent, modules));
    target.map_or_else(made, |target| defined(modules, &target))
}
