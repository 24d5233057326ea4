//! Assigns collective ids to the calls of a module.

use super::collective_id::{BASE, CollectiveId, CollectiveIdFault, IdCall};
use crate::error::words;
use std::collections::{BTreeSet, HashMap};
use strum::VariantArray;

words! {
    /// Which calls are assigned an id (JAX's `jax_pallas_auto_assign_collective_ids`).
    ///
    /// ```
    /// use mosaic_memspace::custom_call::AutoAssign;
    /// assert_eq!("override".parse(), Ok(AutoAssign::Override));
    /// assert_eq!(AutoAssign::default(), AutoAssign::No);
    /// ```
    #[derive(Default)]
    pub enum AutoAssign {
        /// `no`: those that tag their barrier semaphore.
        #[default]
        No,
        /// `yes`: those without an id set by the author.
        Yes,
        /// `override`: all; ids set by authors are ignored.
        Override,
    }
    path: "custom_call::AutoAssign",
    all: 3 "All of them",
    as_str: Yes "yes" "JAX's word",
    expecting: "no, yes or override",
    unknown: UnknownParamWord "unknown jax_pallas_auto_assign_collective_ids",
}

/// Which id is the next one.
///
/// ```
/// use mosaic_memspace::custom_call::{IdCall, CollectiveIds, IdOptions, IdPolicy};
///
/// let call = IdCall { tag: Some("a"), has_custom_barrier: true, ..IdCall::new(b"") };
/// let mut ids = CollectiveIds::new(IdOptions::new(IdPolicy::FirstFree), &[call]);
/// assert_eq!(ids.assign(&call), Ok(Some(0.into())));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray)]
pub enum IdPolicy {
    /// The lowest that no call of the module sets; JAX from 0.11.2 on.
    #[default]
    FirstFree,
    /// The lowest from 7000 on that no earlier call has; JAX 0.11.1, which assigns ids
    /// only to calls with a barrier, and has no tags.
    FromBase,
}

impl IdPolicy {
    /// Both.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::custom_call::IdPolicy::ALL.len(), 2);
    /// ```
    pub const ALL: &'static [Self] = <Self as VariantArray>::VARIANTS;

    /// The number that the search starts from.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::IdPolicy;
    /// assert_eq!(IdPolicy::FromBase.first(), 7000);
    /// ```
    pub const fn first(self) -> u32 {
        match self {
            Self::FirstFree => 0,
            Self::FromBase => BASE,
        }
    }
}

/// What the assigned ids depend on besides the calls of the module.
///
/// ```
/// use mosaic_memspace::custom_call::{IdCall, CollectiveIds, IdOptions, IdOrder, IdPolicy};
///
/// let a = IdCall { tag: Some("a"), has_custom_barrier: true, ..IdCall::new(b"") };
/// let b = IdCall { tag: Some("b"), ..a };
/// let options = IdOptions::new(IdPolicy::FirstFree).order(IdOrder::ByKey);
/// for calls in [[a, b], [b, a]] {
///     let mut ids = CollectiveIds::new(options, &calls);
///     assert_eq!(ids.assign(&b), Ok(Some(1.into())));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdOptions {
    /// Which id is the next one.
    pub policy: IdPolicy,
    /// Which calls are assigned one.
    pub auto_assign: AutoAssign,
    /// Which calls get the lower ids.
    pub order: IdOrder,
    /// How many different ids may be assigned: 25 in JAX
    /// (`jax_pallas_auto_assign_collective_ids_limit`).
    pub limit: usize,
}

impl IdOptions {
    /// JAX's defaults.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{IdOptions, IdPolicy};
    /// assert_eq!(IdOptions::new(IdPolicy::FirstFree).limit, 25);
    /// ```
    pub const fn new(policy: IdPolicy) -> Self {
        Self { policy, auto_assign: AutoAssign::No, order: IdOrder::AsTheyCome, limit: 25 }
    }

