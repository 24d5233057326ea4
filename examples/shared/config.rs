//! The config whose writing is measured: a cost estimate, two colors, three flags.

use mosaic_memspace::custom_call::{
    BackendConfig, Color, CostEstimate, Finite, FlagConfig, FlagName, FlagValue, InputColor,
};

/// Bytes of body: 1 KiB, 128 KiB, 1 MiB, 16 MiB.
pub(crate) const SIZES: [usize; 4] = [1 << 10, 128 << 10, 1 << 20, 16 << 20];

/// Bytes without a pattern.
pub(crate) fn body(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(size).collect()
}

pub(crate) fn config(body: &[u8]) -> BackendConfig<'_> {
    let mut cost = CostEstimate::default();
    cost.flops = 4_320_133_120;
    cost.transcendentals = 8_388_608;
    cost.bytes_accessed = 8_388_608;

    let mut config = BackendConfig::new(body);
    config.cost_estimate = Some(cost);
    config.serialization_format = Some(1);
    config.needs_layout_passes = true;
    config.set_output_colors(&[Some(Color::Hbm)]);
    config.set_input_colors(&[None, Some(InputColor::Vmem)]);
    config.set_vmem_limit_bytes(Some(1 << 25));
    let flag = |name, value| Some(FlagConfig::new(FlagName::new(name).ok()?, value));
    let float = Finite::new(0.5).map(FlagValue::Float);
    config.flag_configs = [
        flag("xla_tpu_enable_log_recorder", FlagValue::Bool(false)),
        flag("xla_tpu_level", FlagValue::Int(3)),
        float.and_then(|float| flag("xla_tpu_fraction", float)),
    ]
    .into_iter()
    .collect();
    config
}
