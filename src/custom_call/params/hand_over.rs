//! From checked parameters to the config that XLA is handed.

use super::words::DeviceType;
use super::{CompilerParams, ResolvedParams, VmemLimitBytes};
use crate::custom_call::config::BackendConfig;
use crate::custom_call::config::body::is_text;
use crate::custom_call::config::libtpu::LibtpuVersion;

impl CompilerParams {
    /// The config of a kernel with this body, for this version of the compiler.
    ///
    /// A body of Mosaic text is told from bytecode: it has no serialization format, and
    /// the compiler would refuse one.
    ///
    /// What is no parameter is left to be set: `has_communication`, the cost estimate,
    /// the colors of operands and results, the debug locations.
    ///
    /// ```
    /// use mosaic_memspace::CoreType;
    /// use mosaic_memspace::custom_call::{CompilerParams, KernelFacts, LibtpuVersion};
    ///
    /// let params = CompilerParams::default();
    /// let resolved = params.validate(&KernelFacts::new(CoreType::Tc))?;
    /// let config = params.backend_config(&resolved, b"ML\xefR", LibtpuVersion::NEWEST);
    /// assert_eq!(
    ///     config.to_json(),
    ///     "{\"custom_call_config\": {\"body\": \"TUzvUg==\", \"serialization_format\": 1, \
    ///      \"needs_layout_passes\": true}}"
    /// );
    /// # Ok::<(), mosaic_memspace::error::Faults<mosaic_memspace::custom_call::ParamFault>>(())
    /// ```
    pub fn backend_config<'a>(
        &self,
        resolved: &ResolvedParams,
        body: &'a [u8],
        libtpu: LibtpuVersion,
    ) -> BackendConfig<'a> {
        let mut config = BackendConfig::new(body);
        self.hand_over(&mut config);
        config.collective_id = resolved.collective_id;
        let format = self.serialization_format.filter(|_| !is_text(body));
        config.serialization_format = format.map(i64::from);
        config.needs_layout_passes = resolved.needs_layout_passes;
        config.internal_scratch_in_bytes = self.internal_scratch_in_bytes.map(i64::from);
        match resolved.device_type {
            None => {}
            Some(DeviceType::SparseCore) => {
                let one_core = resolved.active_core_count == Some(1);
                let mark = one_core.then(|| libtpu.one_core_mark());
                config.set_sparse_core(resolved.tiling, self.opt_level, mark);
            }
        }
        config.set_vmem_limit_bytes(self.vmem_limit_bytes.map(VmemLimitBytes::to_i64));
        config.set_flags(self.flags.as_ref());
        config
    }

    /// The `transpose_lhs_hint` of a `tpu.matmul` whose left side has this rank and is
    /// contracted in these dimensions: true where `fuse_transposed_lhs_in_matmul` is
    /// and the second minor dimension is contracted, so that the left side is transposed.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::CompilerParams;
    /// let mut params = CompilerParams::default();
    /// params.fuse_transposed_lhs_in_matmul = true;
    /// assert!(params.transpose_lhs_hint(2, &[0]));
    /// assert!(!params.transpose_lhs_hint(2, &[1]));
    /// assert!(!CompilerParams::default().transpose_lhs_hint(2, &[0]));
    /// ```
    pub fn transpose_lhs_hint(&self, lhs_rank: usize, lhs_contracted: &[usize]) -> bool {
        let second_minor = lhs_rank.checked_sub(2);
        self.fuse_transposed_lhs_in_matmul
            && second_minor.is_some_and(|dimension| lhs_contracted.contains(&dimension))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use crate::CoreType;
    use crate::custom_call::{
        Bound, CompilerParams, DimensionSemantics, FlagName, FlagValue, Flags, KernelFacts,
        LibtpuVersion, OptLevel, VmemLimitBytes,
    };

    #[test]
    fn a_transposed_left_side_is_hinted_at_where_that_is_asked_for() {
        let params =
            CompilerParams { fuse_transposed_lhs_in_matmul: true, ..CompilerParams::default() };
        assert!(params.transpose_lhs_hint(3, &[1]));
        for (rank, contracted) in [(3, [0]), (3, [2]), (1, [0]), (0, [0])] {
            assert!(!params.transpose_lhs_hint(rank, &contracted));
        }
    }

    #[test]
    fn every_parameter_that_the_json_has_gets_there() {
        let mut flags = Flags::new();
        flags.insert(FlagName::new("xla_a").unwrap(), FlagValue::Bool(true));
        let params = CompilerParams {
            dimension_semantics: Some(vec![DimensionSemantics::CoreParallel]),
            allow_input_fusion: Some(vec![true, false]),
            vmem_limit_bytes: Some(VmemLimitBytes::new(4096).unwrap()),
            collective_id: Some(3.into()),
            flags: Some(flags),
            internal_scratch_in_bytes: Some(512),
            serialization_format: Some(2),
            disable_bounds_checks: true,
            disable_semaphore_checks: true,
            skip_device_barrier: true,
            allow_collective_id_without_custom_barrier: true,
            shape_invariant_numerics: false,
            use_tc_tiling_on_sc: Some(false),
            needs_layout_passes: false,
            opt_level: Some(OptLevel::O1),
            ..CompilerParams::default()
        };
        let mut kernel = KernelFacts::new(CoreType::ScVectorSubcore);
        kernel.grid = Some(&[Bound::Static(1)]);
        let resolved = params.validate(&kernel).unwrap();
        let json = |version| params.backend_config(&resolved, b"", version).to_json();
        // As JAX writes it.
        assert_eq!(
            json(LibtpuVersion::NEWEST),
            "{\"custom_call_config\": {\"body\": \"\", \"collective_id\": 3, \
             \"serialization_format\": 2, \"shape_invariant_numerics\": false, \
             \"allow_input_fusion\": [true,false], \"internal_scratch_in_bytes\": 512, \
             \"disable_bounds_checks\": true, \"disable_semaphore_checks\": true, \
             \"skip_device_barrier\": true}, \"sparse_core_config\": {\n\"comp_env\":{\n\
             \"backend_opt_level\":\"O1\"\n},\n\"core_ids\":[\n\"0\"\n],\n\
             \"tiling\":\"TILING_SPARSE_CORE\"\n}, \"device_type\": \"DEVICE_TYPE_SPARSECORE\", \
             \"scoped_memory_configs\": [{\"memory_space\":1, \"offset\": 0, \"size\": 4096}], \
             \"flag_configs\": [{\"flag_type\": \"xla_a\", \"value\": {\"boolean_value\": true}}]}"
        );
        let before_core_ids = json(LibtpuVersion::new(0, 0, 49));
        assert!(
            before_core_ids.ends_with(", \"megachip_parallelism_config\": {\"cores\": [\"0\"]}}")
        );

        let two_cores = KernelFacts { grid: Some(&[Bound::Static(2)]), ..kernel };
        let resolved = params.validate(&two_cores).unwrap();
        let config = params.backend_config(&resolved, b"", LibtpuVersion::NEWEST);
        assert!(!config.to_json().contains("core_ids"));
    }
}
