//! The backend config's JSON, read: what JAX writes, and what XLA makes of it.

use super::BackendConfig;
use super::body::{Base64, Body};
use super::flags::{FlagName, FlagValue};
use super::key::{
    CallKey, CompEnvKey, CostKey, Extra, Extras, FlagKey, FlagValueKey, InputColorKey, Key,
    MegachipKey, OutputColorKey, ScopedKey, SparseCoreKey, TopKey, push_key,
};
use super::open::{Open, RawJson};
use super::parts::{
    ColoredInput, ColoredOutput, CompEnv, CostEstimate, FlagConfig, MegachipConfig, ScopedMemory,
    SparseCoreConfig,
};
use super::scalar::{Double, Integer, Name, Number, Text};
use crate::custom_call::colors::color::ColorNumber;
use crate::custom_call::params::words::DeviceType;
use crate::error::{Code, Fault};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_path_to_error::{Path, Segment};
use std::fmt;
use std::str::FromStr;
use strum::VariantArray;

impl<'a> BackendConfig<'a> {
    /// Reads the JSON that a `tpu_custom_call` carries, as JAX or as XLA prints it:
    /// keys in any order, numbers that may be strings, absent keys at their
    /// defaults, unknown keys kept. The body is neither copied nor decoded.
    ///
    /// # Errors
    /// [`InvalidConfig`], with the place in the JSON.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    ///
    /// let config = BackendConfig::from_json(
    ///     r#"{"custom_call_config":{"collective_id":"3","body":"TUw="},"device_type":null}"#,
    /// )?;
    /// assert_eq!(config.collective_id, Some(3.into()));
    ///
    /// let wrong = r#"{"custom_call_config": {"body": "", "collective_id": -1}}"#;
    /// let error = BackendConfig::from_json(wrong).unwrap_err();
    /// assert_eq!(error.path(), "custom_call_config.collective_id");
    /// # Ok::<(), mosaic_memspace::custom_call::InvalidConfig>(())
    /// ```
    pub fn from_json(json: &'a str) -> Result<Self, InvalidConfig> {
        let mut config = Self::default();
        let mut reader = serde_json::Deserializer::from_str(json);
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(&mut reader, &mut track);
        let read = Members(&mut config).deserialize(tracked);
        match read.and_then(|()| reader.end()) {
            Ok(()) => Ok(config),
            Err(error) => Err(InvalidConfig::new(place(&track.path()), &error)),
        }
    }
}

/// A text that is no backend config.
///
/// ```
/// use mosaic_memspace::custom_call::BackendConfig;
/// let error = BackendConfig::from_json(r#"{"flag_configs": [{"flag_type": 3}]}"#).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "backend config, at flag_configs[0].flag_type: \
///      invalid type: integer `3`, expected a string at line 1 column 33"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("backend config, at {path}: {reason}")]
pub struct InvalidConfig {
    path: String,
    reason: String,
}

impl InvalidConfig {
    /// Characters of a reason that are kept: it may hold a value of any length.
    const KEPT: usize = 300;

    fn new(path: String, error: &serde_json::Error) -> Self {
        let reason = error.to_string();
        let reason = match reason.char_indices().nth(Self::KEPT) {
            Some((end, _)) => format!("{}…", reason.get(..end).unwrap_or_default()),
            None => reason,
        };
        Self { path, reason }
    }

