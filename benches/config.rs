//! The backend config written and read, beside the base64 library alone.

#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

#[path = "../examples/shared/config.rs"]
mod shared;

use shared::{SIZES, body, config};

fn written(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("write");
    for size in SIZES {
        let body = body(size);
        let config = config(&body);
        let mut buffer = String::with_capacity(config.json_len());
        group.throughput(Throughput::Bytes(size as u64));
        group.bench_function(BenchmarkId::new("reused buffer", size), |bencher| {
            bencher.iter(|| {
                buffer.clear();
                black_box(&config).write_json(&mut buffer);
                buffer.len()
            });
        });
        group.bench_function(BenchmarkId::new("new string", size), |bencher| {
            bencher.iter(|| black_box(&config).to_json());
        });
        group.bench_function(BenchmarkId::new("base64 alone", size), |bencher| {
            bencher.iter(|| {
                buffer.clear();
                base64_simd::STANDARD.encode_append(black_box(&body), &mut buffer);
                buffer.len()
            });
        });
    }
    group.finish();
}

#[cfg(feature = "read")]
fn read(criterion: &mut Criterion) {
    use mosaic_memspace::custom_call::BackendConfig;

    let mut group = criterion.benchmark_group("read");
    for size in SIZES {
        let body = body(size);
        let json = config(&body).to_json();
        group.throughput(Throughput::Bytes(json.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| BackendConfig::from_json(black_box(&json)).is_ok());
        });
    }
    group.finish();
}

#[cfg(not(feature = "read"))]
fn read(_: &mut Criterion) {}

criterion_group!(benches, written, read);
criterion_main!(benches);
