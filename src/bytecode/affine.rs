//! Affine maps and integer sets: from bytes, from text, and what they say.

use super::cursor::{Cursor, Read};
use super::fault::BytecodeProblem;
use super::text::Text;

/// Expressions nested deeper are not read.
const DEEPEST: usize = 256;

/// `affine_map<(d0, d1)[s0] -> (d0 + s0, 0)>`: results made of dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineMap {
    dimensions: u64,
    symbols: u64,
    results: Results,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Results {
    /// Every dimension, in order.
    Identity,
    /// A dimension each.
    Dimensions(Box<[u64]>),
    Expressions(Expressions),
}

/// `affine_set<(d0) : (d0 - 1 >= 0)>`: constraints on dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntegerSet {
    /// How many dimensions there are.
    pub dimensions: u64,
    /// How many symbols there are.
    pub symbols: u64,
    constraints: Expressions,
    /// For each constraint, whether it is `== 0`, else `>= 0`.
    equalities: Box<[bool]>,
}

/// Expressions, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Expressions {
    nodes: Box<[Node]>,
    /// The node that each expression begins with.
    roots: Box<[u32]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Dimension(u64),
    Symbol(u64),
    Constant(i64),
    Binary { operator: AffineOperator, left: u32, right: u32 },
}

/// What joins two affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOperator {
    /// `+`
    Add,
    /// `*`
    Mul,
    /// `mod`
    Mod,
    /// `floordiv`
    FloorDiv,
    /// `ceildiv`
    CeilDiv,
}

impl AffineOperator {
    /// MLIR's word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Mul => "*",
            Self::Mod => "mod",
            Self::FloorDiv => "floordiv",
            Self::CeilDiv => "ceildiv",
        }
    }
}

/// An affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffineExpr<'m> {
    /// `d0`
    Dimension(u64),
    /// `s0`
    Symbol(u64),
    /// `8`
    Constant(i64),
    /// `d0 + 8`
    Binary(AffineBinary<'m>),
}

/// Two affine expressions and what joins them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffineBinary<'m> {
    /// What joins them.
    pub operator: AffineOperator,
    expressions: &'m Expressions,
    left: u32,
    right: u32,
}

impl<'m> AffineBinary<'m> {
    /// The expression before the operator.
    pub fn left(self) -> AffineExpr<'m> {
        self.expressions.at(self.left)
    }

    /// The expression after the operator.
    pub fn right(self) -> AffineExpr<'m> {
        self.expressions.at(self.right)
    }
}

impl Expressions {
    fn at(&self, index: u32) -> AffineExpr<'_> {
        match self.nodes.get(index as usize) {
            Some(Node::Dimension(number)) => AffineExpr::Dimension(*number),
            Some(Node::Symbol(number)) => AffineExpr::Symbol(*number),
            Some(Node::Constant(value)) => AffineExpr::Constant(*value),
            Some(Node::Binary { operator, left, right }) => AffineExpr::Binary(AffineBinary {
                operator: *operator,
                expressions: self,
                left: *left,
                right: *right,
            }),
            // Every number of a node was given when it was made.
            None => AffineExpr::Constant(0),
        }
    }

    fn decode(data: &mut Cursor<'_>, dimensions: u64, symbols: u64) -> Read<Self> {
        let count = data.count("affine expressions", 2)?;
        let mut roots = Vec::with_capacity(count);
        let mut decoder = Decoder { nodes: Vec::new(), dimensions, symbols };
        for _ in 0..count {
            roots.push(decoder.expression(data, 0)?);
        }
        Ok(Self { nodes: decoder.nodes.into(), roots: roots.into() })
    }
}

struct Decoder {
    nodes: Vec<Node>,
    dimensions: u64,
    symbols: u64,
}

impl Decoder {
    /// Reads an expression, operator first, and gives its node.
    fn expression(&mut self, data: &mut Cursor<'_>, depth: usize) -> Read<u32> {
        let at = *data;
        if depth > DEEPEST {
            let problem = BytecodeProblem::Depth { what: "affine expressions", most: DEEPEST };
            return Err(at.fault(problem));
        }
        let code = data.varint("an affine expression")?;
        let node = match code {
            0 => Node::Dimension(number(data, "dimension", self.dimensions)?),
            1 => Node::Symbol(number(data, "symbol", self.symbols)?),
            2 => Node::Constant(data.svarint("an affine constant")?),
            _ => {
                let operator = match code {
                    3 => AffineOperator::Add,
                    4 => AffineOperator::Mul,
                    5 => AffineOperator::Mod,
                    6 => AffineOperator::FloorDiv,
                    7 => AffineOperator::CeilDiv,
                    _ => {
                        let what = "an affine expression";
                        return Err(at.fault(BytecodeProblem::Code { what, code, most: 7 }));
                    }
                };
                let left = self.expression(data, depth.saturating_add(1))?;
                let right = self.expression(data, depth.saturating_add(1))?;
                Node::Binary { operator, left, right }
            }
        };
        Ok(push(&mut self.nodes, node))
    }
}

