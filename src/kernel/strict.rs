//! Objects and words of JSON as such, where serde would take other forms too.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A struct as an object, and not as a list of its values.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(Members(PhantomData)).map(Self)
    }
}

/// A variant as its name, and not as an object with it.
#[derive(Clone, Copy)]
pub(super) struct Text<T>(pub(super) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name<T>(PhantomData<T>);

        impl<T: DeserializeOwned> Visitor<'_> for Name<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
                T::deserialize(StrDeserializer::new(word))
            }
        }
        deserializer.deserialize_str(Name(PhantomData)).map(Self)
    }
}

/// What is inside objects.
pub(super) fn inside<T>(objects: Vec<Object<T>>) -> Vec<T> {
    objects.into_iter().map(|object| object.0).collect()
}
