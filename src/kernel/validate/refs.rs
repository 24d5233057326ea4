//! The refs of a kernel by their names.

use super::Pass;
use crate::dtype::Dtype;
use crate::kernel::fault::KernelFault;
use crate::kernel::place::Place;
use crate::kernel::report::Diagnostic;
use crate::memory_space::Resolved;
use crate::operand::{Operand, Prefetch, Scratch};
use crate::word::{List, Shown};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A ref as it is described.
pub(super) enum Described<'k> {
    Prefetch(&'k Prefetch),
    Operand(&'k Operand),
    Scratch(&'k Scratch),
    /// What a pipeline allocates: a shape.
    Buffer(Vec<u64>),
}

/// What the rules ask of a ref.
pub(super) struct Entered<'k> {
    pub(super) described: Described<'k>,
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) rank: usize,
    pub(super) dtype: Option<Dtype>,
    pub(super) resolved: Option<Resolved>,
    /// Whether it may lie where it does: if not, nothing more is asked of it.
    pub(super) sound: bool,
}

/// The refs, in the order of the description, and by name.
#[derive(Default)]
pub(super) struct Refs<'k> {
    all: Vec<Entered<'k>>,
    by_name: HashMap<String, usize>,
}

impl<'k> Refs<'k> {
    /// Names shown to someone who has misspelled one.
    const SHOWN: usize = 10;

    pub(super) fn get(&self, name: &str) -> Result<&Entered<'k>, KernelFault> {
        let unknown = || KernelFault::UnknownRef { name: name.into(), known: self.known() };
        self.find(name).ok_or_else(unknown)
    }

    /// The first ref of this name.
    pub(super) fn find(&self, name: &str) -> Option<&Entered<'k>> {
        self.by_name.get(name).and_then(|index| self.all.get(*index))
    }

    /// All of them, in the order of the description.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Entered<'k>> {
        self.all.iter()
    }

    fn known(&self) -> String {
        let shown = self.all.iter().take(Self::SHOWN).map(|known| Shown(&known.name));
        let shown = List(shown).to_string();
        if self.all.len() > Self::SHOWN { format!("{shown}, …") } else { shown }
    }
}

impl<'k> Pass<'k> {
    /// Enters a ref, whose name has to be its own.
    pub(super) fn enter(&mut self, entered: Entered<'k>) {
        match self.refs.by_name.entry(entered.name.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(self.refs.all.len());
            }
            Entry::Occupied(entry) => {
                let first = self.refs.all.get(*entry.get()).map(|first| first.place.to_string());
                let fault = KernelFault::DuplicateName {
                    name: entered.name.as_str().into(),
                    first: first.unwrap_or_default().into(),
                };
                self.report.diagnostics.push(Diagnostic::within(fault, entered.place.clone()));
            }
        }
        self.refs.all.push(entered);
    }
}
