//! What others call a chip: device kinds, and libtpu's topologies.

use super::Chip;
use crate::word::same;

impl Chip {
    /// The chip of a JAX device's `device_kind`; `None` when no registered chip
    /// has that kind, which is never guessed at (JAX:
    /// `chip_version_from_device_kind`).
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// const KIND: Option<Chip> = Chip::from_device_kind("TPU v5 lite");
    /// assert_eq!(KIND, Some(Chip::V5e));
    /// assert_eq!(Chip::from_device_kind("TPU v9"), None);
    /// ```
    pub const fn from_device_kind(device_kind: &str) -> Option<Self> {
        let mut chips = Self::ALL;
        while let [chip, rest @ ..] = chips {
            let mut kinds = chip.device_kinds();
            while let [kind, rest @ ..] = kinds {
                if same(kind, device_kind) {
                    return Some(*chip);
                }
                kinds = rest;
            }
            chips = rest;
        }
        None
    }

    /// Its device kinds: first the one that libtpu reports, then its aliases.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// assert_eq!(Chip::V5e.device_kinds(), ["TPU v5 lite", "TPU v5e"]);
    /// ```
    pub const fn device_kinds(self) -> &'static [&'static str] {
        match self {
            Self::V2 => &["TPU v2"],
            Self::V3 => &["TPU v3"],
            Self::V4i => &["TPU v4 lite"],
            Self::V4 => &["TPU v4"],
            Self::V5e => &["TPU v5 lite", "TPU v5e"],
            Self::V5p => &["TPU v5", "TPU v5p"],
            Self::V6e => &["TPU v6 lite", "TPU v6e"],
            Self::Tpu7 => &["TPU7"],
            Self::Tpu7x => &["TPU7x"],
            Self::Tpu8i => &["TPU8i"],
            Self::Tpu8t => &["TPU8t"],
        }
    }

    /// The name of libtpu's topology of one such chip, for
    /// `jax.experimental.topologies.get_topology_desc`; `None` when libtpu
    /// 0.0.52 has none.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// const NAME: Option<&str> = Chip::Tpu7x.topology();
    /// assert_eq!(NAME, Some("tpu7x:1x1x1"));
    /// assert_eq!(Chip::Tpu8t.topology(), None);
    /// ```
    pub const fn topology(self) -> Option<&'static str> {
        match self {
            Self::V2 => Some("v2:1x1"),
            Self::V3 => Some("v3:1x1"),
            Self::V4i => Some("v4 lite:1x1"),
            Self::V4 => Some("v4:1x1x1"),
            Self::V5e => Some("v5e:1x1"),
            Self::V5p => Some("v5p:1x1x1"),
            Self::V6e => Some("v6e:1x1"),
            Self::Tpu7x => Some("tpu7x:1x1x1"),
            Self::Tpu7 | Self::Tpu8i | Self::Tpu8t => None,
        }
    }

    /// The chip of one of libtpu's topologies, as `v5e:4x4` or `tpu7x:2x2x1`;
    /// `None` for what libtpu 0.0.52 doesn't take.
    ///
    /// Like libtpu it takes a chip's device kind in either case, with or without
    /// a leading `TPU `, then `:`, `=` or `_`, then two or three extents, then
    /// `_twisted` or `_untwisted` or nothing. Whether there is a slice of these
    /// extents is not decided, but an extent of 0, at which libtpu ends the
    /// process, is refused.
    ///
    /// Not `const`: it splits a text.
    ///
    /// ```
    /// use mosaic_memspace::Chip;
    /// assert_eq!(Chip::from_topology("v5e:16x16"), Some(Chip::V5e));
    /// assert_eq!(Chip::from_topology("TPU v6 lite:2x2x1"), Some(Chip::V6e));
    /// assert_eq!(Chip::from_topology("v5e:0x1"), None);
    /// assert_eq!(Chip::from_topology("v9:1x1"), None);
    /// ```
    pub fn from_topology(topology: &str) -> Option<Self> {
        let untwisted = ["_twisted", "_untwisted"];
        let wrapped = untwisted.iter().find_map(|ending| topology.strip_suffix(ending));
        let (name, extents) = wrapped.unwrap_or(topology).rsplit_once([':', '=', '_'])?;
        let extents: Vec<_> = extents.split('x').collect();
        let positive = |extent: &&str| {
            let digits = extent.bytes().all(|digit| digit.is_ascii_digit());
            digits && extent.parse::<i32>().is_ok_and(|extent| extent > 0)
        };
        if !(2..=3).contains(&extents.len()) || !extents.iter().all(positive) {
            return None;
        }
        let has_kind = |chip: &&Self| chip.device_kinds().iter().any(|kind| is_kind(name, kind));
        Self::ALL.iter().find(has_kind).copied().filter(|chip| chip.topology().is_some())
    }
}

/// Whether a topology's name is this device kind, written with its `TPU ` or not.
fn is_kind(name: &str, kind: &str) -> bool {
    let short = kind.strip_prefix("TPU ");
    name.eq_ignore_ascii_case(kind) || short.is_some_and(|short| name.eq_ignore_ascii_case(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_kinds_and_topologies_lead_back_to_their_chip() {
        for chip in Chip::ALL {
            for kind in chip.device_kinds() {
                assert_eq!(Chip::from_device_kind(kind), Some(*chip));
            }
            let topology = chip.topology();
            assert_eq!(topology.and_then(Chip::from_topology), topology.map(|_| *chip));
        }
    }

    /// What libtpu 0.0.52 said of each.
    #[test]
    fn topologies_are_taken_as_libtpu_takes_them() {
        let taken = [
            ("v5e=1x1", Chip::V5e),
            ("v5e_1x1", Chip::V5e),
            ("v5e:02x2", Chip::V5e),
            ("v5e:1x1x2", Chip::V5e),
            ("v5:1x1x1", Chip::V5p),
            ("v5 lite:1x1", Chip::V5e),
            ("V4:1x1x1", Chip::V4),
            ("v4 Lite:1x1", Chip::V4i),
            ("tpu v4:1x1", Chip::V4),
            ("TPU7x:1x1x1", Chip::Tpu7x),
            ("v4:4x4x8_untwisted", Chip::V4),
        ];
        for (topology, chip) in taken {
            assert_eq!(Chip::from_topology(topology), Some(chip), "{topology}");
        }
        for topology in [
            "v5e",
            "v5e:1",
            "v5e:x",
            "v5e:1xx1",
            "v5e:1X1",
            "v5e:1x1x1x1",
            "v5e:+1x1",
            "v5e:0x1",
            "v5e:99999999999999x1",
            " v5e:1x1",
            "TPU  v5e:1x1",
            "TPUv5e:1x1",
            "tpuv5e:1x1",
            "v4i:1x1",
            "v4_lite:1x1",
            "v5litepod:1x1",
            "7x:1x1x1",
            "tpu7:1x1x1",
            "TPU8i:1x1",
            "",
        ] {
            assert_eq!(Chip::from_topology(topology), None, "{topology}");
        }
    }
}
