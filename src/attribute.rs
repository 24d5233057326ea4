//! Mosaic's attributes `#tpu.memory_space<…>` and `#tpu.core_type<…>`, both ways.

use crate::core_type::CoreType;
use crate::dtype::Dtype;
use crate::error::{Code, Fault, UnknownWord};
use crate::memory_space::{CoreMemorySpace, MemorySpace, MemrefSpace, Resolved, TpuSpace};
use crate::resolve::{CallSite, Kind, NUMBERS, ROW, kind, number, resolve};
use crate::word::word_impls;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use strum::EnumCount;

/// A memory space as Mosaic writes it on a memref's type.
///
/// ```
/// use mosaic_memspace::{CoreType, MemorySpace, MemorySpaceAttr, Resolved, resolve};
///
/// let tagged: MemorySpace = "smem@tc".parse()?;
/// match resolve(tagged, CoreType::ScVectorSubcore) {
///     Resolved::Memref(space) => {
///         let attribute = MemorySpaceAttr::new(space)?;
///         assert_eq!(attribute.as_str(), "#tpu.memory_space<smem, tc>");
///         assert_eq!("#tpu.memory_space<smem,tc>".parse(), Ok(attribute));
///     }
///     Resolved::Acc(_) => unreachable!("an accumulator has no attribute"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemorySpaceAttr {
    /// The space's place among all.
    place: u8,
}

impl MemorySpaceAttr {
    const MNEMONIC: &'static str = "#tpu.memory_space";

    /// The attribute of a memref in `space`.
    ///
    /// # Errors
    /// [`NotOwnableByCore`] for a tagged `vmem_shared`: a mesh owns it, and
    /// Mosaic has no way to say so.
    ///
    /// ```
    /// use mosaic_memspace::{CoreMemorySpace, MemorySpaceAttr, MemrefSpace};
    ///
    /// let hbm = MemorySpaceAttr::new(MemrefSpace::HBM);
    /// assert_eq!(hbm.map(MemorySpaceAttr::as_str), Ok("#tpu.memory_space<hbm>"));
    ///
    /// let shared = MemrefSpace::Core(CoreMemorySpace::VmemSharedOfScVectorSubcore);
    /// assert!(MemorySpaceAttr::new(shared).is_err());
    /// ```
    #[inline]
    pub const fn new(space: MemrefSpace) -> Result<Self, NotOwnableByCore> {
        match space {
            MemrefSpace::Core(
                tagged @ (CoreMemorySpace::VmemSharedOfScScalarSubcore
                | CoreMemorySpace::VmemSharedOfScVectorSubcore),
            ) => Err(NotOwnableByCore(tagged)),
            MemrefSpace::Any
            | MemrefSpace::Host
            | MemrefSpace::Tpu(_)
            | MemrefSpace::Core(
                CoreMemorySpace::VmemOfTc
                | CoreMemorySpace::SmemOfTc
                | CoreMemorySpace::CmemOfTc
                | CoreMemorySpace::SemaphoreMemOfTc
                | CoreMemorySpace::SmemOfScScalarSubcore
                | CoreMemorySpace::SemaphoreMemOfScScalarSubcore
                | CoreMemorySpace::VmemOfScVectorSubcore
                | CoreMemorySpace::SmemOfScVectorSubcore
                | CoreMemorySpace::SemaphoreMemOfScVectorSubcore,
            ) => Ok(Self { place: place(space) }),
        }
    }

