//! Bytes.

use super::Pass;

impl Pass<'_> {
    pub(super) fn memory(&mut self) {}
}