    /// The same options, with an id for these calls.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{AutoAssign, IdOptions, IdPolicy};
    /// let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes);
    /// assert_eq!(options.auto_assign, AutoAssign::Yes);
    /// ```
    #[must_use]
    pub const fn auto_assign(self, auto_assign: AutoAssign) -> Self {
        Self { auto_assign, ..self }
    }

    /// The same options, with this order.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{IdOptions, IdOrder, IdPolicy};
    /// assert_eq!(IdOptions::new(IdPolicy::FirstFree).order, IdOrder::AsTheyCome);
    /// ```
    #[must_use]
    pub const fn order(self, order: IdOrder) -> Self {
        Self { order, ..self }
    }

    /// The same options, with this limit.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{IdOptions, IdPolicy};
    /// assert_eq!(IdOptions::new(IdPolicy::FirstFree).limit(30).limit, 30);
    /// ```
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }
}

/// Which calls get the lower ids.
///
/// ```
/// use mosaic_memspace::custom_call::IdOrder;
/// assert_eq!(IdOrder::default(), IdOrder::AsTheyCome);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdOrder {
    /// Those that are lowered first, as in JAX: the ids depend on the order of the kernels.
    #[default]
    AsTheyCome,
    /// Those whose tag comes first in the alphabet, then those whose kernel's bytes come
    /// first: the ids do not depend on the order of the kernels.
    ///
    /// The ids that authors set are reserved before any is assigned, so there are no
    /// conflicts. A key beyond the limit fails each time; in JAX it fails only once.
    ByKey,
}

/// Assigns ids to the calls of one module.
///
/// Calls with the same tag get the same id, and so do calls of the same kernel without a
/// tag, unless they differ in `skip_device_barrier`.
///
/// ```
/// use mosaic_memspace::custom_call::{AutoAssign, IdCall, CollectiveIds, IdOptions, IdPolicy};
///
/// let mine = IdCall { collective_id: Some(0.into()), has_custom_barrier: true, ..IdCall::new(b"a") };
/// let other = IdCall { collective_id: None, ..IdCall { module: b"b", ..mine } };
///
/// let options = IdOptions::new(IdPolicy::FirstFree).auto_assign(AutoAssign::Yes);
/// let mut ids = CollectiveIds::new(options, &[other, mine]);
/// assert_eq!(ids.assign(&other), Ok(Some(1.into())));
/// assert_eq!(ids.assign(&mine), Ok(Some(0.into())));
///
/// let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes);
/// let mut ids = CollectiveIds::new(options, &[other, mine]);
/// assert_eq!(ids.assign(&other), Ok(Some(7000.into())));
/// ```
#[derive(Clone, Debug)]
pub struct CollectiveIds<'a> {
    options: IdOptions,
    given: HashMap<Key<'a>, Given>,
    taken: HashMap<CollectiveId, Taker>,
    /// All ids from the policy's first one up to this one are taken.
    next: u32,
}