    /// Every attribute, in the order of [`MemrefSpace::ALL`].
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::MemorySpaceAttr::all().count(), 17);
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        MemrefSpace::ALL.iter().filter_map(|space| Self::new(*space).ok())
    }

    /// The space that it says.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpaceAttr, MemrefSpace};
    /// let attribute: MemorySpaceAttr = "#tpu.memory_space<vmem>".parse()?;
    /// assert_eq!(attribute.space(), MemrefSpace::VMEM);
    /// # Ok::<(), mosaic_memspace::error::UnknownWord>(())
    /// ```
    #[allow(clippy::indexing_slicing, reason = "the table has every space")]
    #[inline]
    pub const fn space(self) -> MemrefSpace {
        SPACES[self.place as usize].0
    }

    /// Its text, as Mosaic prints it.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpaceAttr, MemrefSpace};
    /// let attribute = MemorySpaceAttr::new(MemrefSpace::Any);
    /// assert_eq!(attribute.map(MemorySpaceAttr::as_str), Ok("#tpu.memory_space<any>"));
    /// ```
    #[allow(clippy::indexing_slicing, reason = "the table has every space")]
    #[inline]
    pub const fn as_str(self) -> &'static str {
        SPACES[self.place as usize].1
    }

    /// The number of the space in the Mosaic dialect; a tag is no part of it.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpaceAttr, MemrefSpace};
    /// assert_eq!(MemorySpaceAttr::new(MemrefSpace::CMEM).map(MemorySpaceAttr::number), Ok(3));
    /// ```
    pub const fn number(self) -> u32 {
        let space = match self.space() {
            MemrefSpace::Any => return u32::MAX,
            MemrefSpace::Host => return 6,
            MemrefSpace::Tpu(space) => space,
            MemrefSpace::Core(tagged) => tagged.space(),
        };
        match space {
            TpuSpace::Vmem => 0,
            TpuSpace::Smem => 1,
            TpuSpace::Hbm => 2,
            TpuSpace::Cmem => 3,
            TpuSpace::SemaphoreMem => 4,
            TpuSpace::VmemShared => 5,
        }
    }

    /// The untagged attribute with this number, or `None` when there is none.
    ///
    /// ```
    /// use mosaic_memspace::{MemorySpaceAttr, MemrefSpace};
    /// let any = MemorySpaceAttr::from_number(u32::MAX);
    /// assert_eq!(any.map(MemorySpaceAttr::space), Some(MemrefSpace::Any));
    /// assert_eq!(MemorySpaceAttr::from_number(7), None);
    /// ```
    pub fn from_number(number: u32) -> Option<Self> {
        Self::all().find(|attribute| attribute.number() == number)
    }

    fn of(space: &str, core_type: Option<&str>) -> Option<Self> {
        let written = |attribute: &Self| {
            let (name, tag) = match attribute.space() {
                MemrefSpace::Any => ("any", None),
                MemrefSpace::Host => ("host", None),
                MemrefSpace::Tpu(space) => (space.as_str(), None),
                MemrefSpace::Core(tagged) => (tagged.space().as_str(), Some(tagged.core_type())),
            };
            name == space && tag.map(CoreType::as_str) == core_type
        };
        Self::all().find(written)
    }
}

/// The texts. [`SPACES`] is made from it at compile time, and answers.
const fn text(space: MemrefSpace) -> &'static str {
    match space {
        MemrefSpace::Any => "#tpu.memory_space<any>",
        MemrefSpace::Host => "#tpu.memory_space<host>",
        MemrefSpace::Tpu(space) => match space {
            TpuSpace::Vmem => "#tpu.memory_space<vmem>",
            TpuSpace::VmemShared => "#tpu.memory_space<vmem_shared>",
            TpuSpace::Smem => "#tpu.memory_space<smem>",
            TpuSpace::Cmem => "#tpu.memory_space<cmem>",
            TpuSpace::SemaphoreMem => "#tpu.memory_space<semaphore_mem>",
            TpuSpace::Hbm => "#tpu.memory_space<hbm>",
        },
        MemrefSpace::Core(tagged) => match tagged {
            CoreMemorySpace::VmemOfTc => "#tpu.memory_space<vmem, tc>",
            CoreMemorySpace::SmemOfTc => "#tpu.memory_space<smem, tc>",
            CoreMemorySpace::CmemOfTc => "#tpu.memory_space<cmem, tc>",
            CoreMemorySpace::SemaphoreMemOfTc => "#tpu.memory_space<semaphore_mem, tc>",
            CoreMemorySpace::SmemOfScScalarSubcore => "#tpu.memory_space<smem, sc_scalar_subcore>",
            CoreMemorySpace::SemaphoreMemOfScScalarSubcore => {
                "#tpu.memory_space<semaphore_mem, sc_scalar_subcore>"
            }
            CoreMemorySpace::VmemOfScVectorSubcore => "#tpu.memory_space<vmem, sc_vector_subcore>",
            CoreMemorySpace::SmemOfScVectorSubcore => "#tpu.memory_space<smem, sc_vector_subcore>",
            CoreMemorySpace::SemaphoreMemOfScVectorSubcore => {
                "#tpu.memory_space<semaphore_mem, sc_vector_subcore>"
            }
            // No attribute is made of them.
            CoreMemorySpace::VmemSharedOfScScalarSubcore
            | CoreMemorySpace::VmemSharedOfScVectorSubcore => "",
        },
    }
}