fn push(nodes: &mut Vec<Node>, node: Node) -> u32 {
    // A node takes a byte at least, and a file has no more bytes than this counts.
    let index = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    nodes.push(node);
    index
}

fn number(data: &mut Cursor<'_>, what: &'static str, count: u64) -> Read<u64> {
    let at = *data;
    let index = data.varint(what)?;
    if index < count {
        return Ok(index);
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Err(at.fault(BytecodeProblem::Index { what, index, count }))
}

impl AffineMap {
    /// How many dimensions it has.
    pub const fn dimensions(&self) -> u64 {
        self.dimensions
    }

    /// How many symbols it has.
    pub const fn symbols(&self) -> u64 {
        self.symbols
    }

    /// How many results it has.
    pub const fn result_count(&self) -> u64 {
        match &self.results {
            Results::Identity => self.dimensions,
            Results::Dimensions(results) => results.len() as u64,
            Results::Expressions(expressions) => expressions.roots.len() as u64,
        }
    }

    /// A result, or `None` past the last.
    pub fn result(&self, number: u64) -> Option<AffineExpr<'_>> {
        let index = usize::try_from(number).ok();
        match &self.results {
            Results::Identity => {
                (number < self.dimensions).then_some(AffineExpr::Dimension(number))
            }
            Results::Dimensions(results) => {
                results.get(index?).map(|dimension| AffineExpr::Dimension(*dimension))
            }
            Results::Expressions(expressions) => {
                expressions.roots.get(index?).map(|root| expressions.at(*root))
            }
        }
    }

    /// Whether its results are its dimensions, in order: as a layout, the usual one.
    pub fn is_identity(&self) -> bool {
        let in_order =
            |(place, result): (u64, AffineExpr<'_>)| result == AffineExpr::Dimension(place);
        match &self.results {
            Results::Identity => true,
            Results::Dimensions(_) | Results::Expressions(_) => {
                self.symbols == 0
                    && self.result_count() == self.dimensions
                    && (0_u64..).zip(self.iter()).all(in_order)
            }
        }
    }

    /// The results in order.
    pub fn iter(&self) -> impl Iterator<Item = AffineExpr<'_>> {
        (0..self.result_count()).map_while(|number| self.result(number))
    }

    pub(super) fn decode(data: &mut Cursor<'_>) -> Read<Self> {
        let at = *data;
        let header = data.varint("an affine map")?;
        let dimensions = header >> 2;
        let positions = |data: &mut Cursor<'_>, count: usize| {
            let position = |_| number(data, "dimension", dimensions);
            (0..count).map(position).collect::<Read<_>>().map(Results::Dimensions)
        };
        let mut symbols = 0;
        let results = match header & 3 {
            0 => Results::Identity,
            1 => {
                let count =
                    data.checked(at.offset(), "dimensions of a permutation", dimensions, 1)?;
                positions(data, count)?
            }
            2 => {
                let count = data.count("results of an affine map", 1)?;
                positions(data, count)?
            }
            _ => {
                symbols = data.varint("symbols of an affine map")?;
                Results::Expressions(Expressions::decode(data, dimensions, symbols)?)
            }
        };
        Ok(Self { dimensions, symbols, results })
    }

    /// Reads `affine_map<(d0, d1)[s0] -> (d0, 0)>` as MLIR prints it; `None` for
    /// anything else.
    ///
    /// ```
    /// use mosaic_memspace::bytecode::{AffineExpr, AffineMap, Text};
    /// let map = AffineMap::parse(Text::new(b"affine_map<(d0, d1) -> (d1, 0)>")).unwrap();
    /// assert_eq!(map.result(0), Some(AffineExpr::Dimension(1)));
    /// assert_eq!(map.result(1), Some(AffineExpr::Constant(0)));
    /// assert_eq!(map.to_string(), "affine_map<(d0, d1) -> (d1, 0)>");
    /// assert_eq!(AffineMap::parse(Text::new(b"affine_map<")), None);
    /// ```
    pub fn parse(text: Text<'_>) -> Option<Self> {
        let inside = text.as_str()?.trim().strip_prefix("affine_map<")?.strip_suffix('>')?;
        let (inputs, outputs) = inside.split_once("->")?;
        let inputs = inputs.trim();
        let (dimensions, symbols) = match inputs.split_once('[') {
            Some((dimensions, symbols)) => (dimensions, symbols.strip_suffix(']')?),
            None => (inputs, ""),
        };
        let dimensions = dimensions.trim().strip_prefix('(')?.strip_suffix(')')?;
        let dimensions = names(dimensions, 'd')?;
        let symbols = names(symbols, 's')?;
        let (nodes, depths) = (Vec::new(), Vec::new());
        let mut parser = Parser { rest: outputs, nodes, depths, dimensions, symbols };
        let mut roots = Vec::new();
        parser.symbol("(")?;
        if parser.symbol(")").is_none() {
            loop {
                roots.push(parser.sum(0)?);
                if parser.symbol(",").is_none() {
                    break;
                }
            }
            parser.symbol(")")?;
        }
        if !parser.rest.trim().is_empty() {
            return None;
        }
        let expressions = Expressions { nodes: parser.nodes.into(), roots: roots.into() };
        Some(Self { dimensions, symbols, results: Results::Expressions(expressions) })
    }
}

