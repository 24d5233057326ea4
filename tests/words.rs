//! Every word both ways, and what is no word.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use mosaic_memspace::custom_call::{
    AutoAssign, Color, DeviceType, DimensionSemantics, InputColor, OptLevel, SideEffects, Tiling,
};
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::rules::{AccessOp, AccessShape, DmaMode};
use mosaic_memspace::{
    CallSite, Chip, CoreMemorySpace, CoreType, CoreTypeAttr, Dtype, MemorySpace, MemorySpaceAttr,
    MemrefSpace, PlainSpace, Resolved, TpuSpace,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// Each of the types that are read from a word, with all of its words.
macro_rules! for_each_type {
    ($check:ident) => {
        $check::<CoreType>(CoreType::ALL);
        $check::<PlainSpace>(PlainSpace::ALL);
        $check::<TpuSpace>(TpuSpace::ALL);
        $check::<CoreMemorySpace>(CoreMemorySpace::ALL);
        $check::<MemorySpace>(&written_spaces());
        $check::<MemrefSpace>(MemrefSpace::ALL);
        $check::<Resolved>(&resolved_spaces());
        $check::<MemorySpaceAttr>(&MemorySpaceAttr::all().collect::<Vec<_>>());
        $check::<CoreTypeAttr>(&CoreTypeAttr::all().collect::<Vec<_>>());
        $check::<Color>(Color::ALL);
        $check::<DimensionSemantics>(DimensionSemantics::ALL);
        $check::<SideEffects>(SideEffects::ALL);
        $check::<Tiling>(Tiling::ALL);
        $check::<OptLevel>(OptLevel::ALL);
        $check::<DeviceType>(DeviceType::ALL);
        $check::<AutoAssign>(AutoAssign::ALL);
        $check::<Code>(Code::ALL);
        $check::<Chip>(Chip::ALL);
        $check::<Dtype>(Dtype::ALL);
        $check::<AccessOp>(AccessOp::ALL);
        $check::<AccessShape>(AccessShape::ALL);
        $check::<DmaMode>(DmaMode::ALL);
    };
}

fn written_spaces() -> Vec<MemorySpace> {
    let accumulators = (0..=u8::MAX).map(MemorySpace::Acc);
    MemorySpace::ALL.iter().copied().chain(accumulators).collect()
}

fn resolved_spaces() -> Vec<Resolved> {
    let accumulators = (0..=u8::MAX).map(Resolved::Acc);
    MemrefSpace::ALL.iter().copied().map(Resolved::Memref).chain(accumulators).collect()
}

trait Word: Copy + Ord + Debug + Display + FromStr<Err: Fault + PartialEq + Debug> {}
impl<T: Copy + Ord + Debug + Display + FromStr<Err: Fault + PartialEq + Debug>> Word for T {}

#[test]
fn every_word_is_read_back_as_what_it_names() {
    fn check<T: Word>(all: &[T]) {
        for value in all {
            assert_eq!(value.to_string().parse(), Ok(*value));
        }
        let distinct: BTreeSet<_> = all.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), all.len());
    }
    for_each_type!(check);
}

#[test]
fn a_changed_word_is_refused_or_is_another_word() {
    fn check<T: Word>(all: &[T]) {
        for value in all {
            for changed in changes(&value.to_string()) {
                assert_is_word_or_refused::<T>(&changed);
            }
        }
    }
    for_each_type!(check);
}

/// Every prefix, every letter taken out, doubled, replaced or set in upper case.
fn changes(word: &str) -> Vec<String> {
    let mut changes = vec![word.to_uppercase(), format!(" {word}"), format!("{word} ")];
    for i in 0..word.len() {
        let (before, after) = word.split_at(i);
        changes.push(before.to_owned());
        changes.push(format!("{before}{}", &after[1..]));
        changes.push(format!("{before}{}{after}", &after[..1]));
        for other in ["a", "m", "_", "@", "0", "9", "<", ",", " ", "\0", "\u{0430}", "\u{ff56}"] {
            changes.push(format!("{before}{other}{}", &after[1..]));
        }
        changes.push(format!("{before}{}{}", after[..1].to_uppercase(), &after[1..]));
    }
    changes
}

/// A text is read as the value that prints it, or refused with the text kept.
fn assert_is_word_or_refused<T: Word>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let blanks = [' ', '\t', '\n', '\r'];
            let printed = value.to_string();
            assert_eq!(printed.replace(blanks, ""), text.replace(blanks, ""), "{value:?}");
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() < 4000 && !message.contains('\0'), "{message}");
        }
    }
}

