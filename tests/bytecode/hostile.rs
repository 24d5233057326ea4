//! Files that lie, hold themselves, or unfold without end.

use crate::encoder::{Block, Entry, Module, Op, empty, join, svarint, varint};
use mosaic_memspace::bytecode::{Bytecode, BytecodeFault, BytecodeProblem, Printed};
use mosaic_memspace::read::module::ModuleBody;
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn number(value: usize) -> Vec<u8> {
    varint(value as u64)
}

/// Asks a file everything that can be asked.
fn exhaust(bytes: &[u8]) -> Result<(), BytecodeFault> {
    let file = Bytecode::parse(bytes)?;
    for id in file.attributes() {
        let _ = file.attribute(id);
        let _ = file.show_attribute(id).at_most(1 << 10).to_string();
    }
    for id in file.types() {
        let _ = file.r#type(id);
        let _ = file.show_type(id).at_most(1 << 10).to_string();
    }
    let _ = file.resources();
    for operation in file.operations() {
        let _ = (operation.name().to_string(), operation.attributes());
        for value in operation.operands().chain(operation.results()) {
            let _ = (value.definition(), value.location());
        }
        let _ = ModuleBody::place_of(operation);
        let _ = operation.successors().count();
    }
    let module = ModuleBody::read(&file);
    for kernel in &module.kernels {
        let _ = kernel.peak(|_| u64::MAX);
        for argument in &kernel.arguments {
            let _ = ModuleBody::name_of(argument.value);
            let transform = argument.window.as_ref().and_then(|window| window.transform.as_ref());
            let _ = transform.map(|transform| kernel.moves(transform, 8));
        }
    }
    Ok(())
}

#[test]
fn an_attribute_may_hold_itself() {
    let mut module = empty(0);
    let own = module.attributes.len();
    module.array(&[own, own]);
    let key = module.string_attribute("k");
    let dictionary = module.attributes.len();
    module.attribute(join(&[varint(1), varint(1), number(key), number(dictionary)]));
    // A dictionary that is its own key is no dictionary.
    let key = module.attributes.len();
    module.attribute(join(&[varint(1), varint(1), number(key), number(key)]));
    let element = module.types.len();
    module.r#type(join(&[varint(9), number(element)]));
    let bytes = module.encode();
    exhaust(&bytes).unwrap();
    let file = Bytecode::parse(&bytes).unwrap();
    let ids: Vec<_> = file.attributes().collect();
    assert!(file.show_attribute(ids[own]).to_string().ends_with('…'));
    let fault = file.attribute(ids[key]).unwrap_err();
    assert!(matches!(fault.problem(), BytecodeProblem::Kind { .. }), "{fault}");
    assert!(file.show_type(file.types().next().unwrap()).to_string().ends_with('…'));
}