/// The spaces and their texts, each at its place.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "at compile time")]
const SPACES: [(MemrefSpace, &str); MemrefSpace::ALL.len()] = {
    let mut spaces = [(MemrefSpace::Any, ""); MemrefSpace::ALL.len()];
    let mut i = 0;
    while i < spaces.len() {
        let space = MemrefSpace::ALL[i];
        spaces[place(space) as usize] = (space, text(space));
        i += 1;
    }
    spaces
};

#[allow(clippy::arithmetic_side_effects, reason = "small numbers")]
#[allow(clippy::cast_possible_truncation, reason = "there are few spaces")]
const fn place(space: MemrefSpace) -> u8 {
    match space {
        MemrefSpace::Any => 0,
        MemrefSpace::Host => 1,
        MemrefSpace::Tpu(space) => 2 + space as u8,
        MemrefSpace::Core(tagged) => 2 + TpuSpace::ALL.len() as u8 + tagged as u8,
    }
}

impl fmt::Debug for MemorySpaceAttr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemorySpaceAttr").field(&self.space()).finish()
    }
}

/// The attribute of a ref in this memory; an accumulator has none.
const fn of_resolved(space: Resolved) -> Written {
    match space {
        Resolved::Acc(_) => Ok(None),
        Resolved::Memref(space) => match MemorySpaceAttr::new(space) {
            Ok(attribute) => Ok(Some(attribute)),
            Err(fault) => Err(fault),
        },
    }
}

type Written = Result<Option<MemorySpaceAttr>, NotOwnableByCore>;

/// The attributes of written spaces, in the places that [`resolve`] has them in.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "at compile time")]
const WRITTEN: [[[Written; ROW]; NUMBERS]; Kind::COUNT] = {
    let mut table = [[[Ok(None); ROW]; NUMBERS]; Kind::COUNT];
    let mut i = 0;
    while i < MemorySpace::ALL.len() {
        let space = MemorySpace::ALL[i];
        let mut core = 0;
        while core < CoreType::ALL.len() {
            let attribute = of_resolved(resolve(space, CoreType::ALL[core]));
            table[kind(space) as usize][number(space) as usize][core] = attribute;
            core += 1;
        }
        i += 1;
    }
    table
};

/// The attributes where no space is written, by call site and core type.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "at compile time")]
const UNWRITTEN: [[Written; CoreType::COUNT]; CallSite::COUNT] = {
    let mut table = [[Ok(None); CoreType::COUNT]; CallSite::COUNT];
    let mut site = 0;
    while site < CallSite::COUNT {
        let mut core = 0;
        while core < CoreType::COUNT {
            let space = CallSite::ALL[site].resolve(None, CoreType::ALL[core]);
            table[site][core] = of_resolved(space);
            core += 1;
        }
        site += 1;
    }
    table
};

/// On its own: within [`CallSite::attribute`] the compiler would make a jump table of it.
#[allow(clippy::indexing_slicing, reason = "the table has every kind, number and core type")]
#[inline]
const fn of_written(space: MemorySpace, core_type: CoreType) -> Written {
    WRITTEN[kind(space) as usize][number(space) as usize][core_type as usize]
}