    /// The place in the JSON, such as `custom_call_config.collective_id`; `.` when
    /// it is the whole.
    ///
    /// ```
    /// use mosaic_memspace::custom_call::BackendConfig;
    /// assert_eq!(BackendConfig::from_json("[]").unwrap_err().path(), ".");
    /// ```
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Fault for InvalidConfig {
    fn code(&self) -> Code {
        Code::InvalidConfig
    }
}

/// Where a value stands: `flag_configs[0].value`; `.` for the whole.
fn place(path: &Path) -> String {
    let mut place = String::new();
    for segment in path {
        match segment {
            Segment::Map { key } => push_key(&mut place, key),
            Segment::Seq { index } => place.extend(["[", &index.to_string(), "]"]),
            // There are no enums; what is unknown is inside of a key.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    if place.is_empty() { ".".to_owned() } else { place }
}

/// A JSON object that is read member by member.
trait Object<'de> {
    type Key: Key;

    fn read<A: MapAccess<'de>>(&mut self, key: Self::Key, map: &mut A) -> Result<(), A::Error>;

    fn extras(&mut self) -> &mut Extras<'de, Self::Key>;
}

impl<'de> Object<'de> for BackendConfig<'de> {
    type Key = TopKey;

    fn read<A: MapAccess<'de>>(&mut self, key: TopKey, map: &mut A) -> Result<(), A::Error> {
        match key {
            TopKey::CustomCallConfig => map.next_value_seed(Members(&mut CustomCall(self)))?,
            TopKey::SparseCoreConfig => self.sparse_core_config = object(map)?,
            TopKey::DeviceType => self.device_type = open(map, device_type)?,
            TopKey::ScopedMemoryConfigs => self.scoped_memory_configs = objects(map)?,
            TopKey::FlagConfigs => self.flag_configs = flags(map)?,
            TopKey::MegachipParallelismConfig => self.megachip_parallelism_config = object(map)?,
        }
        Ok(())
    }

    fn extras(&mut self) -> &mut Extras<'de, TopKey> {
        &mut self.top_extras
    }
}

/// The part of the config that stands in `custom_call_config`.
struct CustomCall<'c, 'a>(&'c mut BackendConfig<'a>);

impl<'de> Object<'de> for CustomCall<'_, 'de> {
    type Key = CallKey;

    fn read<A: MapAccess<'de>>(&mut self, key: CallKey, map: &mut A) -> Result<(), A::Error> {
        let config = &mut *self.0;
        match key {
            CallKey::Body => config.body = body(map)?.unwrap_or_default(),
            CallKey::HasCommunication => config.has_communication = boolean(map, false)?,
            CallKey::CollectiveId => {
                config.collective_id = number(map)?.map(|id: u32| id.into());
            }
            CallKey::CostEstimate => config.cost_estimate = object(map)?,
            CallKey::NeedsHloPasses => config.needs_hlo_passes = boolean(map, false)?,
            CallKey::SerializationFormat => config.serialization_format = number(map)?,
            CallKey::NeedsLayoutPasses => config.needs_layout_passes = boolean(map, false)?,
            CallKey::ShapeInvariantNumerics => {
                config.shape_invariant_numerics = boolean(map, true)?;
            }
            CallKey::AllowInputFusion => config.allow_input_fusion = map.next_value()?,
            CallKey::InternalScratchInBytes => config.internal_scratch_in_bytes = number(map)?,
            CallKey::OutputMemorySpaceColors => config.output_memory_space_colors = objects(map)?,
            CallKey::InputMemorySpaceColors => config.input_memory_space_colors = objects(map)?,
            CallKey::DisableBoundsChecks => config.disable_bounds_checks = boolean(map, false)?,
            CallKey::DisableSemaphoreChecks => {
                config.disable_semaphore_checks = boolean(map, false)?;
            }
            CallKey::SkipDeviceBarrier => config.skip_device_barrier = boolean(map, false)?,
            CallKey::DebugLocations => config.debug_locations = body(map)?,
        }
        Ok(())
    }

    fn extras(&mut self) -> &mut Extras<'de, CallKey> {
        &mut self.0.call_extras
    }
}

/// A struct that is an object: what each key sets.
macro_rules! object {
    ($struct:ident, $key:ident { $($member:ident => $field:ident: $read:expr,)* }) => {
        impl<'de> Object<'de> for $struct<'de> {
            type Key = $key;

            fn read<A: MapAccess<'de>>(&mut self, key: $key, map: &mut A) -> Result<(), A::Error> {
                match key {
                    $($key::$member => self.$field = $read(map)?,)*
                }
                Ok(())
            }

            fn extras(&mut self) -> &mut Extras<'de, $key> {
                &mut self.extras
            }
        }
    };
}