#[test]
fn a_small_table_may_unfold_without_end() {
    let mut module = empty(0);
    let mut last = 0;
    for _ in 0..100 {
        last = module.array(&[last, last]);
    }
    let bytes = module.encode();
    let start = Instant::now();
    exhaust(&bytes).unwrap();
    let file = Bytecode::parse(&bytes).unwrap();
    let printed = file.show_attribute(file.attributes().last().unwrap()).to_string();
    assert!(printed.ends_with('…') && printed.len() <= Printed::LONGEST + '…'.len_utf8());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn locations_may_lead_round_in_a_circle() {
    let mut module = empty(0);
    let own = module.attributes.len();
    module.attribute(join(&[varint(10), number(own), number(own)]));
    module.outermost.regions[0][0].operations.push(Op::default());
    exhaust(&module.encode()).unwrap();
}

#[test]
fn a_map_of_a_thousand_million_dimensions_is_six_bytes() {
    let mut module =
        kernel(&[0x2f].into_iter().chain(varint(1_000_000_000 << 2)).collect::<Vec<_>>());
    exhaust(&module.encode()).unwrap();
    module.attribute(join(&[varint(23), varint(1_000_000_000 << 2 | 1)]));
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let fault = file.attribute(file.attributes().last().unwrap()).unwrap_err();
    assert!(matches!(fault.problem(), BytecodeProblem::Count { count: 1_000_000_000, .. }));
}

/// A kernel of one operand whose window has this attribute as its transform.
fn kernel(transform: &[u8]) -> Module {
    let mut module = empty(0);
    let f32 = module.r#type(varint(5));
    let space = module.text_attribute("tpu", "#tpu.memory_space<vmem>");
    let layout = module.attribute(join(&[varint(23), varint(1 << 2)]));
    let memref =
        join(&[varint(11), number(space), varint(1), svarint(8), number(f32), number(layout)]);
    let memref = module.r#type(memref);
    let transform = module.attribute(transform.to_vec());
    let window = module.dictionary(&[("transform_indices", transform)]);
    let windows = module.array(&[window]);
    let attributes = module.dictionary(&[("window_params", windows)]);
    let name = module.name("func", "func");
    let function = Op {
        name,
        attributes: Some(attributes),
        isolated: true,
        regions: vec![vec![Block { arguments: vec![memref], operations: Vec::new() }]],
        ..Op::default()
    };
    module.outermost.regions[0][0].operations.push(function);
    module
}

#[test]
fn regions_may_be_nested_without_end() {
    const DEEP: usize = 20_000;
    // An operation in one region, that is in one, and so on: written flat, since the
    // encoder would not come back.
    let nested = |version: u8| {
        let mut module = empty(version);
        let op = module.name("x", "op");
        module.outermost = Op { name: op, ..Op::default() };
        let bytes = module.encode();
        let inner = join(&[number(op), vec![1 << 4], varint(0)]);
        let around = join(&[varint(1 << 1), varint(1), varint(0), varint(1 << 1)]);
        let mut data = join(&[varint(1 << 1), varint(0), vec![1 << 4], varint(0), around.clone()]);
        for _ in 0..DEEP {
            data.extend(&inner);
            data.extend(&around);
        }
        data.extend(join(&[number(op), vec![0], varint(0)]));
        let at = bytes.windows(2).rposition(|window| window == [4, 4 << 1 | 1]).unwrap();
        let mut deep = bytes[..at].to_vec();
        deep.extend(crate::encoder::section(4, &data));
        deep
    };
    let bytes = nested(0);
    exhaust(&bytes).unwrap();
    assert_eq!(Bytecode::parse(&bytes).unwrap().operation_count(), DEEP + 2);
}

#[test]
fn affine_expressions_are_read_so_deep_and_no_deeper() {
    let deep = |depth: usize| {
        let mut expression = join(&[varint(2), svarint(1)]);
        for _ in 0..depth {
            expression = join(&[varint(3), varint(2), svarint(0), expression]);
        }
        let mut module = empty(0);
        module.attribute(join(&[varint(23), varint(3), varint(0), varint(1), expression]));
        let bytes = module.encode();
        exhaust(&bytes).unwrap();
        let file = Bytecode::parse(&bytes).unwrap();
        file.attribute(file.attributes().last().unwrap()).map(|_| ()).map_err(Clone::clone)
    };
    assert_eq!(deep(256), Ok(()));
    let fault = deep(257).unwrap_err();
    assert!(matches!(fault.problem(), BytecodeProblem::Depth { most: 256, .. }), "{fault}");
    let mut module = empty(0);
    module.text_attribute("builtin", &format!("affine_map<() -> ({}1)>", "1 + ".repeat(100_000)));
    module.text_attribute("builtin", &format!("affine_map<() -> ({}", "(".repeat(100_000)));
    exhaust(&module.encode()).unwrap();
}

#[test]
fn counts_are_checked_before_anything_is_reserved() {
    let huge = varint(u64::MAX);
    for code in [0, 1, 12, 16] {
        let mut module = empty(0);
        module.attribute(join(&[varint(code), huge.clone()]));
        exhaust(&module.encode()).unwrap();
    }
    let mut module = empty(0);
    module.r#type(join(&[varint(15), huge.clone()]));
    module.r#type(join(&[varint(19), huge.clone()]));
    exhaust(&module.encode()).unwrap();
    // Each of the tables says that it has more than there are bytes.
    let sound = empty(0).encode();
    for (id, least) in [(0_u8, 2), (1, 1), (2, 0), (3, 1), (4, 1)] {
        let bytes = with_section(&sound, id, &huge);
        let start = Instant::now();
        let fault = Bytecode::parse(&bytes).unwrap_err();
        assert!(fault.offset() <= bytes.len(), "section {id}, {least}: {fault}");
        assert!(start.elapsed() < Duration::from_secs(1));
    }
}

/// A file with another section of this number.
fn with_section(file: &[u8], id: u8, data: &[u8]) -> Vec<u8> {
    // Magic, version, producer.
    let mut at = 4 + 1 + 5;
    let mut bytes = file[..at].to_vec();
    while at < file.len() {
        let (own, length) = (file[at], usize::from(file[at + 1] >> 1));
        assert_eq!(file[at + 1] & 1, 1, "a short section");
        let end = at + 2 + length;
        if own == id {
            bytes.extend(crate::encoder::section(id, data));
        } else {
            bytes.extend(&file[at..end]);
        }
        at = end;
    }
    bytes
}

#[test]
fn regions_that_promise_values_cannot_promise_the_same_bytes_twice() {
    // Each region says that it defines all that is left, and holds the next.
    const LEFT: usize = 100_000;
    let mut module = empty(0);
    let op = module.name("x", "op");
    let mut data = join(&[varint(1 << 1), varint(0), vec![1 << 4], varint(0)]);
    for _ in 0..1000 {
        data.extend(join(&[varint(1 << 1), varint(1), number(LEFT), varint(1 << 1)]));
        data.extend(join(&[number(op), vec![1 << 4], varint(0)]));
    }
    data.extend(vec![1; LEFT + 1000]);
    let at = module.encode().windows(2).rposition(|window| window[0] == 4).unwrap();
    let mut bytes = module.encode()[..at].to_vec();
    bytes.extend(crate::encoder::section(4, &data));
    let fault = Bytecode::parse(&bytes).unwrap_err();
    assert!(
        matches!(fault.problem(), BytecodeProblem::Count { what: "values of a region", .. }),
        "{fault}"
    );
}

#[test]
fn a_large_dictionary_is_searched_and_not_walked() {
    // As many operations as keys: to walk the keys for each would take hours.
    const MANY: usize = 60_000;
    let mut module = kernel(&varint(7));
    let unit = module.attribute(varint(7));
    let mut bytes = join(&[varint(1), number(MANY)]);
    let first = module.attributes.len();
    for key in 0..MANY {
        let string = module.strings.len();
        module.strings.push(format!("key{key}").into_bytes());
        module.attributes.push(Entry {
            dialect: 0,
            bytes: join(&[varint(2), number(string)]),
            own: true,
        });
        bytes.extend(join(&[number(first + key), number(unit)]));
    }
    let dictionary = module.attribute(bytes);
    let load = module.name("vector", "load");
    let one = Op { name: load, attributes: Some(dictionary), operands: vec![0], ..Op::default() };
    module.outermost.regions[0][0].operations[0].regions[0][0].operations = vec![one; MANY];
    let bytes = module.encode();
    let start = Instant::now();
    exhaust(&bytes).unwrap();
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let file = Bytecode::parse(&bytes).unwrap();
    let last = file.operations().next_back().unwrap();
    assert!(last.attribute("key59999").is_some() && last.attribute("key60000").is_none());
}

#[test]
fn an_index_map_is_not_evaluated_for_ever() {
    // Many kernels, all with one index map of many operations.
    const MANY: usize = 2000;
    let mut module = empty(0);
    let i32 = module.r#type(join(&[varint(0), varint(32 << 2)]));
    let (func, add) = (module.name("func", "func"), module.name("arith", "addi"));
    let ret = module.name("func", "return");
    let symbol = module.symbol("f");
    let name = module.string_attribute("f");
    let named = module.dictionary(&[("sym_name", name)]);
    let window = module.dictionary(&[("transform_indices", symbol)]);
    let windows = module.array(&[window]);
    let attributes = module.dictionary(&[("window_params", windows)]);
    let body = |operations: Vec<Op>, attributes: usize| Op {
        name: func,
        attributes: Some(attributes),
        isolated: true,
        regions: vec![vec![Block { arguments: vec![i32], operations }]],
        ..Op::default()
    };
    let sum = Op { name: add, operands: vec![0, 0], results: vec![i32], ..Op::default() };
    let mut map = vec![sum; MANY];
    map.push(Op { name: ret, operands: vec![1], ..Op::default() });
    let own = &mut module.outermost.regions[0][0].operations;
    own.push(body(map, named));
    own.extend(vec![body(Vec::new(), attributes); MANY]);
    let bytes = module.encode();
    let start = Instant::now();
    exhaust(&bytes).unwrap();
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let file = Bytecode::parse(&bytes).unwrap();
    let read = ModuleBody::read(&file);
    assert_eq!(read.kernels.len(), MANY);
    let said: Vec<_> = read.not_understood.iter().map(|(what, ..)| what.to_string()).collect();
    assert_eq!(said, ["function f, which takes too much work"]);
}

#[test]
fn strings_do_not_steer_a_terminal() {
    let mut module = empty(0);
    module.strings.push(b"\x1b[2J\xff".to_vec());
    let string = module.strings.len() - 1;
    module.attribute(join(&[varint(2), number(string)]));
    module.text_attribute("tpu", "#tpu.x<\x1b[2J>");
    module.names.push((0, string, false));
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let printed: Vec<_> = file.attributes().map(|id| file.show_attribute(id).to_string()).collect();
    assert_eq!(printed[1..], ["\"\\1B[2J\\FF\"", "#tpu.x<\\u{1b}[2J>"]);
    let (_, name) = file.operation_names().last().unwrap();
    assert_eq!(name.to_string(), "\\u{1b}[2J\u{fffd}");
}

#[test]
fn a_function_may_be_anything() {
    for (attributes, blocks) in [(None, 0), (None, 1), (None, 2), (Some(0), 1)] {
        let mut module = empty(0);
        let name = module.name("func", "func");
        let own =
            Op { name, attributes, regions: vec![vec![Block::default(); blocks]], ..Op::default() };
        module.outermost.regions[0][0].operations.push(own);
        let bytes = module.encode();
        exhaust(&bytes).unwrap();
        let file = Bytecode::parse(&bytes).unwrap();
        let read = ModuleBody::read(&file);
        assert_eq!(read.kernels.len(), 1);
        // An attribute that is no dictionary is told.
        assert_eq!(read.not_understood.is_empty(), attributes.is_none());
    }
}

fn sound() -> Vec<Vec<u8>> {
    let mut modules: Vec<_> =
        (0..=6).map(|version| crate::versions::module(version).encode()).collect();
    modules.push(kernel(&[0x2f, 0x17, 0x01, 0x05, 0x05, 0x01, 0x05, 0x01]).encode());
    modules
}

#[test]
fn a_file_cut_short_is_refused() {
    for bytes in sound() {
        exhaust(&bytes).unwrap();
        for end in 0..bytes.len() {
            let fault = exhaust(&bytes[..end]).unwrap_err();
            assert!(fault.offset() <= end, "{fault}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_file_is_read_or_refused(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<Option<prop::sample::Index>>(),
    ) {
        let all = sound();
        let mut bytes = which.get(&all).clone();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(fault) = exhaust(&bytes) {
            prop_assert!(fault.offset() <= bytes.len());
        }
    }

    #[test]
    fn bytes_of_chance_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut file = b"ML\xefR\x01x\0".to_vec();
        file.extend(bytes);
        prop_assert!(exhaust(&file).is_err());
    }
}