/// How many names there are: `d0, d1, …`.
fn names(list: &str, letter: char) -> Option<u64> {
    if list.trim().is_empty() {
        return Some(0);
    }
    let mut count = 0_u64;
    for name in list.split(',') {
        let number = name.trim().strip_prefix(letter)?.parse::<u64>().ok()?;
        if number != count {
            return None;
        }
        count = count.checked_add(1)?;
    }
    Some(count)
}

/// Reads affine expressions as MLIR writes them.
struct Parser<'t> {
    rest: &'t str,
    nodes: Vec<Node>,
    /// How deep each node is.
    depths: Vec<usize>,
    dimensions: u64,
    symbols: u64,
}

impl Parser<'_> {
    fn symbol(&mut self, symbol: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(symbol)?;
        Some(())
    }

    fn leaf(&mut self, node: Node) -> u32 {
        self.depths.push(0);
        push(&mut self.nodes, node)
    }

    fn join(&mut self, operator: AffineOperator, left: u32, right: u32) -> Option<u32> {
        let depth = |node: u32| self.depths.get(node as usize).copied();
        let depth = depth(left)?.max(depth(right)?).checked_add(1)?;
        self.depths.push(depth);
        let node = push(&mut self.nodes, Node::Binary { operator, left, right });
        (depth <= DEEPEST).then_some(node)
    }

    /// Products with `+` and `-` between them.
    fn sum(&mut self, depth: usize) -> Option<u32> {
        let mut left = self.product(depth)?;
        loop {
            let minus = if self.symbol("+").is_some() {
                false
            } else if self.symbol("-").is_some() {
                true
            } else {
                return Some(left);
            };
            let right = self.product(depth)?;
            let right = if minus { self.negated(right)? } else { right };
            left = self.join(AffineOperator::Add, left, right)?;
        }
    }

    fn negated(&mut self, expression: u32) -> Option<u32> {
        if let Some(Node::Constant(value)) = self.nodes.get_mut(expression as usize) {
            *value = value.wrapping_neg();
            return Some(expression);
        }
        let minus_one = self.leaf(Node::Constant(-1));
        self.join(AffineOperator::Mul, expression, minus_one)
    }

    /// Atoms with `*`, `mod`, `floordiv` and `ceildiv` between them.
    fn product(&mut self, depth: usize) -> Option<u32> {
        const OPERATORS: [AffineOperator; 4] = [
            AffineOperator::Mul,
            AffineOperator::Mod,
            AffineOperator::FloorDiv,
            AffineOperator::CeilDiv,
        ];
        let mut left = self.atom(depth)?;
        loop {
            let rest = self.rest.trim_start();
            let next = OPERATORS.iter().find(|operator| rest.starts_with(operator.as_str()));
            let Some(operator) = next else { return Some(left) };
            self.symbol(operator.as_str())?;
            let right = self.atom(depth)?;
            left = self.join(*operator, left, right)?;
        }
    }

    fn atom(&mut self, depth: usize) -> Option<u32> {
        let depth = depth.checked_add(1).filter(|depth| *depth <= DEEPEST)?;
        if self.symbol("(").is_some() {
            let inside = self.sum(depth)?;
            self.symbol(")")?;
            return Some(inside);
        }
        if self.symbol("-").is_some() {
            let inside = self.atom(depth)?;
            return self.negated(inside);
        }
        if self.symbol("d").is_some() {
            let number = self.digits()?.parse().ok().filter(|number| *number < self.dimensions)?;
            return Some(self.leaf(Node::Dimension(number)));
        }
        if self.symbol("s").is_some() {
            let number = self.digits()?.parse().ok().filter(|number| *number < self.symbols)?;
            return Some(self.leaf(Node::Symbol(number)));
        }
        let value = self.digits()?.parse().ok()?;
        Some(self.leaf(Node::Constant(value)))
    }

    fn digits(&mut self) -> Option<&str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at_checked(end)?;
        self.rest = rest;
        (!digits.is_empty()).then_some(digits)
    }
}

impl IntegerSet {
    pub(super) fn decode(data: &mut Cursor<'_>) -> Read<Self> {
        let dimensions = data.varint("dimensions of an integer set")?;
        let symbols = data.varint("symbols of an integer set")?;
        let constraints = Expressions::decode(data, dimensions, symbols)?;
        let kinds = data.bytes("kinds of constraints", constraints.roots.len() as u64)?;
        let equalities = kinds.iter().map(|kind| *kind != 0).collect();
        Ok(Self { dimensions, symbols, constraints, equalities })
    }

    /// The constraints, and whether each is `== 0`, else `>= 0`.
    pub fn iter(&self) -> impl Iterator<Item = (AffineExpr<'_>, bool)> {
        let expressions = self.constraints.roots.iter().map(|root| self.constraints.at(*root));
        expressions.zip(self.equalities.iter().copied())
    }
}
