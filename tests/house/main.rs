//! The house is as `ARCHITECTURE.md` says.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests"
)]

mod map;
mod names;
mod source;

use source::{Sources, sources};
use std::fs;
use std::path::Path;

#[test]
fn each_file_imports_only_from_lines_above_its_own_on_the_map() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let map = map::map(&fs::read_to_string(document).unwrap());
    let faults = map::faults(&map, &sources());
    assert!(faults.is_empty(), "against ARCHITECTURE.md:\n{}", faults.join("\n"));
}

/// Sources of a made-up crate.
fn made_up(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
}

const MAP: &str = "# Title\n\n## The map\n\nText.\n\n```text\n\
    low.rs        the lowest\n\
    mid.rs  pair/ two on a line\n\
    high/         may import from low.rs, which is no room of this line\n\
    lib.rs\n\
    ```\n";

#[test]
fn an_import_against_the_map_is_found_however_it_is_written() {
    let root = "pub use high::{inner::{Thing, Other as Named}}; mod high; mod low;";
    for (file, text, found) in [
        ("low.rs", "use crate::high::X;", "high, which is not above low"),
        ("low.rs", "use crate::{low::Y, mid::{self, Z}};", "mid, which is not above low"),
        ("low.rs", "fn f() { [crate::high::f(1)] }", "high, which is not above low"),
        (
            "low.rs",
            "macro_rules! m { () => { $crate::high::f() } }",
            "high, which is not above low",
        ),
        ("low.rs", "use super::mid::X;", "mid, which is not above low"),
        ("low.rs", "mod inner { use super::super::mid::X; }", "mid, which is not above low"),
        ("low.rs", "use crate::Thing;", "high, which is not above low"),
        ("low.rs", "use crate::Named;", "high, which is not above low"),
        ("low.rs", "use crate::*;", "the whole crate"),
        ("low.rs", "use crate::elsewhere::X;", "elsewhere, which is not on the map"),
        ("mid.rs", "use crate::pair::X;", "pair, which is not above mid"),
        ("pair/a.rs", "use super::super::mid::X;", "mid, which is not above pair"),
    ] {
        let mut sources = made_up(&[
            ("lib.rs", root),
            ("low.rs", ""),
            ("mid.rs", ""),
            ("pair/mod.rs", ""),
            ("high/mod.rs", ""),
        ]);
        sources.insert(file.to_owned(), text.to_owned());
        let faults = map::faults(&map::map(MAP), &sources);
        assert_eq!(faults, [format!("src/{file}:1 imports from {found}")], "{text}");
    }
}

#[test]
fn imports_along_the_map_and_what_is_no_import_are_let_pass() {
    let sources = made_up(&[
        ("lib.rs", "pub use low::Low; use high::inner::Thing; mod low;"),
        (
            "low.rs",
            r#"//! See crate::high::X.
            /// use crate::high::X;
            pub(crate) struct Low; /* crate::high::X */
            const TEXT: &str = "crate::high::X";
            #[cfg(test)]
            use crate::mid::X;
            #[cfg(test)]
            mod tests { use crate::high::X; }"#,
        ),
        ("mid.rs", "use crate::low::Low; use crate::Low; fn f(self) { self.a; std::high::f() }"),
        ("pair/mod.rs", "mod a; pub(crate) use self::a::X; use a::Y;"),
        ("pair/a.rs", "use super::b::X; use super::super::low::Low; use crate::pair::b;"),
        ("high/mod.rs", "use crate::{low, mid::X, pair::{a::{B, C}, b}};"),
        ("bin/tool/main.rs", "use crate::anything::X;"),
    ]);
    let map = map::map(&MAP.replace("lib.rs\n", "lib.rs\nbin/\n"));
    assert_eq!(map::faults(&map, &sources), [""; 0]);
}

#[test]
fn a_room_that_is_missing_on_either_side_is_found() {
    let sources = made_up(&[("lib.rs", ""), ("low.rs", ""), ("mid.rs", ""), ("new/a.rs", "")]);
    assert_eq!(
        map::faults(&map::map(MAP), &sources),
        [
            "src/new/a.rs is not on the map",
            "high is on the map and has no source",
            "pair is on the map and has no source"
        ]
    );
}

#[test]
fn two_public_types_of_a_name_are_found_however_they_are_reached() {
    let twice = |root: &str, other: &str| {
        let sources = made_up(&[
            ("lib.rs", root),
            ("a.rs", "pub struct Same; pub fn same() {} struct Hidden;"),
            ("b/mod.rs", "pub use c::{Same, Deep as Renamed}; pub mod c;"),
            ("b/c.rs", other),
        ]);
        names::shared(&names::public(&sources))
    };
    let found = ["Same: enum crate::b::c::Same, struct crate::a::Same"];
    let other = "/// A doc.\n#[derive(Debug)]\npub enum Same { A } pub trait Deep {}";
    assert_eq!(twice("pub mod a; pub mod b;", other), found);
    assert_eq!(twice("mod a; pub mod b; pub use a::*;", other), found);
    assert_eq!(twice("mod a; pub mod b; pub use crate::a::{Same, same};", other), found);
    let in_a_macro = "words! { \"doc\", /// A doc.\n pub enum Same { A } } pub trait Deep {}";
    assert_eq!(twice("pub mod a; pub mod b;", in_a_macro), found);
    let renamed = "pub struct Deep; pub struct Other;";
    assert_eq!(
        twice("mod a; pub mod b; pub use a::Same as Deep;", renamed),
        ["Deep: struct crate::a::Same, struct crate::b::c::Deep"]
    );
    let made = twice("mod a; mod b; pub use a::Same; pub use b::c::Same as Also;", "made!(Same);");
    assert_eq!(made, [""; 0]);
    let made = twice("pub mod a; mod b; pub use b::Same;", "made!(Same);");
    assert_eq!(made, ["Same: made by a macro crate::b::c::Same, struct crate::a::Same"]);
}

#[test]
fn one_type_reached_twice_and_what_is_not_public_are_let_pass() {
    let sources = made_up(&[
        (
            "lib.rs",
            "pub mod a; mod b; pub use a::Same; pub use b::Shown; pub use std::fmt::Debug; \
             macro_rules! m { () => { pub struct Same; } }",
        ),
        (
            "a.rs",
            "pub struct Same { pub field: u8 } pub fn same() {} impl Same { pub fn Shown() {} } \
             #[cfg(test)] mod tests { pub struct Shown; }",
        ),
        ("b.rs", "pub struct Same; pub(crate) struct Inner; pub struct Shown; pub const fn f() {}"),
    ]);
    let public = names::public(&sources);
    assert_eq!(names::shared(&public), [""; 0]);
    let names: Vec<_> =
        public.iter().map(|item| (item.name.as_str(), item.kind.as_str())).collect();
    assert_eq!(names, [("Same", "struct"), ("Shown", "struct"), ("same", "fn")]);
}
