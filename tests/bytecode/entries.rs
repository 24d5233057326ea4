//! Every code of an attribute and of a type, and how MLIR prints it.

use crate::encoder::{Module, empty, flagged, join, svarint, varint};
use mosaic_memspace::bytecode::{
    AffineExpr, AffineOperator, Attribute, Bytecode, BytecodeProblem, FloatKind, Type,
};

/// How the last attribute of a module is printed.
fn attribute(module: &Module) -> String {
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let last = file.attributes().last().unwrap();
    file.attribute(last).unwrap();
    file.show_attribute(last).to_string()
}

/// How the last type of a module is printed.
fn r#type(module: &Module) -> String {
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let last = file.types().last().unwrap();
    file.r#type(last).unwrap();
    file.show_type(last).to_string()
}

/// A module with the types i32, i1, i64, index, f32, f64, bf16, ui8, i8.
fn typed() -> Module {
    let mut module = empty(0);
    for bytes in [
        join(&[varint(0), varint(32 << 2)]),
        join(&[varint(0), varint(1 << 2)]),
        join(&[varint(0), varint(64 << 2)]),
        varint(1),
        varint(5),
        varint(6),
        varint(3),
        join(&[varint(0), varint(8 << 2 | 2)]),
        join(&[varint(0), varint(8 << 2)]),
    ] {
        module.r#type(bytes);
    }
    module
}

const I32: u64 = 0;
const I1: u64 = 1;
const I64: u64 = 2;
const INDEX: u64 = 3;
const F32: u64 = 4;
const F64: u64 = 5;
const BF16: u64 = 6;
const UI8: u64 = 7;
const I8: u64 = 8;

/// The attributes of a module that a memref's type is made of.
const SPACE: u64 = 1;
const LAYOUT: u64 = 2;

fn number(value: usize) -> Vec<u8> {
    varint(value as u64)
}

