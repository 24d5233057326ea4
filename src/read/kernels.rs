//! The kernels of a text, one after the other.

use super::fault::{InputFault, InputFaults, Span};
use super::json::{Kind, Tree, blanks, character, next_object, not_json};
use super::text::{Position, Positions};
use super::value::{Faults, Json, Located, Value};
use crate::kernel::{Kernel, Place, Step};
use std::borrow::Cow;
use std::collections::HashMap;

impl Kernel {
    /// The kernel's description in JSON, in a line, from which [`Kernels`] reads the
    /// same kernel. `None` for a chip that is not a registered one, whose facts no
    /// description says.
    ///
    /// ```
    /// use mosaic_memspace::kernel::Kernel;
    /// use mosaic_memspace::read::Kernels;
    /// use mosaic_memspace::{Chip, CoreType};
    ///
    /// let kernel = Kernel::pipelined(CoreType::Tc).on(Chip::V5e).grid([4]);
    /// let json = kernel.to_json().ok_or("no registered chip")?;
    /// assert_eq!(json, r#"{"chip": "v5e", "core_type": "tc", "grid": [4], "operands": []}"#);
    /// let read = Kernels::new(&json).next().and_then(Result::ok).ok_or("no kernel")?;
    /// assert_eq!(read.kernel, kernel);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn to_json(&self) -> Option<String> {
        let mut json = String::new();
        self.write(&mut json);
        Some(json)
    }
}

/// The kernels of a JSON text: a single one, several one after the other (as in
/// JSON lines), or a list of them.
///
/// Each is read when it is asked for. One that cannot be used, with everything that is
/// wrong with it, hides none of the others; after one whose text breaks, the next is in
/// the next line that begins with `{`.
///
/// ```
/// use mosaic_memspace::read::Kernels;
///
/// let text = r#"{"core_type": "tc", "operands": []}
///               {"core_type": 3, "operand": []}"#;
/// let mut kernels = Kernels::new(text);
/// assert!(kernels.next().is_some_and(|kernel| kernel.is_ok()));
/// let faults = kernels.next().and_then(Result::err).map(|faults| faults.to_string());
/// assert_eq!(
///     faults.as_deref(),
///     Some(
///         "2:15: missing field `operands`\n\
///          2:29: core_type: `3` where a string belongs\n\
///          2:32: operand: unknown field `operand`"
///     )
/// );
/// assert!(kernels.next().is_none());
/// ```
pub struct Kernels<'a> {
    text: &'a str,
    at: Position,
    next: Next,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Next {
    /// A list, or the first kernel.
    Start,
    Kernel,
    /// The first element of a list, or its end.
    First,
    Element,
    /// A comma, or the end of the list.
    More,
    /// The end of the text.
    End,
    Nothing,
}

impl<'a> Kernels<'a> {
    /// The kernels of `text`.
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: Position::START, next: Next::Start }
    }

    fn go_to(&mut self, byte: usize) {
        self.at = self.at.after(self.text, byte);
    }

    fn skip(&mut self, next: Next) {
        self.go_to(self.at.byte.saturating_add(1));
        self.next = next;
    }

    fn kernel(&mut self) -> Result<Described<'a>, InputFaults> {
        let mut positions = Positions::new(self.text, self.at);
        let mut faults = Faults::default();
        let (tree, end) = Tree::read(self.text, self.at.byte, &mut faults.input);
        let kernel = Kernel::read(&Value::root(&tree, HOW), &mut faults);
        let is_in_list = match self.next {
            Next::First | Next::Element | Next::More => true,
            Next::Start | Next::Kernel | Next::End | Next::Nothing => false,
        };
        match end {
            Ok(end) => {
                self.go_to(end);
                self.next = if is_in_list { Next::More } else { Next::Kernel };
            }
            Err(at) => match next_object(self.text, at) {
                Some(start) => {
                    self.go_to(start);
                    self.next = if is_in_list { Next::Element } else { Next::Kernel };
                }
                None => self.next = Next::Nothing,
            },
        }
        match kernel {
            Some(kernel) if faults.input.is_empty() => {
                Ok(Described { kernel, tree, positions, parts: HashMap::new() })
            }
            Some(_) | None => Err(placed(faults.input, &mut positions)),
        }
    }

    /// Another character is here than should follow a kernel.
    fn refuse<T>(&mut self, expected: &'static str, next: Next) -> Result<T, InputFaults> {
        self.next = next;
        let fault = not_json(self.text, character(self.text, self.at.byte), expected);
        Err(placed(vec![fault], &mut Positions::new(self.text, self.at)))
    }
}

