//! Where in a description something is.

use std::fmt;

/// A place in a kernel's description, written with the names of its refs, as
/// `operands.x.block_shape`.
///
/// ```
/// use mosaic_memspace::kernel::Place;
///
/// let place = Place::list("operands").named(1, "x").field("block_shape");
/// assert_eq!(place.to_string(), "operands.x.block_shape");
/// assert_eq!(Place::list("aliases").index(0).to_string(), "aliases[0]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(Vec<Step>);

/// A step of a [`Place`], from the outside in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Step {
    /// Into a field of an object.
    Field(&'static str),
    /// Into an element of a list.
    Index(usize),
    /// Into a ref of a list: its index, and its name.
    Named(usize, Box<str>),
    /// Into a field that its author has named.
    Key(Box<str>),
}

impl Place {
    /// The kernel itself; it is written as nothing.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::kernel::Place::kernel().to_string(), "");
    /// ```
    pub const fn kernel() -> Self {
        Self(Vec::new())
    }

    /// A field of the kernel.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::kernel::Place::list("grid").to_string(), "grid");
    /// ```
    pub fn list(field: &'static str) -> Self {
        Self::kernel().field(field)
    }

    /// A field of what is here.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Place;
    /// let limit = Place::list("params").field("vmem_limit_bytes");
    /// assert_eq!(limit.to_string(), "params.vmem_limit_bytes");
    /// ```
    #[must_use]
    pub fn field(self, field: &'static str) -> Self {
        self.step(Step::Field(field))
    }

    /// An element of the list that is here.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Place;
    /// assert_eq!(Place::list("accesses").index(2).to_string(), "accesses[2]");
    /// ```
    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// The ref with this name and index in the list that is here.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Place;
    /// assert_eq!(Place::list("scratch").named(0, "acc").to_string(), "scratch.acc");
    /// ```
    #[must_use]
    pub fn named(self, index: usize, name: &str) -> Self {
        self.step(Step::Named(index, name.into()))
    }

    /// The entry with this key of what is here.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Place;
    /// let flag = Place::list("params").field("flags").key("xla_x");
    /// assert_eq!(flag.to_string(), "params.flags.xla_x");
    /// ```
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.step(Step::Key(key.into()))
    }

    /// The steps that lead here.
    ///
    /// ```
    /// use mosaic_memspace::kernel::{Place, Step};
    /// assert_eq!(Place::list("grid").steps(), [Step::Field("grid")]);
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Where it comes in a description: the field of the kernel, and the element.
    pub(super) fn order(&self) -> (usize, usize) {
        let mut steps = self.0.iter();
        let field = match steps.next() {
            Some(Step::Field(name)) => FIELDS.iter().position(|field| field == name),
            Some(Step::Index(_) | Step::Named(..) | Step::Key(_)) | None => None,
        };
        let element = match steps.next() {
            Some(Step::Index(index) | Step::Named(index, _)) => *index,
            Some(Step::Field(_) | Step::Key(_)) | None => 0,
        };
        (field.unwrap_or(FIELDS.len()), element)
    }

    fn step(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}

/// The fields of a kernel in which something can be wrong, in the order in which
/// they are described.
const FIELDS: &[&str] = &[
    "chip",
    "core_type",
    "mesh",
    "grid",
    "scalar_prefetch",
    "operands",
    "scratch",
    "pipelines",
    "aliases",
    "params",
    "accesses",
];

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(i, step)| {
            let dot = if i == 0 { "" } else { "." };
            match step {
                Step::Field(name) => write!(f, "{dot}{name}"),
                Step::Index(index) => write!(f, "[{index}]"),
                Step::Named(_, name) | Step::Key(name) => write!(f, "{dot}{name}"),
            }
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Place {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