#[test]
fn nonsense_is_refused() {
    fn check<T: Word>(_: &[T]) {
        let megabyte = "<".repeat(1 << 20);
        for text in ["", " ", "\n", "\0", "ＶＭＥＭ", "vмem", "<>", "@", "#tpu", &megabyte] {
            assert!(text.parse::<T>().is_err_and(|error| !error.help().is_empty()), "{text:?}");
            assert_is_word_or_refused::<T>(text);
        }
    }
    for_each_type!(check);
}

proptest! {
    #[test]
    fn any_text_is_a_word_or_refused(text in "\\PC{0,40}") {
        assert_is_word_or_refused::<CoreType>(&text);
        assert_is_word_or_refused::<MemorySpace>(&text);
        assert_is_word_or_refused::<MemorySpaceAttr>(&format!("#tpu.memory_space<{text}>"));
        assert_is_word_or_refused::<CoreTypeAttr>(&format!("#tpu.core_type<{text}>"));
    }
}

#[test]
fn accumulators_are_written_without_sign_or_leading_zero() {
    for text in ["acc()", "acc(00)", "acc(+1)", "acc(-1)", "acc(256)", "acc( 1)", "acc(1", "acc"] {
        assert!(text.parse::<MemorySpace>().is_err(), "{text}");
    }
}

#[test]
fn an_unknown_core_type_is_named_in_the_words_that_people_search_for() {
    let error = "CoreType.SC_TILE".parse::<CoreType>().unwrap_err();
    assert!(error.to_string().starts_with("Unsupported core type: CoreType.SC_TILE"));
    assert_eq!(error.word(), "CoreType.SC_TILE");
    assert_eq!(error.code(), Code::UnknownCoreType);
}

#[test]
fn attributes_may_hold_blanks_and_newlines() {
    let tagged = "#tpu.memory_space<vmem, sc_vector_subcore>".parse::<MemorySpaceAttr>();
    for text in [
        "#tpu.memory_space<vmem,sc_vector_subcore>",
        "#tpu.memory_space< vmem , sc_vector_subcore >",
        "#tpu.memory_space<\n  vmem,\r\n\tsc_vector_subcore\n>",
    ] {
        assert_eq!(text.parse(), tagged);
    }
    for text in [
        "#tpu.memory_space<vmem,>",
        "#tpu.memory_space<,vmem>",
        "#tpu.memory_space<vmem, sc_vector_subcore,>",
        "#tpu.memory_space<VMEM>",
        "#tpu.memory_space<\u{a0}vmem>",
        "#tpu.memory_space<vm em>",
        "#tpu.memory_space<vmem_shared, sc_vector_subcore>",
        "#tpu.memory_space<default>",
    ] {
        assert!(text.parse::<MemorySpaceAttr>().is_err(), "{text}");
    }
}

#[test]
fn numbers_go_both_ways() {
    for core_type in CoreType::ALL {
        assert_eq!(CoreType::from_number(core_type.number()), Some(*core_type));
    }
    let numbers: BTreeSet<u32> = (0..1000).chain([u32::MAX - 1, u32::MAX]).collect();
    let known: Vec<_> = numbers.iter().filter_map(|n| MemorySpaceAttr::from_number(*n)).collect();
    assert_eq!(known.len(), 8);
    for attribute in known {
        assert_eq!(MemorySpaceAttr::from_number(attribute.number()), Some(attribute));
    }
    assert_eq!(numbers.iter().filter_map(|n| CoreType::from_number(*n)).count(), 3);
}

#[test]
fn an_attribute_says_the_words_of_its_space() {
    for space in MemrefSpace::ALL {
        if let Ok(attribute) = MemorySpaceAttr::new(*space) {
            let words = space.to_string().replace('@', ", ");
            assert_eq!(attribute.as_str(), format!("#tpu.memory_space<{words}>"));
        }
    }
    for core_type in CoreType::ALL {
        let attribute = CoreTypeAttr::new(*core_type);
        assert_eq!(attribute.as_str(), format!("#tpu.core_type<{core_type}>"));
    }
}

#[test]
fn a_call_site_resolves_what_it_takes_for_written() {
    for site in CallSite::ALL {
        for core_type in CoreType::ALL {
            let default = mosaic_memspace::resolve(site.default_space(*core_type), *core_type);
            assert_eq!(site.resolve(None, *core_type), default);
            for space in written_spaces() {
                let resolved = mosaic_memspace::resolve(space, *core_type);
                assert_eq!(site.resolve(Some(space), *core_type), resolved);
            }
        }
    }
}

