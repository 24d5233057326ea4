//! A whole fit of 20 operands, into a buffer that is there and into a new one.

#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

#[path = "../examples/shared/fit.rs"]
mod shared;

fn fits(criterion: &mut Criterion) {
    let operands = shared::operands();
    let refs = shared::refs(&operands);
    let kernel = shared::kernel(&refs);
    let mut group = criterion.benchmark_group("fit of 20 operands");
    let mut parts = Vec::with_capacity(refs.len());
    group.bench_function("vmem, reused buffer", |bencher| {
        bencher.iter(|| black_box(&kernel).vmem_plan_into(&mut parts).map(|plan| plan.bytes()));
    });
    group.bench_function("vmem, new buffer", |bencher| {
        bencher.iter(|| {
            let mut parts = Vec::new();
            black_box(&kernel).vmem_plan_into(&mut parts).map(|plan| plan.bytes())
        });
    });
    group.bench_function("vmem and smem, reused buffer", |bencher| {
        bencher.iter(|| {
            let vmem = black_box(&kernel).vmem_plan_into(&mut parts).map(|plan| plan.bytes());
            let smem = black_box(&kernel).smem_plan_into(&mut parts).map(|plan| plan.bytes());
            (vmem, smem)
        });
    });
    group.finish();
}

criterion_group!(benches, fits);
criterion_main!(benches);