/// The ids of all calls of a module, in their order.
///
/// ```
/// use mosaic_memspace::custom_call::{AutoAssign, IdCall, IdOptions, IdPolicy, collective_ids};
///
/// let calls = [b"a", b"b"].map(|module| IdCall { has_custom_barrier: true, ..IdCall::new(module) });
/// let options = IdOptions::new(IdPolicy::FirstFree).auto_assign(AutoAssign::Yes);
/// let ids = collective_ids(options, &calls);
/// assert_eq!(ids, [Ok(Some(0.into())), Ok(Some(1.into()))]);
/// ```
pub fn collective_ids(
    options: IdOptions,
    calls: &[IdCall<'_>],
) -> Vec<Result<Option<CollectiveId>, CollectiveIdFault>> {
    let mut ids = CollectiveIds::new(options, calls);
    calls.iter().map(|call| ids.assign(call)).collect()
}

/// What calls with the same id have in common. Tags come before kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key<'a> {
    what: What<'a>,
    skip_device_barrier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum What<'a> {
    Tag(&'a str),
    Module(&'a [u8]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taker {
    Author,
    Allocator,
}

#[derive(Clone, Copy, Debug)]
struct Given {
    id: CollectiveId,
    over_limit: bool,
}

impl<'a> CollectiveIds<'a> {
    /// An allocator for a module with these calls.
    ///
    /// With [`IdPolicy::FirstFree`], the ids that authors set are reserved now, even those
    /// of calls that will fail. With [`IdOrder::ByKey`], all ids are assigned now. A call
    /// that is not among these can still get an id later; which one depends on when it
    /// asks.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{CollectiveIds, IdOptions, IdPolicy};
    /// let ids = CollectiveIds::new(IdOptions::new(IdPolicy::FirstFree), &[]);
    /// assert_eq!(ids.given(), 0);
    /// ```
    pub fn new(options: IdOptions, calls: &[IdCall<'a>]) -> Self {
        let mut ids = Self {
            options,
            given: HashMap::new(),
            taken: HashMap::new(),
            next: options.policy.first(),
        };
        let reserves = match options.order {
            IdOrder::ByKey => true,
            IdOrder::AsTheyCome => match options.policy {
                IdPolicy::FirstFree => true,
                IdPolicy::FromBase => false,
            },
        };
        if reserves {
            let own = calls.iter().filter_map(|call| ids.own(call));
            ids.taken = own.map(|id| (id, Taker::Author)).collect();
        }
        match options.order {
            IdOrder::AsTheyCome => {}
            IdOrder::ByKey => {
                let keys: BTreeSet<_> = calls.iter().filter_map(|call| ids.key(call)).collect();
                for key in keys {
                    ids.give(key);
                }
            }
        }
        ids
    }

    /// The id of the next call, set by its author or assigned; `None` when it has no id
    /// and needs none.
    ///
    /// # Errors
    /// [`CollectiveIdFault`]. As in JAX, the id of a call that fails stays reserved, and
    /// with [`IdOrder::AsTheyCome`] a key beyond the limit fails once and gets its id
    /// afterwards.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{
    ///     IdCall, CollectiveIdFault, CollectiveIds, IdOptions, IdPolicy,
    /// };
    /// let call = IdCall { has_custom_barrier: true, ..IdCall::new(b"") };
    /// let mut ids = CollectiveIds::new(IdOptions::new(IdPolicy::FirstFree), &[call]);
    /// assert_eq!(ids.assign(&call), Err(CollectiveIdFault::Missing));
    /// ```
    pub fn assign(&mut self, call: &IdCall<'a>) -> Result<Option<CollectiveId>, CollectiveIdFault> {
        if let (Some(id), Some(tag)) = (self.own(call), self.tag(call)) {
            return Err(CollectiveIdFault::IdAndTag { id, tag: tag.to_owned() });
        }
        let id = match self.key(call) {
            Some(key) => Some(self.give_or_repeat(key)?),
            None => self.take_own(call)?,
        };
        call.check(id)?;
        Ok(id)
    }

    /// How many different ids were assigned, without those that authors set.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{IdCall, CollectiveIds, IdOptions, IdPolicy};
    /// let call = IdCall { tag: Some("a"), has_custom_barrier: true, ..IdCall::new(b"") };
    /// let mut ids = CollectiveIds::new(IdOptions::new(IdPolicy::FirstFree), &[call]);
    /// let first = ids.assign(&call);
    /// assert_eq!(ids.assign(&call), first);
    /// assert_eq!(ids.given(), 1);
    /// ```
    pub fn given(&self) -> usize {
        self.given.len()
    }

    /// Whether more ids were assigned than the limit. With [`IdPolicy::FromBase`], JAX
    /// only warns about it.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::{AutoAssign, IdCall, CollectiveIds, IdOptions, IdPolicy};
    /// let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes).limit(0);
    /// let call = IdCall { has_custom_barrier: true, ..IdCall::new(b"") };
    /// let mut ids = CollectiveIds::new(options, &[call]);
    /// assert_eq!(ids.assign(&call), Ok(Some(7000.into())));
    /// assert!(ids.exceeds_limit());
    /// ```
    pub fn exceeds_limit(&self) -> bool {
        self.given.len() > self.options.limit
    }

    /// The id that the author set, unless the options ignore it.
    fn own(&self, call: &IdCall<'a>) -> Option<CollectiveId> {
        match self.options.auto_assign {
            AutoAssign::No | AutoAssign::Yes => call.collective_id,
            AutoAssign::Override => None,
        }
    }

    /// The tag, unless the options ignore it.
    fn tag(&self, call: &IdCall<'a>) -> Option<&'a str> {
        match self.options.policy {
            IdPolicy::FirstFree => call.tag,
            IdPolicy::FromBase => None,
        }
    }

    /// The key of a call that is to be assigned an id.
    fn key(&self, call: &IdCall<'a>) -> Option<Key<'a>> {
        if self.own(call).is_some() {
            return None;
        }
        let asks = match self.options.policy {
            IdPolicy::FirstFree => true,
            IdPolicy::FromBase => call.has_custom_barrier,
        };
        let what = match self.tag(call) {
            Some(tag) => What::Tag(tag),
            None => match self.options.auto_assign {
                AutoAssign::No => return None,
                AutoAssign::Yes | AutoAssign::Override => What::Module(call.module),
            },
        };
        asks.then_some(Key { what, skip_device_barrier: call.skip_device_barrier })
    }

    fn give_or_repeat(&mut self, key: Key<'a>) -> Result<CollectiveId, CollectiveIdFault> {
        let (given, is_new) = match self.given.get(&key) {
            Some(given) => (*given, false),
            None => (self.give(key), true),
        };
        let refused = given.over_limit
            && match self.options.order {
                IdOrder::AsTheyCome => is_new,
                IdOrder::ByKey => true,
            };
        match self.options.policy {
            IdPolicy::FirstFree if refused => {
                Err(CollectiveIdFault::TooMany { limit: self.options.limit })
            }
            IdPolicy::FirstFree | IdPolicy::FromBase => Ok(given.id),
        }
    }

    fn give(&mut self, key: Key<'a>) -> Given {
        // It ends: a module has fewer than 2^32 calls.
        while self.taken.contains_key(&CollectiveId::from(self.next)) {
            self.next = self.next.saturating_add(1);
        }
        let id = CollectiveId::from(self.next);
        self.taken.insert(id, Taker::Allocator);
        let given = Given { id, over_limit: self.given.len() >= self.options.limit };
        self.given.insert(key, given);
        given
    }

    /// Reserves the id that the author set.
    fn take_own(&mut self, call: &IdCall<'a>) -> Result<Option<CollectiveId>, CollectiveIdFault> {
        let Some(id) = self.own(call) else { return Ok(None) };
        let counts = match self.options.policy {
            IdPolicy::FirstFree => true,
            IdPolicy::FromBase => match self.options.auto_assign {
                AutoAssign::No => false,
                AutoAssign::Yes | AutoAssign::Override => call.has_custom_barrier,
            },
        };
        if counts {
            let taker = *self.taken.entry(id).or_insert(Taker::Author);
            match self.options.policy {
                IdPolicy::FromBase if taker == Taker::Allocator => {
                    return Err(CollectiveIdFault::Conflict { id });
                }
                // The allocator knew of the module's own ids beforehand.
                IdPolicy::FirstFree | IdPolicy::FromBase => {}
            }
        }
        Ok(Some(id))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]
mod tests {
    use super::*;
    use crate::error::{Code, Fault};

    const BARRIER: IdCall<'_> = IdCall { has_custom_barrier: true, ..IdCall::new(b"") };

    fn tagged(tags: &[String]) -> Vec<IdCall<'_>> {
        tags.iter().map(|tag| IdCall { tag: Some(tag), ..BARRIER }).collect()
    }

    fn all(options: IdOptions, calls: &[IdCall<'_>]) -> Vec<Result<Option<u32>, Code>> {
        let ids = collective_ids(options, calls).into_iter();
        ids.map(|id| Ok(id.map_err(|error| error.code())?.map(CollectiveId::get))).collect()
    }

    #[test]
    fn a_key_beyond_the_limit_fails_once_in_jax_and_each_time_by_key() {
        let tags: Vec<_> = (0..4).map(|i| i.to_string()).collect();
        let mut calls = tagged(&tags);
        calls.push(calls[3]);
        let options = IdOptions::new(IdPolicy::FirstFree).limit(3);
        let too_many = Err(Code::TooManyCollectiveIds);
        let given = [Ok(Some(0)), Ok(Some(1)), Ok(Some(2))];

        let as_they_come = all(options, &calls);
        assert_eq!(as_they_come[..3], given);
        assert_eq!(as_they_come[3..], [too_many, Ok(Some(3))]);

        let by_key = all(options.order(IdOrder::ByKey), &calls);
        assert_eq!(by_key[..3], given);
        assert_eq!(by_key[3..], [too_many, too_many]);
    }

    #[test]
    fn from_a_base_the_limit_only_warns() {
        let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes).limit(1);
        let calls = [BARRIER, IdCall { module: b"b", ..BARRIER }];
        let mut ids = CollectiveIds::new(options, &calls);
        ids.assign(&calls[0]).unwrap();
        assert!(!ids.exceeds_limit());
        assert_eq!(ids.assign(&calls[1]), Ok(Some(7001.into())));
        assert!(ids.exceeds_limit());
    }

    #[test]
    fn by_key_no_id_conflicts() {
        let options = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes);
        let own = IdCall { collective_id: Some(7000.into()), module: b"b", ..BARRIER };
        let calls = [BARRIER, own];
        assert_eq!(all(options, &calls), [Ok(Some(7000)), Err(Code::CollectiveIdConflict)]);
        let by_key = options.order(IdOrder::ByKey);
        assert_eq!(all(by_key, &calls), [Ok(Some(7001)), Ok(Some(7000))]);
    }

    #[test]
    fn a_call_that_was_not_announced_is_given_the_next_id() {
        for order in [IdOrder::AsTheyCome, IdOrder::ByKey] {
            let options = IdOptions::new(IdPolicy::FirstFree).order(order);
            let mut ids = CollectiveIds::new(options.auto_assign(AutoAssign::Yes), &[BARRIER]);
            let late = IdCall { module: b"late", ..BARRIER };
            assert_eq!(ids.assign(&BARRIER), Ok(Some(0.into())));
            assert_eq!(ids.assign(&late), Ok(Some(1.into())));
            let own = IdCall { collective_id: Some(2.into()), ..late };
            assert_eq!(ids.assign(&own), Ok(Some(2.into())));
            assert_eq!(ids.assign(&IdCall { module: b"later", ..BARRIER }), Ok(Some(3.into())));
        }
    }

    #[test]
    fn each_fault_says_what_would_do() {
        let own = IdCall { collective_id: Some(7000.into()), ..BARRIER };
        let both = IdCall { tag: Some("t"), ..own };
        let options = IdOptions::new(IdPolicy::FirstFree);
        let first = |options, calls: &[IdCall<'static>]| {
            let mut ids = CollectiveIds::new(options, calls);
            calls.iter().find_map(|call| ids.assign(call).err()).unwrap()
        };
        let from_base = IdOptions::new(IdPolicy::FromBase).auto_assign(AutoAssign::Yes);
        let cases = [
            (first(options, &[both]), Code::CollectiveIdAndTag, "collective_id=7000 or the tag t"),
            (first(options, &[BARRIER]), Code::MissingCollectiveId, "tag"),
            (
                first(options, &[IdCall { has_custom_barrier: false, ..own }]),
                Code::UnexpectedCollectiveId,
                "collective_id=7000",
            ),
            (first(from_base, &[BARRIER, own]), Code::CollectiveIdConflict, "below 7000"),
            (
                first(options.limit(0), &[IdCall { tag: Some("t"), ..BARRIER }]),
                Code::TooManyCollectiveIds,
                "jax_pallas_auto_assign_collective_ids_limit",
            ),
            (CollectiveId::new(-1).unwrap_err(), Code::CollectiveIdNegative, "0 or more"),
        ];
        for (error, code, help) in cases {
            assert_eq!(error.code(), code);
            assert!(error.help().contains(help), "{}", error.help());
        }
    }
}