#[test]
fn scalars_are_as_wide_as_their_types() {
    let integer = |r#type: u64, value: Vec<u8>| {
        let mut module = typed();
        module.attribute(join(&[varint(8), varint(r#type), value]));
        attribute(&module)
    };
    // −1 : i32 is extended with zeros.
    assert_eq!(integer(I32, vec![0xd0, 0xff, 0xff, 0xff, 0x3f]), "-1 : i32");
    assert_eq!(integer(I32, svarint(7)), "7 : i32");
    assert_eq!(integer(I64, svarint(i64::MIN)), "-9223372036854775808 : i64");
    assert_eq!(integer(INDEX, svarint(-3)), "-3 : index");
    assert_eq!(integer(I1, vec![1]), "true");
    assert_eq!(integer(I1, vec![0]), "false");
    assert_eq!(integer(UI8, vec![200]), "200 : ui8");
    assert_eq!(integer(I8, vec![200]), "-56 : i8");
    // Longer than needed is legal.
    assert_eq!(integer(I32, vec![0b1010, 0]), "1 : i32");
}

#[test]
fn floats_are_printed_as_mlir_does() {
    let float = |r#type: u64, value: Vec<u8>| {
        let mut module = typed();
        module.attribute(join(&[varint(9), varint(r#type), value]));
        attribute(&module)
    };
    let of_f32 = |value: f32| float(F32, svarint(i64::from(value.to_bits())));
    let of_f64 = |value: f64| float(F64, svarint(value.to_bits().cast_signed()));
    assert_eq!(of_f32(1.0), "1.000000e+00 : f32");
    assert_eq!(of_f32(-0.0), "-0.000000e+00 : f32");
    assert_eq!(of_f32(0.1), "1.000000e-01 : f32");
    assert_eq!(of_f32(std::f32::consts::PI), "3.14159274 : f32");
    assert_eq!(of_f32(f32::NEG_INFINITY), "0xFF800000 : f32");
    assert_eq!(of_f32(1e30), "1.000000e+30 : f32");
    assert_eq!(of_f32(16_777_216.0), "0x4B800000 : f32");
    assert_eq!(of_f32(0.000_123_456_79), "1.2345679E-4 : f32");
    assert_eq!(of_f64(std::f64::consts::E), "2.7182818284590451 : f64");
    assert_eq!(float(BF16, svarint(0x3a00)), "4.882810e-04 : bf16");
}

#[test]
fn every_attribute_of_the_builtin_dialect_is_read() {
    let printed = |make: &dyn Fn(&mut Module) -> usize| {
        let mut module = typed();
        make(&mut module);
        attribute(&module)
    };
    let one = |module: &mut Module| module.attribute(join(&[varint(8), varint(I64), svarint(1)]));
    assert_eq!(
        printed(&|module| {
            let one = one(module);
            module.array(&[one, one])
        }),
        "[1, 1]"
    );
    assert_eq!(
        printed(&|module| {
            let (one, unit) = (one(module), module.attribute(varint(7)));
            module.dictionary(&[("a", one), ("b c", unit)])
        }),
        "{a = 1 : i64, \"b c\"}"
    );
    assert_eq!(printed(&|module| module.string_attribute("a\"\\\n")), r#""a\22\\\0A""#);
    assert_eq!(
        printed(&|module| {
            let text = module.string("a");
            module.attribute(join(&[varint(3), number(text), varint(I32)]))
        }),
        "\"a\" : i32"
    );
    assert_eq!(printed(&|module| module.symbol("f")), "@f");
    assert_eq!(
        printed(&|module| {
            let (root, nested) = (module.string_attribute("a"), module.symbol("b c"));
            module.attribute(join(&[varint(5), number(root), varint(1), number(nested)]))
        }),
        "@a::@\"b c\""
    );
    assert_eq!(printed(&|module| module.attribute(join(&[varint(6), varint(F32)]))), "f32");
    assert_eq!(printed(&|module| module.attribute(varint(7))), "unit");
    assert_eq!(
        printed(&|module| module.attribute(join(&[
            varint(17),
            varint(I32),
            varint(2),
            varint(8),
            vec![1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
        ]))),
        "array<i32: 1, -1>"
    );
    assert_eq!(
        printed(&|module| {
            module.attribute(join(&[varint(17), varint(I1), varint(2), varint(2), vec![1, 0]]))
        }),
        "array<i1: true, false>"
    );
    assert_eq!(
        printed(&|module| {
            module.attribute(join(&[varint(17), varint(I64), varint(0), varint(0)]))
        }),
        "array<i64>"
    );
    assert_eq!(
        printed(&|module| module.attribute(join(&[
            varint(25),
            svarint(i64::MIN),
            varint(1),
            svarint(8)
        ]))),
        "strided<[8], offset: ?>"
    );
    assert_eq!(
        printed(&|module| {
            let one = one(module);
            module.attribute(join(&[varint(21), number(one)]))
        }),
        "distinct[0]<1 : i64>"
    );
}

#[test]
fn every_location_is_read() {
    let printed = |make: &dyn Fn(&mut Module) -> usize| {
        let mut module = typed();
        make(&mut module);
        attribute(&module)
    };
    let at = |module: &mut Module, numbers: &[u64]| {
        let file = module.string_attribute("a.py");
        let mut bytes = join(&[varint(22), number(file), number(numbers.len())]);
        bytes.extend(numbers.iter().flat_map(|number| varint(*number)));
        module.attribute(bytes)
    };
    assert_eq!(printed(&|module| at(module, &[3])), "loc(\"a.py\":3)");
    assert_eq!(printed(&|module| at(module, &[3, 4])), "loc(\"a.py\":3:4)");
    assert_eq!(printed(&|module| at(module, &[3, 4, 9])), "loc(\"a.py\":3:4 to :9)");
    assert_eq!(printed(&|module| at(module, &[3, 4, 5, 9])), "loc(\"a.py\":3:4 to 5:9)");
    assert_eq!(
        printed(&|module| {
            let file = module.string_attribute("a.py");
            module.attribute(join(&[varint(11), number(file), varint(3), varint(4)]))
        }),
        "loc(\"a.py\":3:4)"
    );
    assert_eq!(
        printed(&|module| {
            let (place, name) = (at(module, &[1, 2]), module.string_attribute("n"));
            let named = module.attribute(join(&[varint(14), number(name), number(place)]));
            let bare = module.attribute(join(&[varint(14), number(name), varint(0)]));
            module.attribute(join(&[varint(10), number(named), number(bare)]))
        }),
        "loc(callsite(\"n\"(\"a.py\":1:2) at \"n\"))"
    );
    assert_eq!(
        printed(&|module| {
            let (place, said) = (at(module, &[1, 2]), module.string_attribute("said"));
            let both = join(&[varint(2), number(place), varint(0)]);
            module.attribute(join(&[varint(13), both, number(said)]))
        }),
        "loc(fused<\"said\">[\"a.py\":1:2, unknown])"
    );
    assert_eq!(
        printed(&|module| module.attribute(join(&[varint(12), varint(1), varint(0)]))),
        "loc(fused[unknown])"
    );
    assert_eq!(printed(&|module| module.attribute(varint(15))), "loc(unknown)");
}

#[test]
fn affine_maps_are_read_from_bytes_and_from_text() {
    let of_bytes = |bytes: Vec<u8>| {
        let mut module = typed();
        module.attribute(join(&[varint(23), bytes]));
        attribute(&module)
    };
    assert_eq!(of_bytes(vec![0x11]), "affine_map<(d0, d1) -> (d0, d1)>");
    assert_eq!(
        of_bytes(vec![0x17, 0x01, 0x05, 0x05, 0x01, 0x05, 0x01]),
        "affine_map<(d0, d1) -> (0, 0)>"
    );
    assert_eq!(
        of_bytes(join(&[varint(2 << 2 | 1), varint(1), varint(0)])),
        "affine_map<(d0, d1) -> (d1, d0)>"
    );
    assert_eq!(
        of_bytes(join(&[varint(2 << 2 | 2), varint(1), varint(1)])),
        "affine_map<(d0, d1) -> (d1)>"
    );
    // (d0 + s0 * −2) mod 8
    let product = join(&[varint(4), varint(1), varint(0), varint(2), svarint(-2)]);
    let sum = join(&[varint(3), varint(0), varint(0), product]);
    let rest = join(&[varint(5), sum, varint(2), svarint(8)]);
    let map = join(&[varint(1 << 2 | 3), varint(1), varint(1), rest]);
    let text = "affine_map<(d0)[s0] -> ((d0 - s0 * 2) mod 8)>";
    assert_eq!(of_bytes(map), text);
    for text in [
        text,
        "affine_map<() -> (0)>",
        "affine_map<(d0, d1) -> (d0 floordiv 8 + 1, d1 * 4 - 3, -d0, d0 ceildiv 2)>",
        "affine_map<(d0) -> (d0 - (d0 + 1), d0 - d0 mod 4)>",
    ] {
        let mut module = typed();
        module.text_attribute("builtin", text);
        assert_eq!(attribute(&module), text);
        let bytes = module.encode();
        let file = Bytecode::parse(&bytes).unwrap();
        let last = file.attribute(file.attributes().last().unwrap()).unwrap();
        assert!(last.as_affine_map().is_some(), "{text}");
    }
    let mut module = typed();
    module.text_attribute("builtin", "affine_map<(d0) -> (d1)>");
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let last = file.attribute(file.attributes().last().unwrap()).unwrap();
    assert!(last.as_text().is_some(), "there is no d1");
}

#[test]
fn a_map_is_walked_by_its_expressions() {
    let mut module = typed();
    module.text_attribute("builtin", "affine_map<(d0) -> (d0 * 4 + 2)>");
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let map = file.attribute(file.attributes().last().unwrap()).unwrap().as_affine_map().unwrap();
    let Some(AffineExpr::Binary(sum)) = map.result(0) else { panic!("{map:?}") };
    assert_eq!((sum.operator, sum.right()), (AffineOperator::Add, AffineExpr::Constant(2)));
    let AffineExpr::Binary(product) = sum.left() else { panic!("{sum:?}") };
    assert_eq!(product.left(), AffineExpr::Dimension(0));
    assert_eq!(map.result(1), None);
    assert!(!map.is_identity());
}

#[test]
fn an_integer_set_is_read() {
    let mut module = typed();
    let constraint = join(&[varint(3), varint(0), varint(0), varint(2), svarint(-1)]);
    let set = join(&[varint(24), varint(1), varint(0), varint(1), constraint, vec![1]]);
    module.attribute(set);
    assert_eq!(attribute(&module), "affine_set<(d0) : (d0 - 1 == 0)>");
}

#[test]
fn dense_elements_are_read() {
    let printed = |shape: &[i64], element: u64, bytes: &[u8]| {
        let mut module = typed();
        let mut vector = join(&[varint(19), number(shape.len())]);
        vector.extend(shape.iter().flat_map(|extent| svarint(*extent)));
        vector.extend(varint(element));
        let vector = module.r#type(vector);
        module.attribute(join(&[varint(18), number(vector), number(bytes.len()), bytes.to_vec()]));
        attribute(&module)
    };
    assert_eq!(printed(&[8, 128], F32, &[0; 4]), "dense<0.000000e+00> : vector<8x128xf32>");
    assert_eq!(printed(&[2, 2], UI8, &[1, 2, 3, 4]), "dense<[[1, 2], [3, 4]]> : vector<2x2xui8>");
    assert_eq!(printed(&[4], I1, &[0xff]), "dense<true> : vector<4xi1>");
    assert_eq!(printed(&[3], I1, &[0b101]), "dense<[true, false, true]> : vector<3xi1>");
    assert_eq!(printed(&[3], I1, &[1, 0, 1]), "dense<[true, false, true]> : vector<3xi1>");
    assert_eq!(printed(&[0], I32, &[]), "dense<> : vector<0xi32>");
    let many: Vec<u8> = (0..101).collect();
    assert!(printed(&[101], UI8, &many).starts_with("dense<\"0x00010203"));
}

#[test]
fn strings_and_sparse_elements_are_read() {
    let mut module = typed();
    let tensor = module.r#type(join(&[varint(13), varint(1), svarint(2), varint(I32)]));
    let (a, b) = (module.string("a"), module.string("b"));
    module.attribute(join(&[varint(19), number(tensor), varint(0), number(a), number(b)]));
    assert_eq!(attribute(&module), "dense<[\"a\", \"b\"]> : tensor<2xi32>");
    module.attribute(join(&[varint(19), number(tensor), varint(1), number(a)]));
    assert_eq!(attribute(&module), "dense<\"a\"> : tensor<2xi32>");
    let one = vec![1, 0, 0, 0];
    let ones = module.attribute(join(&[varint(18), number(tensor), varint(4), one]));
    module.attribute(join(&[varint(20), number(tensor), number(ones), number(ones)]));
    assert_eq!(attribute(&module), "sparse<1, 1> : tensor<2xi32>");
}

#[test]
fn resources_are_read() {
    let mut module = typed();
    let key = module.string("weights");
    let tensor = module.r#type(join(&[varint(13), varint(1), svarint(2), varint(UI8)]));
    module.attribute(join(&[varint(16), number(tensor), varint(0)]));
    let offsets = join(&[varint(0), varint(0), varint(1), number(key), varint(3), vec![0]]);
    module.resources = Some((vec![1, 2, 3], offsets));
    assert_eq!(attribute(&module), "dense_resource<weights> : tensor<2xui8>");
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    assert_eq!(file.resources().unwrap()[0].data, [1, 2, 3]);
}

#[test]
fn every_type_of_the_builtin_dialect_is_read() {
    let printed = |bytes: Vec<u8>| {
        let mut module = typed();
        module.text_attribute("tpu", "#tpu.memory_space<vmem>");
        module.attribute(vec![0x2f, 0x11]);
        module.r#type(bytes);
        r#type(&module)
    };
    let shape = |extents: &[i64]| {
        let mut bytes = number(extents.len());
        bytes.extend(extents.iter().flat_map(|extent| svarint(*extent)));
        bytes
    };
    assert_eq!(printed(join(&[varint(0), varint(4 << 2 | 1)])), "si4");
    assert_eq!(printed(join(&[varint(2), varint(0), varint(1), varint(I32)])), "() -> i32");
    assert_eq!(printed(join(&[varint(2), varint(1), varint(F32), varint(0)])), "(f32) -> ()");
    assert_eq!(printed(join(&[varint(9), varint(F32)])), "complex<f32>");
    assert_eq!(
        printed(join(&[varint(10), shape(&[8, i64::MIN]), varint(F32), varint(LAYOUT)])),
        "memref<8x?xf32>"
    );
    assert_eq!(
        printed(join(&[varint(11), varint(SPACE), shape(&[8]), varint(F32), varint(LAYOUT)])),
        "memref<8xf32, #tpu.memory_space<vmem>>"
    );
    assert_eq!(
        printed(join(&[varint(11), varint(SPACE), shape(&[]), varint(F32), varint(SPACE)])),
        "memref<f32, #tpu.memory_space<vmem>, #tpu.memory_space<vmem>>"
    );
    assert_eq!(printed(varint(12)), "none");
    assert_eq!(printed(join(&[varint(13), shape(&[2]), varint(I8)])), "tensor<2xi8>");
    assert_eq!(
        printed(join(&[varint(14), varint(SPACE), shape(&[2]), varint(I8)])),
        "tensor<2xi8, #tpu.memory_space<vmem>>"
    );
    assert_eq!(printed(join(&[varint(15), varint(2), varint(I8), varint(F64)])), "tuple<i8, f64>");
    assert_eq!(printed(join(&[varint(16), varint(F32)])), "memref<*xf32>");
    assert_eq!(
        printed(join(&[varint(17), varint(SPACE), varint(F32)])),
        "memref<*xf32, #tpu.memory_space<vmem>>"
    );
    assert_eq!(printed(join(&[varint(18), varint(F32)])), "tensor<*xf32>");
    assert_eq!(printed(join(&[varint(19), shape(&[8, 128]), varint(F32)])), "vector<8x128xf32>");
    assert_eq!(
        printed(join(&[varint(20), varint(2), vec![0, 1], shape(&[2, 4]), varint(F32)])),
        "vector<2x[4]xf32>"
    );
    for (code, kind) in (3..=8).chain(21..=32).zip(FloatKind::ALL) {
        assert_eq!(printed(varint(code)), kind.as_str());
    }
}

#[test]
fn a_float_type_in_text_is_one() {
    let mut module = typed();
    module.text_type("builtin", "f8E4M3FN");
    module.text_type("tpu", "!tpu.semaphore");
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let types: Vec<_> = file.types().collect();
    let [.., float, semaphore] = types[..] else { panic!("{types:?}") };
    assert_eq!(file.r#type(float), Ok(&Type::Float(FloatKind::F8E4M3FN)));
    assert_eq!(file.show_type(semaphore).to_string(), "!tpu.semaphore");
}

#[test]
fn what_is_not_known_spoils_its_own_entry_only() {
    let mut module = typed();
    let unknown = module.attribute(varint(99));
    let unit = module.attribute(varint(7));
    let unknown_type = module.r#type(varint(77));
    let dialect = module.dialect("tpu");
    module.attributes.push(crate::encoder::Entry { dialect, bytes: vec![1], own: true });
    let array = module.array(&[unknown, unit]);
    let bytes = module.encode();
    let file = Bytecode::parse(&bytes).unwrap();
    let ids: Vec<_> = file.attributes().collect();
    let fault = file.attribute(ids[unknown]).unwrap_err();
    assert!(matches!(fault.problem(), BytecodeProblem::Code { code: 99, .. }), "{fault}");
    assert_eq!(bytes[fault.offset()], 99 << 1 | 1);
    assert_eq!(file.attribute(ids[unit]), Ok(&Attribute::Unit));
    let own = file.attribute(ids[array - 1]).unwrap_err();
    assert!(own.to_string().contains("in the encoding of dialect tpu"), "{own}");
    let types: Vec<_> = file.types().collect();
    let fault = file.r#type(types[unknown_type]).unwrap_err();
    assert!(fault.to_string().ends_with("unknown code 77 of a type, expected 0 to 32"), "{fault}");
    let printed = file.show_attribute(ids[array]).to_string();
    assert!(printed.contains("unknown code 99 of an attribute") && printed.ends_with("unit]"));
}

#[test]
fn numbers_may_take_more_bytes_than_they_need() {
    assert_eq!(varint(u64::MAX), [0, 255, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!(varint(0x1_ffff_fffe), [0xd0, 0xff, 0xff, 0xff, 0x3f]);
    assert_eq!(flagged(3, true), varint(7));
    // A code of 15 in nine bytes.
    let mut module = typed();
    module.attribute(vec![0, 15, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(attribute(&module), "loc(unknown)");
}
