//! Collective ids, and what each call must say about its own.

use crate::error::faults;
use crate::word::Shown;
use std::fmt;

/// The id of the barrier semaphore that a kernel uses; 32 bits, never negative.
///
/// ```
/// use mosaic_memspace::custom_call::CollectiveId;
/// assert_eq!(CollectiveId::new(7000).map(CollectiveId::get), Ok(7000));
/// assert_eq!(CollectiveId::from(3), CollectiveId::new(3)?);
/// # Ok::<(), mosaic_memspace::custom_call::CollectiveIdFault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectiveId(u32);

impl CollectiveId {
    /// The id with this number.
    ///
    /// # Errors
    /// [`CollectiveIdFault::OutOfRange`]
    ///
    /// ```
    /// use mosaic_memspace::custom_call::CollectiveId;
    /// assert_eq!(
    ///     CollectiveId::new(-1).unwrap_err().to_string(),
    ///     "collective_id is -1; it has to be 0 or more, and below 2^32"
    /// );
    /// ```
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    pub const fn new(number: i64) -> Result<Self, CollectiveIdFault> {
        if number < 0 || number > u32::MAX as i64 {
            return Err(CollectiveIdFault::OutOfRange { number });
        }
        Ok(Self(number as u32))
    }

    /// The number.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::CollectiveId;
    /// assert_eq!(CollectiveId::from(25).get(), 25);
    /// ```
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl From<u32> for CollectiveId {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Display for CollectiveId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the collective id of a kernel call depends on.
///
/// ```
/// use mosaic_memspace::custom_call::IdCall;
/// let call = IdCall { has_custom_barrier: true, ..IdCall::new(b"a serialized kernel") };
/// assert_eq!(call.collective_id, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdCall<'a> {
    /// The serialized kernel.
    pub module: &'a [u8],
    /// The tag of its barrier semaphore (`get_barrier_semaphore`'s `tag`).
    pub tag: Option<&'a str>,
    /// Whether the device's own barrier is skipped; such calls share no id with others.
    pub skip_device_barrier: bool,
    /// The id that the author set.
    pub collective_id: Option<CollectiveId>,
    /// Whether the kernel uses a barrier semaphore.
    pub has_custom_barrier: bool,
    /// Whether an id without a barrier is allowed.
    pub allow_collective_id_without_custom_barrier: bool,
}

impl<'a> IdCall<'a> {
    /// A call of this kernel that has neither a barrier nor an id.
    ///
    /// ```
    /// assert!(!mosaic_memspace::custom_call::IdCall::new(b"").has_custom_barrier);
    /// ```
    pub const fn new(module: &'a [u8]) -> Self {
        Self {
            module,
            tag: None,
            skip_device_barrier: false,
            collective_id: None,
            has_custom_barrier: false,
            allow_collective_id_without_custom_barrier: false,
        }
    }

    /// Checks that the call may have this id, or no id. JAX checks this for each call
    /// after it has assigned ids.
    ///
    /// # Errors
    /// [`CollectiveIdFault::Missing`] and [`CollectiveIdFault::Unexpected`]
    ///
    /// ```
    /// use mosaic_memspace::custom_call::IdCall;
    /// assert!(IdCall::new(b"").check(None).is_ok());
    /// assert_eq!(
    ///     IdCall::new(b"").check(Some(3.into())).unwrap_err().to_string(),
    ///     "collective_id has to be unspecified or None when not using a custom barrier"
    /// );
    /// ```
    pub const fn check(&self, id: Option<CollectiveId>) -> Result<(), CollectiveIdFault> {
        match id {
            None if self.has_custom_barrier => Err(CollectiveIdFault::Missing),
            Some(id)
                if !self.has_custom_barrier && !self.allow_collective_id_without_custom_barrier =>
            {
                Err(CollectiveIdFault::Unexpected { id })
            }
            None | Some(_) => Ok(()),
        }
    }
}

faults! {
    /// What can be wrong with the collective id of a call.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{IdCall, CollectiveIdFault};
    /// use mosaic_memspace::error::{Code, Fault};
    ///
    /// let call = IdCall { has_custom_barrier: true, ..IdCall::new(b"") };
    /// let error = call.check(None).unwrap_err();
    /// assert_eq!(error, CollectiveIdFault::Missing);
    /// assert_eq!(error.code(), Code::MissingCollectiveId);
    /// ```
    #[derive(Clone)]
    pub enum CollectiveIdFault {
        /// An id and a tag on one call.
        IdAndTag {
        /// The id that the author set.
        id: CollectiveId,
        /// The tag of the barrier semaphore.
        tag: String,
    } => CollectiveIdAndTag at "collective_id" ("conflicting collective_id: CompilerParams has {id} but get_barrier_semaphore has tag {}",
        Shown(tag))
          help { format!(
                "leave out collective_id={id} or the tag {}, or set \
                 jax_pallas_auto_assign_collective_ids to override",
                Shown(tag)
            ) };
        /// More keys than may be assigned an id.
        TooMany {
        /// How many keys may be assigned an id.
        limit: usize,
    } => TooManyCollectiveIds at "collective_id" ("more than {limit} collective ids given out in one module")
          help "give kernels that never overlap the same id or tag, so that {limit} are enough, \
                 or raise jax_pallas_auto_assign_collective_ids_limit";
        /// A barrier without an id.
        Missing => MissingCollectiveId at "collective_id" ("collective_id has to be specified when using a custom barrier")
          help "give collective_id a number that no kernel running at the same time \
                              has, or give get_barrier_semaphore a tag, or set \
                              jax_pallas_auto_assign_collective_ids to yes";
        /// An id without a barrier.
        Unexpected {
        /// The id.
        id: CollectiveId,
    } => UnexpectedCollectiveId at "collective_id" ("collective_id has to be unspecified or None when not using a custom barrier")
          help "leave out collective_id={id}, use the barrier semaphore in the kernel, or set \
                 allow_collective_id_without_custom_barrier";
        /// An id set by the author that was assigned before.
        Conflict {
        /// The id.
        id: CollectiveId,
    } => CollectiveIdConflict at "collective_id" ("collective_id {id} conflicts with one that was given out automatically")
          help "give an id below {BASE}";
        /// A number below zero, or of more than 32 bits.
        OutOfRange {
        /// The number.
        number: i64,
    } => CollectiveIdNegative at "collective_id" ("collective_id is {number}; it has to be 0 or more, and below 2^32");
    }
}

/// The first id that JAX 0.11.1 assigns.
pub(super) const BASE: u32 = 7000;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};

    #[test]
    fn ids_have_32_bits() {
        for number in [i64::MIN, -1, 1 << 32, i64::MAX] {
            let error = CollectiveId::new(number).unwrap_err();
            assert_eq!(error.code(), Code::CollectiveIdNegative);
            assert!(error.to_string().contains(&number.to_string()));
        }
        assert_eq!(CollectiveId::new(u32::MAX.into()), Ok(CollectiveId::from(u32::MAX)));
    }
}
