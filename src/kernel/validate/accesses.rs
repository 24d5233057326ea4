//! Loads, stores and copies of the body, by the refs that they name.

use super::Pass;
use super::refs::Entered;
use crate::core_type::CoreType;
use crate::kernel::description::{AccessedRef, RefAccess};
use crate::kernel::place::Place;
use crate::memory_space::Resolved;
use crate::rules::{self, CopyEnd, DmaMode, Indices};

impl Pass<'_> {
    pub(super) fn accesses(&mut self) {
        let Some(core_type) = self.target.core_type else { return };
        let kernel = self.kernel;
        let of_body = kernel.from_body.as_ref().map(|body| body.places.as_slice());
        for (index, access) in kernel.accesses.iter().enumerate() {
            let told = of_body.and_then(|places| places.get(index)).cloned();
            let place = told.unwrap_or_else(|| Place::list("accesses").index(index));
            match access {
                RefAccess::Local { access, r#ref } => {
                    let Some(space) = self.space_of(r#ref, &place, "ref") else { continue };
                    if let Err(fault) = access.check(space, core_type, self.target.chip) {
                        self.push(fault, place);
                    }
                }
                RefAccess::Dma { dma, src, dst, indices } => {
                    let ends =
                        (self.space_of(src, &place, "src"), self.space_of(dst, &place, "dst"));
                    self.indices(*dma, indices.as_deref(), &place);
                    if let (Some(src), Some(dst)) = ends {
                        self.copy(*dma, src, dst, core_type, place);
                    }
                }
            }
        }
    }

    fn copy(
        &mut self,
        dma: rules::Dma,
        src: Resolved,
        dst: Resolved,
        core_type: CoreType,
        place: Place,
    ) {
        if let Err(fault) = dma.check(src, dst, core_type, self.target.chip) {
            self.push(fault, place);
        }
    }

    fn indices(&mut self, dma: rules::Dma, name: Option<&str>, place: &Place) {
        let end = match dma.mode {
            DmaMode::Copy | DmaMode::Gather => CopyEnd::Source,
            DmaMode::Scatter => CopyEnd::Destination,
        };
        let place = place.clone().field("indices");
        // A gather or a scatter without a ref takes its indices from a vector.
        let Some(name) = name else { return };
        match self.refs.get(name) {
            Err(fault) => self.push(fault, place),
            Ok(Entered {
                rank, dtype: Some(dtype), resolved: Some(space), sound: true, ..
            }) => {
                let indices = Indices { end, space: Some(*space), rank: *rank, dtype: *dtype };
                if let Err(fault) = dma.check_indices(indices) {
                    self.push(fault, place);
                }
            }
            Ok(_) => {} // has its fault already
        }
    }

    /// The space of a ref that may be accessed; an unknown one is reported, and one that
    /// has a fault already, or is not this core's to reach, is left alone.
    fn space_of(
        &mut self,
        of: &AccessedRef,
        place: &Place,
        field: &'static str,
    ) -> Option<Resolved> {
        let space = match &of.space {
            Some(space) => {
                let space = self.known(space, place, field)?;
                Some(self.target.call_site().resolve(Some(space), self.target.core_type?))
            }
            None => None,
        };
        let found = match &of.name {
            None => return space.filter(|_| !of.is_remote),
            Some(name) => match self.refs.get(name) {
                Ok(found) => found,
                Err(fault) => {
                    self.push(fault, place.clone().field(field));
                    return None;
                }
            },
        };
        space.or(found.resolved).filter(|_| found.sound && !of.is_remote)
    }
}
