//! Rows of words, printed for a terminal, as Markdown, or as JSON.

use crate::failure::Failure;
use crate::shown;
use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    Text,
    /// A Markdown table
    Markdown,
    /// JSON: an array with an object a row
    Json,
}

/// A table: its first column names the row.
pub(crate) struct Grid {
    pub(crate) headers: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    pub(crate) fn new(headers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { headers: headers.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub(crate) fn print(&self, format: Format) -> Result<(), Failure> {
        let mut out = BufWriter::new(io::stdout().lock());
        match format {
            Format::Text => writeln!(out, "{}", self.text())?,
            Format::Markdown => write!(out, "{}", self.markdown())?,
            Format::Json => {
                shown::write_json(&mut out, &self.json())?;
                writeln!(out)?;
            }
        }
        Ok(out.flush()?)
    }

    /// The table as a terminal shows it, as wide as the terminal at most.
    pub(crate) fn text(&self) -> Table {
        let mut table = Table::new();
        table.load_preset(presets::UTF8_BORDERS_ONLY);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        if colors() {
            table.enforce_styling();
        } else {
            table.style_text_only();
        }
        let bold = |header: &String| {
            let cell = Cell::new(header);
            if colors() { cell.add_attribute(Attribute::Bold) } else { cell }
        };
        table.set_header(self.headers.iter().map(bold));
        let shown =
            |row: &Vec<String>| row.iter().map(|cell| shown::cell(cell)).collect::<Vec<_>>();
        table.add_rows(self.rows.iter().map(shown));
        table
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<_> = self.headers.iter().map(|_| "---".to_owned()).collect();
        let mut text = line(&self.headers) + &line(&rule);
        for row in &self.rows {
            let cells: Vec<_> =
                row.iter().map(|cell| shown::cell(cell).replace('|', "\\|")).collect();
            text += &line(&cells);
        }
        text
    }

    fn json(&self) -> serde_json::Value {
        let object = |row: &Vec<String>| -> serde_json::Map<String, serde_json::Value> {
            self.headers.iter().cloned().zip(row.iter().map(|cell| cell.clone().into())).collect()
        };
        self.rows.iter().map(object).collect::<Vec<_>>().into()
    }
}

/// A value as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    shown::write_pretty_json(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Whether standard output is shown in colors.
pub(crate) fn colors() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}
