//! The backend config's JSON, read: what JAX writes, and what XLA makes of it.

use super::BackendConfig;
use super::rows::{Reader, joined};
use crate::error::{Code, Fault};
use serde::de::DeserializeSeed;
use serde_path_to_error::{Path, Segment};

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
        let read = Reader::<Self>(&mut config).deserialize(tracked);
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
            Segment::Map { key } => place = joined(&place, key),
            Segment::Seq { index } => place.extend(["[", &index.to_string(), "]"]),
            // There are no enums; what is unknown is inside of a key.
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    if place.is_empty() { ".".to_owned() } else { place }
}
