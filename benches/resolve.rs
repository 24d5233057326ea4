//! What a decision costs: a call with unknown arguments, and a million over the
//! whole table in random order, beside a plain lookup of the same answers.
//!
//! `against_jax.py` sets JAX's own functions beside these.

#![allow(missing_docs, reason = "criterion's macros")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench, whose failures are panics"
)]

use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use mosaic_memspace::{
    CallSite, CoreType, MemorySpace, MemorySpaceAttr, MemrefSpace, Resolved, resolve,
};
use serde_json::Value;
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Duration;

/// What an author wrote, or nothing, and the core it was written for.
type Written = (Option<MemorySpace>, CoreType);

fn a_call(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("call");
    group.bench_function("resolve", |bencher| {
        bencher.iter(|| resolve(black_box(MemorySpace::VMEM), black_box(CoreType::Tc)));
    });
    group.bench_function("attribute", |bencher| {
        bencher.iter(|| MemorySpaceAttr::new(black_box(MemrefSpace::VMEM)));
    });
    group.finish();
}

fn a_million_calls(criterion: &mut Criterion) {
    let all = answered(include_str!("../tests/vectors/resolve.jsonl"));
    let spaces: Vec<_> =
        all.iter().filter_map(|&(space, core_type)| Some((space?, core_type))).collect();
    let with_attribute = answered(include_str!("../tests/vectors/mosaic_attribute.jsonl"));
    let attribute = |&(space, core_type): &Written| CallSite::Other.attribute(space, core_type);

    let mut group = criterion.benchmark_group("million");
    group.throughput(Throughput::Elements(CALLS as u64));
    // A sample is a millisecond or two, so that on a busy machine most of them
    // are not interrupted, and the median doesn't see those that are.
    group.sampling_mode(SamplingMode::Flat).sample_size(400).nresamples(2_000);
    group.warm_up_time(Duration::from_millis(400)).measurement_time(Duration::from_millis(400));
    call(&mut group, "resolve", &spaces, |&(space, core_type)| resolve(space, core_type));
    call(&mut group, "resolve, plain match", &spaces, |&(space, core_type)| {
        plain_match(space, core_type)
    });
    look_up(&mut group, "resolve, plain lookup", &spaces, |&(space, core_type)| {
        resolve(space, core_type)
    });
    call(&mut group, "resolve at a call site", &all, |&(space, core_type)| {
        CallSite::Other.resolve(space, core_type)
    });
    call(&mut group, "attribute", &with_attribute, attribute);
    look_up(&mut group, "attribute, plain lookup", &with_attribute, attribute);
    let text = |written: &Written| attribute(written).map(|it| it.map(MemorySpaceAttr::as_str));
    call(&mut group, "attribute's text", &with_attribute, text);
    look_up(&mut group, "attribute's text, plain lookup", &with_attribute, text);
    group.finish();
}

criterion_group!(benches, a_call, a_million_calls);
criterion_main!(benches);

const CALLS: usize = 1_000_000;

/// Calls a turn of the loop: a turn costs as much as a lookup, or twice as much,
/// as the linker happens to place it.
const STEP: usize = 8;

/// `function` of a million inputs of `table`.
fn call<I: Copy, O>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    table: &[I],
    function: impl Fn(&I) -> O,
) {
    let inputs: Vec<_> = random_order(table.len()).map(|row| table[usize::from(row)]).collect();
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for step in inputs.as_chunks::<STEP>().0 {
                for input in step {
                    black_box(function(input));
                }
            }
        });
    });
}

/// The floor: the answers of `function` read from a table of as many rows.
fn look_up<I: Copy, O: Copy>(
    group: &mut BenchmarkGroup<WallTime>,
    name: &str,
    table: &[I],
    function: impl Fn(&I) -> O,
) {
    let answers: Vec<_> = table.iter().map(function).collect();
    let rows: Vec<_> = random_order(table.len()).collect();
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for step in rows.as_chunks::<STEP>().0 {
                for &row in step {
                    black_box(answers[usize::from(row)]);
                }
            }
        });
    });
}

/// A million row numbers, the same ones in every run.
fn random_order(rows: usize) -> impl Iterator<Item = u16> {
    let mut state = 1_u64;
    (0..CALLS).map(move |_| {
        // Knuth's MMIX generator; its high bits are the random ones.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u16::try_from((state >> 33) % rows as u64).expect("a table has few rows")
    })
}

/// The inputs of a file of vectors that have an answer.
fn answered(vectors: &str) -> Vec<Written> {
    let lines = vectors.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .filter(|line| line["expect"]["ok"].is_string())
        .map(|line| {
            let space = line["input"]["space"].as_str().map(word);
            (space, word(line["input"]["core"].as_str().expect("a core type")))
        })
        .collect()
}

fn word<T: std::str::FromStr<Err: Debug>>(word: &str) -> T {
    word.parse().expect("a word of the vectors")
}

/// What the resolver would be, were it no more than its rule.
fn plain_match(space: MemorySpace, core_type: CoreType) -> Resolved {
    match space {
        MemorySpace::DEFAULT => match core_type {
            CoreType::Tc | CoreType::ScVectorSubcore => Resolved::VMEM,
            CoreType::ScScalarSubcore => Resolved::SMEM,
        },
        MemorySpace::ANY => Resolved::ANY,
        MemorySpace::HOST => Resolved::HOST,
        MemorySpace::ERROR | MemorySpace::INDEX | MemorySpace::KEY => Resolved::SMEM,
        MemorySpace::Tpu(space) => Resolved::Memref(MemrefSpace::Tpu(space)),
        MemorySpace::Core(tagged) => {
            if tagged.core_type() == core_type {
                Resolved::Memref(MemrefSpace::Tpu(tagged.space()))
            } else {
                Resolved::Memref(MemrefSpace::Core(tagged))
            }
        }
        MemorySpace::Acc(mxu_id) => Resolved::Acc(mxu_id),
    }
}
