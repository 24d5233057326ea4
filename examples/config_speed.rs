//! How long the backend config takes to write and to read: the shortest time of many,
//! in nanoseconds, as JSON. `benches/against_jax_config.py` sets JAX's beside it.

use mosaic_memspace::custom_call::BackendConfig;
use serde_json::json;
use shared::{SIZES, body, config};
use std::hint::black_box;
use std::time::{Duration, Instant};

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

/// The shortest of many batches, each long enough for the clock.
fn shortest(mut work: impl FnMut()) -> f64 {
    let mut time = |times: u32| {
        let start = Instant::now();
        (0..times).for_each(|_| work());
        start.elapsed()
    };
    let once = time(3) / 3;
    let times = (Duration::from_micros(50).as_nanos() / once.as_nanos().max(1)).clamp(1, 10_000);
    let times = u32::try_from(times).unwrap_or(1);
    let deadline = Instant::now() + Duration::from_millis(700);
    let mut shortest = f64::INFINITY;
    while Instant::now() < deadline {
        shortest = shortest.min(time(times).as_secs_f64() * 1e9 / f64::from(times));
    }
    shortest
}
