//! The map of `ARCHITECTURE.md`: what is on it, and who imports against it.

use crate::source::{Sources, Written, from_root, module, paths, tokens, walk, word};
use proc_macro2::TokenTree;
use std::collections::{BTreeMap, BTreeSet};

/// The rooms of the map, each with its line: a file or a folder of `src`, without its end.
pub(crate) type Map = BTreeMap<String, usize>;

/// The map in a document: in the first fence below its heading, a line a step, which
/// begins with the files and folders that are on it.
pub(crate) fn map(document: &str) -> Map {
    let (_, after) = document.split_once("\n## The map\n").expect("no heading `The map`");
    let (_, after) = after.split_once("\n```text\n").expect("no fence below the map's heading");
    let (lines, _) = after.split_once("\n```\n").expect("the map's fence has no end");
    let mut map = Map::new();
    for (number, line) in lines.lines().enumerate() {
        let rooms = line.split_whitespace().map_while(room);
        for room in rooms {
            let before = map.insert(room.to_owned(), number);
            assert_eq!(before, None, "{room} is twice on the map");
        }
    }
    map
}

/// The name of a file or a folder on the map; `None` for any other word.
fn room(word: &str) -> Option<&str> {
    word.strip_suffix(".rs").or_else(|| word.strip_suffix('/'))
}

/// What is wrong between the map and the sources, a line each.
pub(crate) fn faults(map: &Map, sources: &Sources) -> Vec<String> {
    let rooms: BTreeMap<&str, &str> =
        sources.keys().map(|file| (room_of(file), file.as_str())).collect();
    let mut faults = Vec::new();
    for (room, file) in &rooms {
        if !map.contains_key(*room) {
            faults.push(format!("src/{file} is not on the map"));
        }
    }
    for room in map.keys() {
        // Folders of documents, such as the pages of codes, have no sources.
        if !rooms.contains_key(room.as_str()) && room != "codes" {
            faults.push(format!("{room} is on the map and has no source"));
        }
    }
    let exported = sources.get("lib.rs").map(|text| exported(text)).unwrap_or_default();
    for (file, text) in sources {
        let own = room_of(file);
        // The command line is a crate of its own, and the root is the sum of the rooms.
        if own == "bin" || file == "lib.rs" {
            continue;
        }
        let mut wrong = BTreeSet::new();
        for (line, path) in imports(text, &module(file)) {
            let first = path.first().map(String::as_str);
            let target = first.and_then(|first| exported.get(first)).map(String::as_str).or(first);
            let found = match target {
                None => "the whole crate".to_owned(),
                Some(target) if target == own => continue,
                Some(target) => match (map.get(target), map.get(own)) {
                    (Some(above), Some(line)) if above < line => continue,
                    (Some(_), _) => format!("{target}, which is not above {own}"),
                    (None, _) => format!("{target}, which is not on the map"),
                },
            };
            wrong.insert((line, found));
        }
        let told = |(line, found)| format!("src/{file}:{line} imports from {found}");
        faults.extend(wrong.into_iter().map(told));
    }
    faults
}

/// The room that a file below `src` belongs to.
fn room_of(file: &str) -> &str {
    let first = file.split('/').next().unwrap_or(file);
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The names that the crate's root exports, each with the room that it comes from.
fn exported(root: &str) -> BTreeMap<String, String> {
    let tokens = tokens(root);
    let uses = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| word(Some(token)).is_some_and(|it| it == "use"));
    let paths = uses.flat_map(|(at, _)| paths(&tokens[at + 1..]));
    let paths =
        paths.filter_map(|Written { segments, name }| Some((name, segments.first()?.clone())));
    paths.collect()
}

/// Every path of a file that begins with `crate`, `super` or `self`, from the crate's
/// root, with its line.
fn imports(text: &str, module: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut imports = Vec::new();
    walk(&tokens(text), module, &mut |tokens: &[TokenTree], module: &[String]| {
        for (at, token) in tokens.iter().enumerate() {
            let begins = word(Some(token))
                .is_some_and(|word| ["crate", "super", "self"].contains(&word.as_str()));
            let goes_on = matches!(tokens.get(at + 1), Some(TokenTree::Punct(colon)) if colon.as_char() == ':')
                && matches!(tokens.get(at + 2), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
            // In `super::super::a` the second word has been read with the first.
            let is_inner = at > 0
                && matches!(&tokens[at - 1], TokenTree::Punct(colon) if colon.as_char() == ':');
            if begins && goes_on && !is_inner {
                let line = token.span().start().line;
                for path in paths(&tokens[at..]) {
                    imports.extend(from_root(&path.segments, module).map(|path| (line, path)));
                }
            }
        }
    });
    imports
}