impl CallSite {
    /// The attribute of a ref met here, whose space is written or not; an accumulator has
    /// none.
    ///
    /// # Errors
    /// [`NotOwnableByCore`] for a tagged `vmem_shared` of another core.
    ///
    /// ```
    /// use mosaic_memspace::{CallSite, CoreType, MemorySpace, MemorySpaceAttr};
    ///
    /// let text = |space| {
    ///     let attribute = CallSite::BlockSpec.attribute(space, CoreType::ScScalarSubcore);
    ///     attribute.map(|attribute| attribute.map(MemorySpaceAttr::as_str))
    /// };
    /// assert_eq!(text(None), Ok(Some("#tpu.memory_space<smem>")));
    /// assert_eq!(text(Some(MemorySpace::HBM)), Ok(Some("#tpu.memory_space<hbm>")));
    /// assert_eq!(text(Some(MemorySpace::Acc(0))), Ok(None));
    /// ```
    #[allow(clippy::indexing_slicing, reason = "the tables have every space, core type and site")]
    #[inline]
    pub const fn attribute(
        self,
        space: Option<MemorySpace>,
        core_type: CoreType,
    ) -> Result<Option<MemorySpaceAttr>, NotOwnableByCore> {
        match space {
            Some(space) => of_written(space, core_type),
            None => UNWRITTEN[self as usize][core_type as usize],
        }
    }
}

word_impls!(MemorySpaceAttr, "a #tpu.memory_space attribute");

impl FromStr for MemorySpaceAttr {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        static KNOWN: Known =
            LazyLock::new(|| MemorySpaceAttr::all().map(MemorySpaceAttr::as_str).collect());

        let attribute = parameters(text, Self::MNEMONIC).and_then(|inside| {
            let (space, core_type) = match inside.split_once(',') {
                Some((space, core_type)) => (space, Some(trim(core_type))),
                None => (inside, None),
            };
            Self::of(trim(space), core_type)
        });
        attribute.ok_or_else(|| unknown(&KNOWN, text))
    }
}

/// The type of a ref in a Mosaic body: shape, element type, memory space.
///
/// ```
/// use mosaic_memspace::{Dtype, MemorySpaceAttr, MemrefSpace, MemrefType};
///
/// let space = MemorySpaceAttr::new(MemrefSpace::VMEM)?;
/// let memref = MemrefType::new(&[8, 128], Dtype::Bfloat16, space);
/// assert_eq!(memref.to_string(), "memref<8x128xbf16, #tpu.memory_space<vmem>>");
/// # Ok::<(), mosaic_memspace::NotOwnableByCore>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MemrefType<'a> {
    /// The extents, major to minor.
    pub shape: &'a [u64],
    /// The type of its elements.
    pub dtype: Dtype,
    /// Where it lies.
    pub space: MemorySpaceAttr,
}

impl<'a> MemrefType<'a> {
    /// The type of a ref with this shape and these elements, in this space.
    ///
    /// ```
    /// use mosaic_memspace::{Dtype, MemorySpaceAttr, MemrefSpace, MemrefType};
    /// let space = MemorySpaceAttr::new(MemrefSpace::SMEM)?;
    /// let scalar = MemrefType::new(&[], Dtype::Int32, space);
    /// assert_eq!(scalar.to_string(), "memref<i32, #tpu.memory_space<smem>>");
    /// # Ok::<(), mosaic_memspace::NotOwnableByCore>(())
    /// ```
    pub const fn new(shape: &'a [u64], dtype: Dtype, space: MemorySpaceAttr) -> Self {
        Self { shape, dtype, space }
    }
}

impl fmt::Display for MemrefType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("memref<")?;
        self.shape.iter().try_for_each(|extent| write!(f, "{extent}x"))?;
        write!(f, "{}, {}>", self.dtype.as_mosaic(), self.space)
    }
}

/// A core type as Mosaic writes it on a function.
///
/// ```
/// use mosaic_memspace::{CoreType, CoreTypeAttr};
///
/// let attribute = CoreTypeAttr::new(CoreType::ScVectorSubcore);
/// assert_eq!(attribute.to_string(), "#tpu.core_type<sc_vector_subcore>");
/// assert_eq!("#tpu.core_type< sc_vector_subcore >".parse(), Ok(attribute));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CoreTypeAttr(CoreType);

impl CoreTypeAttr {
    const MNEMONIC: &'static str = "#tpu.core_type";

    /// The attribute of a function for cores of this type.
    ///
    /// ```
    /// use mosaic_memspace::{CoreType, CoreTypeAttr};
    /// assert_eq!(CoreTypeAttr::new(CoreType::Tc).as_str(), "#tpu.core_type<tc>");
    /// ```
    pub const fn new(core_type: CoreType) -> Self {
        Self(core_type)
    }

