//! The refs of a kernel by their names.

use super::Pass;
use crate::dtype::Dtype;
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::memory_space::Resolved;
use crate::word::{List, Shown, Word};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What the rules ask of a ref that an access names.
pub(super) struct Ref {
    pub(super) name: String,
    pub(super) rank: usize,
    pub(super) dtype: Option<Dtype>,
    pub(super) resolved: Option<Resolved>,
    /// Whether it may lie where it does: if not, nothing more is asked of it.
    pub(super) sound: bool,
}

/// The refs, in the order of the description, and by name.
#[derive(Default)]
pub(super) struct Refs {
    all: Vec<Ref>,
    by_name: HashMap<String, (usize, Place)>,
}

impl Refs {
    /// Names shown to someone who has misspelled one.
    const SHOWN: usize = 10;

    pub(super) fn get(&self, name: &str) -> Result<&Ref, KernelFault> {
        let found = self.by_name.get(name).and_then(|(index, _)| self.all.get(*index));
        found.ok_or_else(|| KernelFault::UnknownRef { name: Word::new(name), known: self.known() })
    }

    /// The ref with this number in the description.
    pub(super) fn nth(&self, number: usize) -> Option<&Ref> {
        self.all.get(number)
    }

    fn known(&self) -> String {
        let shown = self.all.iter().take(Self::SHOWN).map(|known| Shown(&known.name));
        let shown = List(shown).to_string();
        if self.all.len() > Self::SHOWN { format!("{shown}, …") } else { shown }
    }
}

impl Pass<'_> {
    /// Enters a ref, whose name has to be its own.
    pub(super) fn enter(&mut self, entered: Ref, place: &Place) {
        match self.refs.by_name.entry(entered.name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert((self.refs.all.len(), place.clone()));
            }
            Entry::Occupied(entry) => {
                let fault = KernelFault::DuplicateName {
                    name: Word::new(&entered.name),
                    first: Word::new(&entry.get().1.to_string()),
                };
                self.report.diagnostics.push(&fault, place.clone().field("name"));
            }
        }
        self.refs.all.push(entered);
    }
}
