//! Compiler parameters.

use super::Pass;
use crate::custom_call::{Bound, KernelFacts, ParamFault};
use crate::error::Fault;
use crate::kernel::place::Place;
use crate::operand::Form;

impl Pass<'_> {
    pub(super) fn params(&mut self) {
        for fault in &self.kernel.params.faults {
            self.param(fault);
        }
        for (place, fault) in &self.kernel.params.words {
            self.push(fault.clone(), place.clone());
        }
        let Some(core_type) = self.target.core_type else { return };
        let bound = |extent: &Option<u64>| match extent {
            Some(extent) => Bound::Static(i64::try_from(*extent).unwrap_or(i64::MAX)),
            None => Bound::Dynamic,
        };
        let grid: Vec<_> = self.kernel.grid.iter().map(bound).collect();
        let facts = KernelFacts {
            grid: match self.target.form {
                Form::Pipelined => Some(&grid),
                Form::Unpipelined => None,
            },
            mesh_cores: self.target.mesh_cores,
            has_custom_barrier: self.kernel.custom_barrier,
            ..KernelFacts::new(core_type)
        };
        match self.kernel.params.sound.validate(&facts) {
            Ok(params) => self.params = Some(params),
            Err(faults) => {
                let reported = &self.kernel.params.faults;
                for fault in &faults {
                    // What could not be read is absent to the rules: that is no second fault.
                    if reported.iter().all(|other| other.field() != fault.field()) {
                        self.param(fault);
                    }
                }
            }
        }
    }

    fn param(&mut self, fault: &ParamFault) {
        self.push_in(fault.clone(), &Place::list("params"));
    }
}
