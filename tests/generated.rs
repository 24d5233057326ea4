//! What the README and the docs show of the command line is what it prints.
//!
//! Between `<!-- $ mosaic-memspace ARGUMENTS -->` and `<!-- end -->` stands the
//! command's output: a table as it is, anything else in a fence.
//! `MOSAIC_BLESS=1` writes it there.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const START: &str = "<!-- $ mosaic-memspace ";
const STOP: &str = " -->\n";
const END: &str = "<!-- end -->";

#[test]
fn what_the_documents_show_is_what_the_command_prints() {
    for document in documents() {
        let written = fs::read_to_string(&document).unwrap();
        let fresh = refreshed(&written);
        if env::var_os("MOSAIC_BLESS").is_some() {
            fs::write(&document, &fresh).unwrap();
        } else {
            assert_eq!(fresh, written, "{} is out of date", document.display());
        }
    }
}

/// The README and every document of `docs`.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec![root.join("README.md")];
    if let Ok(entries) = fs::read_dir(root.join("docs")) {
        documents.extend(entries.map(|entry| entry.unwrap().path()));
    }
    documents
}

fn refreshed(document: &str) -> String {
    let mut fresh = String::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once(START) {
        let (arguments, after) = after.split_once(STOP).expect("a command without its end");
        let (_, after) = after.split_once(END).expect("an output without its end");
        let output = output(arguments);
        fresh.extend([before, START, arguments, STOP, &output, END]);
        rest = after;
    }
    fresh + rest
}

fn output(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mosaic-memspace"))
        .args(arguments.split(' '))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() != Some(2), "{arguments}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    if arguments.contains("--format markdown") {
        format!("\n{text}\n")
    } else {
        let fence = if arguments.contains("--format json") { "json" } else { "text" };
        format!("\n```{fence}\n{text}```\n\n")
    }
}
