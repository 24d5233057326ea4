//! Whether what is stored in scratch covers what is loaded.

/// An index: a value, or one that is the same wherever its number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Known(i64),
    Number(u32),
}

/// What a store left in registers.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// The number of the ref, or of the view, that it wrote to.
    pub(super) view: u32,
    pub(super) places: Vec<Place>,
    pub(super) shape: Vec<i64>,
}

/// Whether a part is whole registers: rows by eights and lanes by 128, or elements by
/// 1024 in rank 1.
pub(super) fn is_whole(part: &Stored) -> bool {
    let multiple = |value: i64, of: i64| value.checked_rem(of) == Some(0);
    let at = |place: Option<&Place>, of: i64| match place {
        Some(Place::Known(at)) => multiple(*at, of),
        Some(Place::Number(_)) | None => true,
    };
    let mut places = part.places.iter().rev();
    match *part.shape.as_slice() {
        [] => false,
        [elements] => multiple(elements, 1024),
        [.., rows, lanes] => {
            multiple(lanes, 128)
                && multiple(rows, 8)
                && at(places.next(), 128)
                && at(places.next(), 8)
        }
    }
}

pub(super) fn volume(shape: &[i64]) -> i128 {
    shape.iter().fold(1, |volume: i128, extent| volume.saturating_mul((*extent).into()))
}

/// How many elements of a part a store has left in registers; `None` where it is not told
/// that it is the same place.
pub(super) fn overlap(stored: &Stored, part: &Stored) -> Option<i128> {
    if stored.view != part.view || stored.shape.len() != part.shape.len() {
        return None;
    }
    let mut elements = 1_i128;
    for (dimension, own) in part.shape.iter().enumerate() {
        let length = stored.shape.get(dimension)?;
        let common = match (stored.places.get(dimension), part.places.get(dimension)) {
            (Some(Place::Known(first)), Some(Place::Known(second))) => {
                let end = first.saturating_add(*length).min(second.saturating_add(*own));
                end.saturating_sub(*first.max(second)).max(0)
            }
            (Some(Place::Number(first)), Some(Place::Number(second))) if first == second => {
                *length.min(own)
            }
            (None, None) => *length.min(own),
            (_, _) => return None,
        };
        elements = elements.saturating_mul(common.into());
    }
    Some(elements)
}

/// Whether two parts of the same view have no element in common for certain.
pub(super) fn are_apart(one: &Stored, other: &Stored) -> bool {
    let dimensions = one.places.iter().zip(&other.places).enumerate();
    dimensions.into_iter().any(|(dimension, places)| {
        let (Place::Known(first), Place::Known(second)) = places else { return false };
        let length = |part: &Stored| part.shape.get(dimension).copied().unwrap_or(i64::MAX);
        first.saturating_add(length(one)) <= *second
            || second.saturating_add(length(other)) <= *first
    })
}