/// What to write, where a kernel should be and is none.
const HOW: &str = "describe a kernel, as {\"core_type\": \"tc\", \"operands\": []}";

fn placed(mut faults: Vec<Located>, positions: &mut Positions<'_>) -> InputFaults {
    faults.sort_by_key(|fault| fault.range.start);
    let placed =
        |Located { fault, at, range }| InputFault { at, span: positions.span(range), fault };
    faults.into_iter().map(placed).collect()
}

impl<'a> Iterator for Kernels<'a> {
    type Item = Result<Described<'a>, InputFaults>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.go_to(blanks(self.text, self.at.byte));
            let byte = self.text.as_bytes().get(self.at.byte).copied();
            match (self.next, byte) {
                (Next::Nothing, _) | (Next::Start | Next::Kernel | Next::End, None) => return None,
                (Next::Start, Some(b'[')) => self.skip(Next::First),
                (Next::First | Next::More, Some(b']')) => self.skip(Next::End),
                (Next::More, Some(b',')) => self.skip(Next::Element),
                (Next::Start | Next::Kernel | Next::First | Next::Element, Some(_)) => {
                    return Some(self.kernel());
                }
                (Next::More, Some(b'{')) => return Some(self.refuse("`,` or `]`", Next::Element)),
                (Next::First | Next::Element | Next::More, None) | (Next::More, Some(_)) => {
                    return Some(self.refuse("`,` or `]`", Next::Nothing));
                }
                (Next::End, Some(_)) => {
                    return Some(self.refuse("the end of the text", Next::Nothing));
                }
            }
        }
    }
}

/// A kernel, and where in a text it is described.
///
/// ```
/// use mosaic_memspace::kernel::Place;
/// use mosaic_memspace::read::Kernels;
///
/// let text = r#"{"core_type": "tc",
///                "operands": [], "grid": [4]}"#;
/// let mut described = Kernels::new(text).next().and_then(Result::ok).ok_or("no kernel")?;
/// let span = described.span(&Place::list("grid"));
/// assert_eq!(&text[span.range.clone()], "[4]");
/// assert_eq!((span.line, span.column), (2, 40));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Described<'a> {
    /// What it says.
    pub kernel: Kernel,
    tree: Tree<'a>,
    positions: Positions<'a>,
    /// The parts of lists and objects that have been looked into.
    parts: HashMap<usize, Parts<'a>>,
}

#[derive(Debug)]
enum Parts<'a> {
    Object(HashMap<Cow<'a, str>, usize>),
    List(Vec<usize>),
}

impl Described<'_> {
    /// The part of the text that says what is at `place`; where nothing is written
    /// there, that which it is missing from.
    pub fn span(&mut self, place: &Place) -> Span {
        let mut node = Tree::ROOT;
        for step in place.steps() {
            match self.part(node, step) {
                Some(part) => node = part,
                None => break,
            }
        }
        self.positions.span(self.tree.range(node))
    }

    fn part(&mut self, node: usize, step: &Step) -> Option<usize> {
        let tree = &self.tree;
        let parts = self.parts.entry(node).or_insert_with(|| Parts::of(tree, node));
        match (parts, step) {
            (Parts::Object(parts), Step::Field(name)) => parts.get(*name).copied(),
            (Parts::Object(parts), Step::Key(name)) => parts.get(&**name).copied(),
            (Parts::List(parts), Step::Index(i) | Step::Named(i, _)) => parts.get(*i).copied(),
            (Parts::Object(_) | Parts::List(_), _) => None,
        }
    }
}

impl<'a> Parts<'a> {
    fn of(tree: &Tree<'a>, node: usize) -> Self {
        if tree.kind(node) == Kind::Object {
            let mut parts = tree.parts(node);
            let field = || Some((tree.string(parts.next()?)?, parts.next()?));
            Self::Object(std::iter::from_fn(field).collect())
        } else {
            Self::List(tree.parts(node).collect())
        }
    }
}