object! { CostEstimate, CostKey {
    BytesAccessed => bytes_accessed: zero_or,
    Flops => flops: zero_or,
    RemoteBytesTransferred => remote_bytes_transferred: zero_or,
    Transcendentals => transcendentals: zero_or,
} }

object! { ColoredOutput, OutputColorKey {
    Color => color: color,
    ShapeIndex => shape_index: numbers,
} }

object! { ColoredInput, InputColorKey {
    OperandIndex => operand_index: zero_or,
    Color => color: color,
} }

object! { SparseCoreConfig, SparseCoreKey {
    CompEnv => comp_env: object,
    CoreIds => core_ids: numbers,
    Tiling => tiling: open_word,
} }

object! { CompEnv, CompEnvKey {
    BackendOptLevel => backend_opt_level: open_word,
} }

object! { ScopedMemory, ScopedKey {
    MemorySpace => memory_space: color,
    Offset => offset: zero_or,
    Size => size: zero_or,
} }

object! { MegachipConfig, MegachipKey {
    Cores => cores: numbers,
} }

/// A flag that is being read: its name may come last.
#[derive(Default)]
struct PartialFlag<'a> {
    name: Option<FlagName>,
    value: PartialValue<'a>,
    extras: Extras<'a, FlagKey>,
}

impl<'de> Object<'de> for PartialFlag<'de> {
    type Key = FlagKey;

    fn read<A: MapAccess<'de>>(&mut self, key: FlagKey, map: &mut A) -> Result<(), A::Error> {
        match key {
            FlagKey::FlagType => self.name = Some(map.next_value::<Name>()?.0),
            FlagKey::Value => map.next_value_seed(Members(&mut self.value))?,
        }
        Ok(())
    }

    fn extras(&mut self) -> &mut Extras<'de, FlagKey> {
        &mut self.extras
    }
}

/// A flag's value that is being read.
#[derive(Default)]
struct PartialValue<'a> {
    value: Option<FlagValue>,
    extras: Extras<'a, FlagValueKey>,
}

impl<'de> Object<'de> for PartialValue<'de> {
    type Key = FlagValueKey;

    fn read<A: MapAccess<'de>>(&mut self, key: FlagValueKey, map: &mut A) -> Result<(), A::Error> {
        if self.value.is_some() {
            return Err(A::Error::custom("a flag has one value"));
        }
        self.value = match key {
            FlagValueKey::BooleanValue => map.next_value::<Option<bool>>()?.map(FlagValue::Bool),
            FlagValueKey::IntegerValue => number(map)?.map(FlagValue::Int),
            FlagValueKey::DoubleValue => {
                map.next_value::<Option<Double>>()?.map(|double| FlagValue::Float(double.0))
            }
        };
        Ok(())
    }

    fn extras(&mut self) -> &mut Extras<'de, FlagValueKey> {
        &mut self.extras
    }
}

/// Reads an object's members into the struct behind the reference.
struct Members<'m, T>(&'m mut T);

impl<'de, T: Object<'de>> DeserializeSeed<'de> for Members<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_option(self)
    }
}

impl<'de, T: Object<'de>> Visitor<'de> for Members<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    /// To protobuf's JSON, null is absent.
    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = Vec::new();
        let mut after = None;
        while let Some(Text(word)) = map.next_key()? {
            match T::Key::VARIANTS.iter().find(|key| key.word() == word) {
                Some(key) if seen.contains(key) => {
                    return Err(A::Error::custom(format_args!("`{}` stands twice", key.word())));
                }
                Some(key) => {
                    seen.push(*key);
                    after = Some(*key);
                    self.0.read(*key, &mut map)?;
                }
                None => {
                    let value = RawJson(map.next_value::<&RawValue>()?.get());
                    self.0.extras().0.push(Extra { after, key: word, value });
                }
            }
        }
        Ok(())
    }
}

