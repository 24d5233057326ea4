//! Rust sources as modules: their tokens without tests, and the paths in them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, iter};

/// The crate's sources, by their path below `src`, such as `fit/vmem.rs`.
pub(crate) type Sources = BTreeMap<String, String>;

/// The sources of this crate.
pub(crate) fn sources() -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Sources::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let parts = path.strip_prefix(&root).unwrap().iter();
                let parts: Vec<_> = parts.map(|part| part.to_str().unwrap()).collect();
                sources.insert(parts.join("/"), text);
            }
        }
    }
    sources
}

/// The module that a file is: `fit/vmem.rs` is `["fit", "vmem"]`.
pub(crate) fn module(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").unwrap();
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The tokens of a file, without those that only tests see.
pub(crate) fn tokens(text: &str) -> Vec<TokenTree> {
    without_tests(text.parse().unwrap())
}

pub(crate) fn inside(tokens: TokenStream) -> Vec<TokenTree> {
    without_tests(tokens)
}

fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut tokens = tokens.into_iter().peekable();
    let mut kept: Vec<TokenTree> = Vec::new();
    while let Some(token) = tokens.next() {
        let for_tests = is_mark(&token, '#')
            && matches!(tokens.peek(), Some(TokenTree::Group(group))
                if group.stream().to_string().replace(' ', "") == "cfg(test)");
        if for_tests {
            // The item ends with its body, or with a semicolon.
            tokens.find(|token| is_mark(token, ';') || is_group(token, Delimiter::Brace));
        } else {
            kept.push(token);
        }
    }
    kept
}

pub(crate) fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

pub(crate) fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

pub(crate) fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

/// A path as written, and the name under which it is imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) segments: Vec<String>,
    pub(crate) name: String,
}

/// The paths that begin with the first of these tokens: one, or those of a tree such as
/// `a::{b, c as d, *}`.
pub(crate) fn paths(tokens: &[TokenTree]) -> Vec<Written> {
    let mut segments = Vec::new();
    let mut rest = tokens;
    loop {
        match rest {
            [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<_> = group.stream().into_iter().collect();
                let parts =
                    inner.split(|token| is_mark(token, ',')).filter(|part| !part.is_empty());
                let below = parts.flat_map(paths).map(|path| Written {
                    segments: segments.iter().cloned().chain(path.segments).collect(),
                    name: path.name,
                });
                return below.collect();
            }
            [TokenTree::Punct(star), ..] if star.as_char() == '*' => {
                return vec![Written { segments, name: "*".to_owned() }];
            }
            [TokenTree::Ident(segment), after @ ..] => {
                segments.push(segment.to_string());
                match after {
                    [first, second, after @ ..] if is_mark(first, ':') && is_mark(second, ':') => {
                        rest = after;
                    }
                    [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "as" => {
                        return vec![Written { segments, name: name.to_string() }];
                    }
                    _ => {
                        let name = segments.last().unwrap().clone();
                        return vec![Written { segments, name }];
                    }
                }
            }
            // A generic argument, as in `Vec::<u8>`: what is before it is the path.
            _ => {
                let name = segments.last().cloned().unwrap_or_default();
                return vec![Written { segments, name }];
            }
        }
    }
}

/// A path from the crate's root, for one that begins with `crate`, `super` or `self` in
/// `module`; `None` for any other.
pub(crate) fn from_root(path: &[String], module: &[String]) -> Option<Vec<String>> {
    let first = path.first()?;
    let mut base = match first.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        _ => return None,
    };
    let mut rest = path;
    if first != "super" {
        rest = rest.get(1..)?;
    }
    while rest.first().is_some_and(|segment| segment == "super") {
        base.pop();
        rest = rest.get(1..)?;
    }
    Some(base.into_iter().chain(rest.iter().cloned()).collect())
}

/// Calls `visit` for every list of tokens, with the module that it stands in.
pub(crate) fn walk(
    tokens: &[TokenTree],
    module: &[String],
    visit: &mut impl FnMut(&[TokenTree], &[String]),
) {
    visit(tokens, module);
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            let name = match at.checked_sub(2).map(|begin| &tokens[begin..at]) {
                Some([TokenTree::Ident(keyword), name]) if keyword == "mod" => word(Some(name)),
                _ => None,
            };
            let inner: Vec<_> = module.iter().cloned().chain(name).collect();
            walk(&inside(group.stream()), &inner, visit);
        }
    }
}

/// The path of a module as it is written: `crate::fit::vmem`.
pub(crate) fn shown(module: &[String]) -> String {
    iter::once("crate").chain(module.iter().map(String::as_str)).collect::<Vec<_>>().join("::")
}
