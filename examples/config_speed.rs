//! How long the backend config takes to write and to read: the shortest time of many,
//! in nanoseconds, as JSON. `benches/against_jax_config.py` sets JAX's beside it.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "small numbers")]

use clock::shortest;
use mosaic_memspace::custom_call::BackendConfig;
use serde_json::json;
use shared::{SIZES, body, config};
use std::hint::black_box;

#[path = "shared/clock.rs"]
mod clock;
#[path = "shared/config.rs"]
mod shared;

fn main() {
    let measured: Vec<_> = SIZES.into_iter().map(measured).collect();
    println!("{}", json!(measured));
}

fn measured(size: usize) -> serde_json::Value {
    let body = body(size);
    let config = config(&body);
    let json = config.to_json();
    let mut buffer = String::with_capacity(json.len());

    let reused = shortest(|| {
        buffer.clear();
        black_box(&config).write_json(&mut buffer);
    });
    let new = shortest(|| {
        black_box(black_box(&config).to_json());
    });
    let base64 = shortest(|| {
        buffer.clear();
        base64_simd::STANDARD.encode_append(black_box(&body), &mut buffer);
    });
    let read = shortest(|| {
        black_box(BackendConfig::from_json(black_box(&json)).is_ok());
    });
    json!({
        "body_bytes": size,
        "json_bytes": json.len(),
        "json": if size == SIZES[0] { Some(&json) } else { None },
        "write_reused_ns": reused,
        "write_new_ns": new,
        "base64_ns": base64,
        "read_ns": read,
    })
}
