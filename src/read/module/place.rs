//! Where in the author's Python an operation or an argument comes from.

use crate::bytecode::{
    Attribute, AttributeId, Bytecode, FileRange, Location, Operation, Region, Text, Value,
};
use crate::error::{Code, Fault};

/// The locations of a body that stand in a module of their own (`debug_locations`): one
/// for each operation and block argument.
#[derive(Debug)]
pub struct DebugLocations<'m, 'a> {
    file: &'m Bytecode<'a>,
    locations: &'m [AttributeId],
    /// How many block arguments there are before each operation.
    arguments_before: Vec<u32>,
    /// The number, in `locations`, of each block argument, by its value.
    of_argument: Vec<u32>,
}

/// Debug locations that are not those of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found} debug locations, expected {expected}: one for each operation and block argument of \
     the body"
)]
pub struct LocationsMismatch {
    found: usize,
    expected: usize,
}

impl Fault for LocationsMismatch {
    fn code(&self) -> Code {
        Code::InvalidBytecode
    }
}

impl<'m, 'a> DebugLocations<'m, 'a> {
    /// The locations in `file` of what is in `body`.
    ///
    /// # Errors
    /// [`LocationsMismatch`]: there are more or fewer than operations and block arguments.
    pub fn read(file: &'m Bytecode<'a>, body: &Bytecode<'_>) -> Result<Self, LocationsMismatch> {
        let locations = file.module().attribute("tpu.locs").and_then(Attribute::as_array);
        let locations = locations.unwrap_or_default();
        let mut arguments_before = Vec::with_capacity(body.operation_count());
        let mut of_argument = vec![u32::MAX; body.value_count()];
        let mut next = 0_u32;
        let mut arguments = 0_u32;
        // A block's arguments stand before its first operation, so the blocks that an
        // operation opens come after it, those of its first region first; a block without
        // operations has its arguments all the same.
        for place in Walked::new(body.module()) {
            match place {
                Place::Operation => arguments_before.push(arguments),
                Place::Argument(value) => {
                    if let Some(of) = of_argument.get_mut(value.index()) {
                        *of = next;
                    }
                    arguments = arguments.saturating_add(1);
                }
            }
            next = next.saturating_add(1);
        }
        let expected = next as usize;
        if locations.len() != expected {
            return Err(LocationsMismatch { found: locations.len(), expected });
        }
        Ok(Self { file, locations, arguments_before, of_argument })
    }

    /// Where an operation of the body comes from.
    pub fn operation(&self, operation: Operation<'_, '_>) -> Option<FileRange<'a>> {
        let before = *self.arguments_before.get(operation.index())?;
        let index = operation.index().checked_add(before as usize)?;
        author(self.file, *self.locations.get(index)?)
    }

    /// The name of a block argument of the body: `q_tile_ref`, `args[0]`.
    pub fn argument(&self, value: Value<'_, '_>) -> Option<Text<'a>> {
        let index = *self.of_argument.get(value.index())?;
        named(self.file, *self.locations.get(index as usize)?)
    }
}

/// Operations and block arguments in the order of the walk.
struct Walked<'m, 'a> {
    /// What is still to be walked, the next last.
    left: Vec<Left<'m, 'a>>,
}

enum Left<'m, 'a> {
    Operation(Operation<'m, 'a>),
    Argument(Value<'m, 'a>),
}

enum Place<'m, 'a> {
    Operation,
    Argument(Value<'m, 'a>),
}

impl<'m, 'a> Walked<'m, 'a> {
    fn new(module: Operation<'m, 'a>) -> Self {
        Self { left: vec![Left::Operation(module)] }
    }
}

impl<'m, 'a> Iterator for Walked<'m, 'a> {
    type Item = Place<'m, 'a>;

    fn next(&mut self) -> Option<Place<'m, 'a>> {
        match self.left.pop()? {
            Left::Argument(value) => Some(Place::Argument(value)),
            Left::Operation(operation) => {
                let from = self.left.len();
                for block in operation.regions().flat_map(Region::blocks) {
                    self.left.extend(block.arguments().map(Left::Argument));
                    self.left.extend(block.operations().map(Left::Operation));
                }
                if let Some(own) = self.left.get_mut(from..) {
                    own.reverse();
                }
                Some(Place::Operation)
            }
        }
    }
}

impl<'a> super::ModuleBody<'_, 'a> {
    /// Where an operation comes from, as the body's own locations say: the file and line
    /// of the author's Python. Bodies of JAX 0.12 have them in
    /// [`DebugLocations`] instead.
    pub fn place_of(operation: Operation<'_, 'a>) -> Option<FileRange<'a>> {
        author(operation.file(), operation.location())
    }

    /// The name that an argument's own location says.
    pub fn name_of(value: Value<'_, 'a>) -> Option<Text<'a>> {
        named(value.file(), value.location()?)
    }
}

/// Locations lead to others; so many are followed.
const FOLLOWED: usize = 256;

/// The innermost file and line that a location leads to.
fn author<'a>(file: &Bytecode<'a>, id: AttributeId) -> Option<FileRange<'a>> {
    let mut left = vec![id];
    for _ in 0..FOLLOWED {
        match file.attribute(left.pop()?).ok()?.as_location()? {
            Location::File(range) => return Some(*range),
            Location::Name { child, .. } => left.push(*child),
            // What was called is the author's line; where it was called is next best.
            Location::CallSite { callee, caller } => left.extend([*caller, *callee]),
            Location::Fused { locations, .. } => {
                left.extend(locations.iter().take(FOLLOWED).rev());
            }
            Location::Unknown => {}
        }
    }
    None
}

/// The name of a location, if it has one itself.
fn named<'a>(file: &Bytecode<'a>, id: AttributeId) -> Option<Text<'a>> {
    match file.attribute(id).ok()?.as_location()? {
        Location::Name { name, .. } => Some(*name),
        Location::Unknown
        | Location::File(_)
        | Location::CallSite { .. }
        | Location::Fused { .. } => None,
    }
}