/// A struct that is an object of its own.
struct Whole<T>(T);

impl<'de, T: Object<'de> + Default> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut whole = T::default();
        deserializer.deserialize_map(Members(&mut whole))?;
        Ok(Self(whole))
    }
}

/// A flag that has been read.
struct WholeFlag<'a>(FlagConfig<'a>);

impl<'de> Deserialize<'de> for WholeFlag<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let PartialFlag { name, value, extras } = Whole::deserialize(deserializer)?.0;
        let flag_type = name.ok_or_else(|| D::Error::missing_field(FlagKey::FlagType.word()))?;
        let PartialValue { value, extras: value_extras } = value;
        Ok(Self(FlagConfig { flag_type, value, value_extras, extras }))
    }
}

fn object<'de, T: Object<'de> + Default, A: MapAccess<'de>>(
    map: &mut A,
) -> Result<Option<T>, A::Error> {
    Ok(map.next_value::<Option<Whole<T>>>()?.map(|whole| whole.0))
}

fn objects<'de, T: Object<'de> + Default, A: MapAccess<'de>>(
    map: &mut A,
) -> Result<Vec<T>, A::Error> {
    let objects: Option<Vec<Whole<T>>> = map.next_value()?;
    Ok(objects.unwrap_or_default().into_iter().map(|whole| whole.0).collect())
}

fn flags<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Vec<FlagConfig<'de>>>, A::Error> {
    let flags: Option<Vec<WholeFlag<'de>>> = map.next_value()?;
    Ok(flags.map(|flags| flags.into_iter().map(|flag| flag.0).collect()))
}

fn body<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<Body<'de>>, A::Error> {
    let text: Option<Text<'de>> = map.next_value()?;
    Ok(text.map(|text| Body::Base64(Base64(text.0))))
}

fn boolean<'de, A: MapAccess<'de>>(map: &mut A, absent: bool) -> Result<bool, A::Error> {
    Ok(map.next_value::<Option<bool>>()?.unwrap_or(absent))
}

fn number<'de, T: Integer, A: MapAccess<'de>>(map: &mut A) -> Result<Option<T>, A::Error> {
    Ok(map.next_value::<Option<Number<T>>>()?.map(|number| number.0))
}

fn zero_or<'de, T: Integer + Default, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    Ok(number(map)?.unwrap_or_default())
}

fn numbers<'de, T: Integer, A: MapAccess<'de>>(map: &mut A) -> Result<Vec<T>, A::Error> {
    let numbers: Option<Vec<Number<T>>> = map.next_value()?;
    Ok(numbers.unwrap_or_default().into_iter().map(|number| number.0).collect())
}

fn color<'de, A: MapAccess<'de>>(map: &mut A) -> Result<ColorNumber, A::Error> {
    zero_or(map).map(ColorNumber::new)
}

fn open_word<'de, T: FromStr, A: MapAccess<'de>>(
    map: &mut A,
) -> Result<Option<Open<'de, T>>, A::Error> {
    open(map, |word| word.parse().ok())
}

fn device_type(word: &str) -> Option<DeviceType> {
    DeviceType::ALL.iter().find(|known| known.json_word() == word).copied()
}

/// A word of a closed set, or whatever else stands there.
fn open<'de, T, A: MapAccess<'de>>(
    map: &mut A,
    known: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<Open<'de, T>>, A::Error> {
    let value: Option<&RawValue> = map.next_value()?;
    Ok(value.map(|value| {
        let word = serde_json::from_str::<Text<'_>>(value.get()).ok();
        let known = word.and_then(|word| known(&word.0));
        known.map_or(Open::Other(RawJson(value.get())), Open::Known)
    }))
}
