//! The grid.

/// An axis of a kernel's grid.
///
/// ```
/// use mosaic_memspace::operand::GridAxis;
/// assert!(!GridAxis::new(4).parallel && GridAxis::new(4).in_parallel().parallel);
/// assert_eq!(GridAxis::DYNAMIC.extent, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridAxis {
    /// Its steps, or `None` when that is known at run time only.
    pub extent: Option<u64>,
    /// Whether its steps may run on different TensorCores: its dimension
    /// semantics is `parallel` or `core_parallel`.
    pub parallel: bool,
}

impl GridAxis {
    /// An axis whose length is known at run time only.
    pub const DYNAMIC: Self = Self { extent: None, parallel: false };

    /// An axis whose steps run one after another.
    pub const fn new(extent: u64) -> Self {
        Self { extent: Some(extent), parallel: false }
    }

    /// The axis, with `parallel` semantics.
    #[must_use]
    pub const fn in_parallel(self) -> Self {
        Self { parallel: true, ..self }
    }

    pub(super) const fn is_long(self) -> bool {
        match self.extent {
            Some(extent) => extent > 1,
            None => true,
        }
    }
}

/// Whether the cores that share the grid are left with one step each: then the
/// compiler buffers nothing twice. It shares one axis, and only a parallel one.
///
/// ```
/// use mosaic_memspace::operand::{GridAxis, one_step_a_core};
/// let grid = [GridAxis::new(1), GridAxis::new(2).in_parallel()];
/// assert!(one_step_a_core(&grid, 2));
/// assert!(!one_step_a_core(&grid, 1));
/// assert!(!one_step_a_core(&[GridAxis::new(2)], 2));
/// ```
pub const fn one_step_a_core(grid: &[GridAxis], cores: u32) -> bool {
    let mut shared = false;
    let mut rest = grid;
    while let [axis, after @ ..] = rest {
        rest = after;
        if !axis.is_long() {
            continue;
        }
        match axis.extent {
            Some(extent) if extent == cores as u64 && axis.parallel && !shared => shared = true,
            Some(_) | None => return false,
        }
    }
    true
}
