//! Times.

use std::time::{Duration, Instant};

/// The shortest of many batches, each long enough for the clock, in nanoseconds.
pub(crate) fn shortest(mut work: impl FnMut()) -> f64 {
    const BATCH: Duration = Duration::from_micros(50);
    const ALL: Duration = Duration::from_millis(700);

    let mut time = |times: u32| {
        let begin = Instant::now();
        (0..times).for_each(|_| work());
        begin.elapsed().as_secs_f64() / f64::from(times)
    };
    let mut times = 1;
    while time(times) * f64::from(times) < BATCH.as_secs_f64() {
        times *= 2;
    }
    let begin = Instant::now();
    let mut shortest = f64::INFINITY;
    while begin.elapsed() < ALL {
        shortest = shortest.min(time(times));
    }
    shortest * 1e9
}