#[test]
fn resolving_again_changes_nothing() {
    for space in written_spaces() {
        for core_type in CoreType::ALL {
            let resolved = mosaic_memspace::resolve(space, *core_type);
            assert_eq!(mosaic_memspace::resolve(resolved.written(), *core_type), resolved);
        }
    }
}

#[test]
fn no_tagged_space_exists_that_its_mesh_does_not_own() {
    for space in TpuSpace::ALL {
        for core_type in CoreType::ALL {
            let tagged = CoreMemorySpace::new(*space, *core_type);
            assert_eq!(format!("{space}@{core_type}").parse().ok(), tagged);
            if let Some(tagged) = tagged {
                assert_eq!((tagged.space(), tagged.core_type()), (*space, *core_type));
            }
        }
    }
}

#[cfg(feature = "serde")]
#[test]
fn serde_writes_and_reads_the_words_themselves() {
    fn check<T: Word + serde::Serialize + serde::de::DeserializeOwned>(all: &[T]) {
        for value in all {
            let json = serde_json::to_string(value).unwrap();
            assert_eq!(json, format!("{:?}", value.to_string()));
            assert_eq!(serde_json::from_str::<T>(&json).unwrap(), *value);
        }
        let error = serde_json::from_str::<T>("\"nonsense\"").err().unwrap().to_string();
        assert!(error.contains("nonsense"), "{error}");
        assert!(serde_json::from_str::<T>("7").is_err());
    }
    for_each_type!(check);
}

#[test]
fn a_resolved_space_is_a_memref_or_an_accumulator() {
    for space in MemrefSpace::ALL {
        assert_eq!(Resolved::Memref(*space).memref(), Some(*space));
        assert_eq!(Resolved::Memref(*space).written(), space.written());
    }
}

#[test]
fn a_word_that_is_nearly_one_is_guessed() {
    let help = "VMEM".parse::<MemorySpace>().unwrap_err().help();
    assert!(help.starts_with("did you mean vmem? "), "{help}");
    let help = "TC".parse::<CoreType>().unwrap_err().help();
    assert!(help.starts_with("did you mean tc? "), "{help}");
    let help = "quux".parse::<MemorySpace>().unwrap_err().help();
    assert!(!help.contains("did you mean"), "{help}");
    #[cfg(feature = "read")]
    {
        let help = "vmemm".parse::<MemorySpace>().unwrap_err().help();
        assert!(help.starts_with("did you mean vmem? "), "{help}");
        let help = "VmemOverflw".parse::<Code>().unwrap_err().help();
        assert!(help.starts_with("did you mean VmemOverflow? "), "{help}");
    }
}

/// Each space as each wider word: what is written for it stays the same.
#[test]
fn a_space_is_a_wider_word() {
    for space in TpuSpace::ALL {
        let word = space.as_str();
        assert_eq!(MemorySpace::from(*space).to_string(), word);
        assert_eq!(MemrefSpace::from(*space).to_string(), word);
        assert_eq!(Resolved::from(*space).to_string(), word);
    }
    for space in PlainSpace::ALL {
        assert_eq!(MemorySpace::from(*space).to_string(), space.as_str());
    }
    for space in CoreMemorySpace::ALL {
        assert_eq!(MemorySpace::from(*space).to_string(), space.to_string());
        assert_eq!(MemrefSpace::from(*space).to_string(), space.to_string());
    }
    for space in MemrefSpace::ALL {
        assert_eq!(Resolved::from(*space).to_string(), space.to_string());
        assert_eq!(MemorySpace::from(*space).to_string(), space.to_string());
        assert_eq!(MemorySpaceAttr::try_from(*space), MemorySpaceAttr::new(*space));
    }
    for space in resolved_spaces() {
        assert_eq!(MemorySpace::from(space).to_string(), space.to_string());
    }
    for core_type in CoreType::ALL {
        assert_eq!(CoreTypeAttr::from(*core_type), CoreTypeAttr::new(*core_type));
    }
    for color in Color::ALL {
        match InputColor::try_from(*color) {
            Ok(input) => assert_eq!(Color::from(input), *color),
            Err(fault) => assert_eq!(fault.color(), *color),
        }
    }
}

#[test]
fn a_list_of_attributes_has_each() {
    assert!(CoreTypeAttr::all().eq(CoreType::ALL.iter().copied().map(CoreTypeAttr::new)));
    let taggable = MemrefSpace::ALL.iter().filter_map(|space| MemorySpaceAttr::new(*space).ok());
    assert!(MemorySpaceAttr::all().eq(taggable));
}
