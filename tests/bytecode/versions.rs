//! One module in every version of the format.

use crate::encoder::{Block, Module, Op, empty, join, varint};
use mosaic_memspace::bytecode::{Bytecode, Definition, Operation, Text};

/// A function with two blocks that lead to each other, an isolated operation within, a
/// region without blocks, a use before its definition.
pub(crate) fn module(version: u8) -> Module {
    let mut module = empty(version);
    let i32 = module.r#type(join(&[varint(0), varint(32 << 2)]));
    let f32 = module.r#type(varint(5));
    let unit = module.attribute(varint(7));
    let attributes = module.dictionary(&[("here", unit)]);
    let properties = module.dictionary(&[("there", unit)]);
    let sym_name = module.string_attribute("m");
    // The module is registered: an optional name, no visibility.
    module.properties.push(join(&[varint((sym_name as u64) << 1 | 1), varint(0)]));
    module.outermost.properties = Some(0);
    module.properties.push(varint(properties as u64));
    let outer = module.name("x", "outer");
    let inner = module.name("x", "inner");
    let branch = module.name("x", "branch");
    let inside = Op {
        name: inner,
        isolated: true,
        // Numbers begin again: 0 is the argument.
        regions: vec![vec![Block {
            arguments: vec![f32],
            operations: vec![Op { name: inner, operands: vec![0], ..Op::default() }],
        }]],
        ..Op::default()
    };
    let first = Block {
        arguments: vec![i32],
        operations: vec![
            // 2 is the second block's argument, 1 its own result.
            Op {
                name: inner,
                operands: vec![2, 0],
                results: vec![f32],
                attributes: Some(attributes),
                properties: Some(1),
                uses: Some(vec![1, 0]),
                ..Op::default()
            },
            inside,
            Op { name: branch, successors: vec![1, 0], ..Op::default() },
        ],
    };
    let second = Block {
        arguments: vec![i32],
        operations: vec![Op { name: branch, operands: vec![1], ..Op::default() }],
    };
    let operation =
        Op { name: outer, regions: vec![vec![first, second], Vec::new()], ..Op::default() };
    module.outermost.regions =
        vec![vec![Block { arguments: Vec::new(), operations: vec![operation] }]];
    module
}

fn names(operations: impl Iterator<Item = impl std::fmt::Display>) -> Vec<String> {
    operations.map(|operation| operation.to_string()).collect()
}

#[test]
fn every_version_says_the_same() {
    for version in 0..=6 {
        let bytes = module(version).encode();
        let file = Bytecode::parse(&bytes).unwrap_or_else(|fault| panic!("{version}: {fault}"));
        assert_eq!((file.version(), file.producer()), (version, Text::new(b"test")));
        let all = names(file.operations().map(Operation::name));
        let expected = "builtin.module x.outer x.inner x.inner x.inner x.branch x.branch";
        assert_eq!(all.join(" "), expected);
        let outer = file.module().regions().next().unwrap().blocks().next().unwrap();
        let outer = outer.operations().next().unwrap();
        let regions: Vec<_> = outer.regions().collect();
        assert_eq!(regions.len(), 2);
        assert_eq!(regions[1].blocks().count(), 0);
        let [first, second] = regions[0].blocks().collect::<Vec<_>>()[..] else {
            panic!("two blocks")
        };
        let own = names(first.operations().map(Operation::name));
        assert_eq!(own.join(" "), "x.inner x.inner x.branch");
        let (used, around) = (first.operations().next().unwrap(), outer);
        let operands: Vec<_> = used.operands().collect();
        assert_eq!(operands[0], second.arguments().next().unwrap());
        assert_eq!(operands[1], first.arguments().next().unwrap());
        assert_eq!(file.show_type(operands[1].type_id()).to_string(), "i32");
        let result = used.results().next().unwrap();
        assert!(
            matches!(result.definition(), Definition::Result(of, 0) if of.index() == used.index())
        );
        assert!(matches!(operands[0].definition(), Definition::Argument(of, 0) if of.is(second)));
        let last = second.operations().next().unwrap();
        assert_eq!(last.operand(0), Some(result));
        let isolated = first.operations().nth(1).unwrap();
        let within = isolated.regions().next().unwrap().blocks().next().unwrap();
        let inner = within.operations().next().unwrap();
        assert_eq!(inner.operand(0), within.arguments().next());
        assert_eq!(file.show_type(inner.operand(0).unwrap().type_id()).to_string(), "f32");
        assert_eq!(first.operations().nth(2).unwrap().successors().collect::<Vec<_>>(), [1, 0]);
        assert_eq!(last.parent().map(Operation::index), Some(around.index()));
        assert_eq!(around.descendants().count(), 5);
        // Properties came with version 5.
        let attributes = names(used.attributes().unwrap().iter().map(|(name, _)| name));
        let module = file.module().attribute("sym_name").and_then(|name| name.as_string());
        if version >= 5 {
            assert_eq!(attributes.join(" "), "there here");
            assert_eq!(module, Some(Text::new(b"m")));
        } else {
            assert_eq!(attributes.join(" "), "here");
            assert_eq!(module, None);
        }
        assert_eq!(file.symbols().count(), 0);
    }
}

#[test]
fn a_dialect_may_have_a_version_of_its_own() {
    for version in 1..=6 {
        let mut module = module(version);
        module.dialect_versions = true;
        let bytes = module.encode();
        let file = Bytecode::parse(&bytes).unwrap();
        assert_eq!(file.dialects().next(), Some(Text::new(b"builtin")));
        assert_eq!(file.operation_count(), 7);
    }
}

#[test]
fn a_newer_version_is_refused() {
    let mut bytes = module(0).encode();
    bytes[4] = 7 << 1 | 1;
    let fault = Bytecode::parse(&bytes).unwrap_err();
    assert_eq!(fault.to_string(), "byte 4: version 7 of the bytecode format, expected 0 to 6");
}
