//! Values of JSON, and what is read from them.

use super::fault::JsonFault;
use super::json::{Kind, Tree};
use super::schema::Definitions;
use crate::custom_call::ParamFault;
use crate::error::UnknownWord;
use crate::kernel::Place;
use crate::word::Shown;
use std::borrow::Cow;
use std::ops::Range;

/// A value of a description, and the way to it.
#[derive(Clone, Copy)]
pub(super) struct Value<'r, 'a> {
    tree: &'r Tree<'a>,
    node: usize,
    above: Option<&'r Value<'r, 'a>>,
    step: Step,
    /// What the field is for that it is in.
    doc: &'static str,
}

/// From a value into one in it.
#[derive(Clone, Copy)]
enum Step {
    Element(usize),
    Field(&'static str),
    /// Into the field with the key that is this node.
    Key(usize),
}

impl<'r, 'a> Value<'r, 'a> {
    /// The value that holds all others.
    pub(super) const fn root(tree: &'r Tree<'a>, doc: &'static str) -> Self {
        Self { tree, node: Tree::ROOT, above: None, step: Step::Element(0), doc }
    }

    pub(super) fn kind(&self) -> Kind {
        self.tree.kind(self.node)
    }

    pub(super) fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    pub(super) fn json(&self) -> &'a str {
        self.tree.json(self.node)
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.tree.range(self.node)
    }

    /// What it says, if it is a string.
    pub(super) fn string(&self) -> Option<Cow<'a, str>> {
        if self.kind() == Kind::Text { self.tree.string(self.node) } else { None }
    }

    pub(super) fn place(&self) -> Place {
        let Some(above) = self.above else { return Place::kernel() };
        match self.step {
            Step::Element(index) => above.place().index(index),
            Step::Field(field) => above.place().field(field),
            Step::Key(key) => above.place().key(&self.tree.string(key).unwrap_or_default()),
        }
    }

    /// The elements of a list; of anything else, none.
    pub(super) fn elements(&'r self) -> impl Iterator<Item = Self> {
        let is_list = matches!(self.kind(), Kind::List | Kind::OpenList);
        let parts = self.tree.parts(self.node).take_while(move |_| is_list);
        parts.enumerate().map(|(index, node)| self.inside(node, Step::Element(index)))
    }

    /// The fields of an object, with the places of their keys; of anything else, none.
    pub(super) fn fields(&'r self) -> impl Iterator<Item = (Cow<'a, str>, Range<usize>, Self)> {
        let is_object = matches!(self.kind(), Kind::Object | Kind::OpenObject);
        let mut parts = self.tree.parts(self.node).take_while(move |_| is_object);
        std::iter::from_fn(move || {
            // A text may break between a key and its value.
            let (key, value) = (parts.next()?, parts.next()?);
            let name = self.tree.string(key).unwrap_or_default();
            Some((name, self.tree.range(key), self.inside(value, Step::Key(key))))
        })
    }

    const fn inside(&'r self, node: usize, step: Step) -> Self {
        Self { node, step, above: Some(self), ..*self }
    }

    /// The value, of a field that is known.
    pub(super) const fn of(self, field: &'static str, doc: &'static str) -> Self {
        Self { step: Step::Field(field), doc, ..self }
    }

    /// Reads it into its field. A null is as if it were absent, where it may be.
    pub(super) fn fill<T: Json>(&self, field: &mut T, is_required: bool, faults: &mut Faults) {
        if !self.is_null() {
            if let Some(read) = T::read(self, faults) {
                *field = read;
            }
        } else if is_required {
            faults.wrong(self, T::expected());
        } else if let Some(null) = T::null() {
            *field = null;
        }
    }
}

/// What is found wrong on the way through a description.
#[derive(Default)]
pub(super) struct Faults {
    /// What makes it unusable.
    pub(super) input: Vec<Located>,
    /// Parameters that no kernel can have, which its report tells.
    pub(super) params: Vec<ParamFault>,
    /// Words that a parameter does not take, which its report tells.
    pub(super) words: Vec<(Place, UnknownWord)>,
}

/// A fault, and where it is.
pub(super) struct Located {
    pub(super) fault: JsonFault,
    pub(super) at: Place,
    pub(super) range: Range<usize>,
}

impl Faults {
    pub(super) fn push(&mut self, fault: JsonFault, at: &Value<'_, '_>, range: Range<usize>) {
        self.input.push(Located { fault, at: at.place(), range });
    }

    /// What is there is not what belongs there.
    pub(super) fn wrong(&mut self, value: &Value<'_, '_>, expected: String) {
        let found = match value.kind() {
            Kind::Broken => return, // that is told already
            Kind::List | Kind::OpenList => "a list".to_owned(),
            Kind::Object | Kind::OpenObject => "an object".to_owned(),
            Kind::Null | Kind::False | Kind::True | Kind::Number | Kind::Text => {
                format!("`{}`", Shown(value.json()))
            }
        };
        let fault = JsonFault::WrongValue { found, expected, doc: value.doc };
        self.push(fault, value, value.range());
    }
}

/// What is read from JSON, and written.
pub(super) trait Json: Sized {
    /// What belongs there, as messages say it.
    fn expected() -> String;

    /// Reads it, or tells why it cannot.
    fn read(value: &Value<'_, '_>, faults: &mut Faults) -> Option<Self>;

    /// Adds it to a text.
    fn write(&self, json: &mut String);

    /// What it is, when it is not null.
    fn schema(definitions: &mut Definitions) -> serde_json::Value;

    /// What a null is, where it is more than an absent field.
    fn null() -> Option<Self> {
        None
    }
}