    /// Every attribute, in the order of the core types' numbers.
    ///
    /// ```
    /// assert_eq!(mosaic_memspace::CoreTypeAttr::all().count(), 3);
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        CoreType::ALL.iter().copied().map(Self)
    }

    /// The core type that it says.
    ///
    /// ```
    /// use mosaic_memspace::{CoreType, CoreTypeAttr};
    /// assert_eq!(CoreTypeAttr::new(CoreType::Tc).core_type(), CoreType::Tc);
    /// ```
    pub const fn core_type(self) -> CoreType {
        self.0
    }

    /// Its text, as Mosaic prints it.
    ///
    /// ```
    /// use mosaic_memspace::{CoreType, CoreTypeAttr};
    /// const TEXT: &str = CoreTypeAttr::new(CoreType::ScScalarSubcore).as_str();
    /// assert_eq!(TEXT, "#tpu.core_type<sc_scalar_subcore>");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self.0 {
            CoreType::Tc => "#tpu.core_type<tc>",
            CoreType::ScScalarSubcore => "#tpu.core_type<sc_scalar_subcore>",
            CoreType::ScVectorSubcore => "#tpu.core_type<sc_vector_subcore>",
        }
    }
}

word_impls!(CoreTypeAttr, "a #tpu.core_type attribute");

impl FromStr for CoreTypeAttr {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        static KNOWN: Known =
            LazyLock::new(|| CoreTypeAttr::all().map(CoreTypeAttr::as_str).collect());
        let core_type =
            parameters(text, Self::MNEMONIC).and_then(|inside| trim(inside).parse().ok());
        core_type.map(Self).ok_or_else(|| unknown(&KNOWN, text))
    }
}

/// Every attribute of a kind, made when one is first misspelled.
type Known = LazyLock<Vec<&'static str>>;

fn unknown(known: &'static Known, text: &str) -> UnknownWord {
    UnknownWord::new(Code::UnknownAttribute, "unknown attribute", known, text)
}

/// What stands between the angle brackets of `mnemonic<…>`.
fn parameters<'a>(text: &'a str, mnemonic: &str) -> Option<&'a str> {
    text.strip_prefix(mnemonic)?.strip_prefix('<')?.strip_suffix('>')
}

/// Without the blanks and newlines that MLIR's lexer skips.
fn trim(parameter: &str) -> &str {
    parameter.trim_matches([' ', '\t', '\n', '\r'])
}

impl From<CoreType> for CoreTypeAttr {
    fn from(core_type: CoreType) -> Self {
        Self::new(core_type)
    }
}

impl TryFrom<MemrefSpace> for MemorySpaceAttr {
    type Error = NotOwnableByCore;

    fn try_from(space: MemrefSpace) -> Result<Self, NotOwnableByCore> {
        Self::new(space)
    }
}

/// A tagged space that Mosaic cannot write (the dialect's `CoreMemorySpaceAttr`
/// takes vmem of tc and `sc_vector_subcore`, smem and `semaphore_mem` of all
/// three, cmem of tc).
///
/// ```
/// use mosaic_memspace::{CoreMemorySpace, MemorySpaceAttr, MemrefSpace};
/// let shared = MemrefSpace::Core(CoreMemorySpace::VmemSharedOfScScalarSubcore);
/// assert_eq!(
///     MemorySpaceAttr::new(shared).unwrap_err().to_string(),
///     "memory space vmem_shared is not ownable by sc_scalar_subcore in Mosaic"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory space {} is not ownable by {} in Mosaic", .0.space(), .0.core_type())]
pub struct NotOwnableByCore(CoreMemorySpace);

impl NotOwnableByCore {
    /// The space and its owner.
    pub const fn tagged(self) -> CoreMemorySpace {
        self.0
    }
}

impl Fault for NotOwnableByCore {
    fn code(&self) -> Code {
        Code::NotOwnableByCore
    }

    fn help(&self) -> String {
        format!("write {} without its owner", self.0.space())
    }
}
