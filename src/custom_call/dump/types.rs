//! The types of a call's operands and results, and which of them share a buffer.

use crate::custom_call::colors::alias::Alias;
use crate::custom_call::value::DumpedType;
use crate::dtype::Dtype;

/// The types of operands and of results; `None` where one is not told.
pub(super) type Types = [Vec<Option<DumpedType>>; 2];

/// Those of StableHLO, `(tensor<4xf32>) -> tensor<4xf32>`, and perhaps more behind it.
pub(super) fn of_stablehlo(text: &str) -> Types {
    let Some((operands, rest)) = group(text, '(', ')') else { return Types::default() };
    let rest = rest.trim_start().strip_prefix("->").unwrap_or_default().trim_start();
    let results = group(rest, '(', ')').map_or(rest, |(results, _)| results);
    [operands, results].map(|types| split(types).map(tensor).collect())
}

/// Those of HLO: the text of the result's type, and `operand_layout_constraints={…}`, in
/// which XLA repeats the types of the operands.
pub(super) fn of_hlo(results: &str, constraints: &str) -> Types {
    let results = results.trim();
    let results = group(results, '(', ')').map_or(results, |(results, _)| results);
    let operands = group(constraints, '{', '}').map_or("", |(operands, _)| operands);
    [operands, results].map(|types| split(types).map(array).collect())
}

/// `[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 8, …>]`,
/// as the text after the attribute's name has it.
pub(super) fn stablehlo_aliases(text: &str) -> Vec<Alias> {
    let Some((list, _)) = text.find('[').and_then(|at| group(text.get(at..)?, '[', ']')) else {
        return Vec::new();
    };
    let number = |alias: &str, key: &str| {
        let value = alias.split_once(key)?.1.trim_start().strip_prefix('=')?;
        first_number(value)
    };
    let aliases = list.split("output_operand_alias<").skip(1);
    let aliases = aliases.filter_map(|alias| {
        let input = number(alias, "operand_index")?.ok()?;
        let output = number(alias, "output_tuple_indices")?.unwrap_or(0);
        Some(Alias { input, output })
    });
    aliases.collect()
}

/// `{{0}: (8, {}), {1}: (12, {})}`, as the text after `output_to_operand_aliasing=` has it.
pub(super) fn hlo_aliases(text: &str) -> Vec<Alias> {
    let Some((list, _)) = group(text.trim_start(), '{', '}') else { return Vec::new() };
    let aliases = split(list).filter_map(|alias| {
        let (output, input) = alias.split_once(':')?;
        let output = first_number(output)?.unwrap_or(0);
        Some(Alias { input: first_number(input)?.ok()?, output })
    });
    aliases.collect()
}

/// The first number, as of `[0]` or `{}`: what is not there, or in brackets that hold
/// nothing, is an error inside.
fn first_number(text: &str) -> Option<Result<usize, ()>> {
    let text = text.trim_start_matches([' ', '[', '{', '(']);
    let digits = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    match text.get(..digits)? {
        "" => Some(Err(())),
        digits => digits.parse().ok().map(Ok),
    }
}

/// What stands between the brackets that the text begins with, and what follows them.
fn group(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    let inside = text.strip_prefix(open)?;
    let mut depth = 1_usize;
    for (at, character) in inside.char_indices() {
        if character == open {
            depth = depth.saturating_add(1);
        } else if character == close {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            let (inside, rest) = inside.split_at_checked(at)?;
            return Some((inside, rest.strip_prefix(close).unwrap_or(rest)));
        }
    }
    None
}

/// Types with commas between them.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |character| {
        match character {
            '<' | '(' | '[' | '{' => depth = depth.saturating_add(1),
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// `tensor<8x128xf32>`.
fn tensor(text: &str) -> Option<DumpedType> {
    let inside = text.strip_prefix("tensor<")?;
    let inside = inside.split_once('>').map_or(inside, |(inside, _)| inside);
    let inside = inside.split(',').next().unwrap_or(inside);
    // The element types with an x in them are none of numbers.
    let (shape, element) = inside.rsplit_once('x').unwrap_or(("", inside));
    let dtype = Dtype::ALL.iter().find(|dtype| dtype.as_stablehlo() == element.trim());
    Some(DumpedType { shape: extents(shape, 'x')?, dtype: dtype.copied() })
}

/// `f32[8,128]{1,0:T(8,128)}`, perhaps after a comment, `/*index=5*/`.
fn array(text: &str) -> Option<DumpedType> {
    let text = text.rsplit("*/").next().unwrap_or(text).trim_start();
    let (element, rest) = text.split_once('[')?;
    let (shape, _) = rest.split_once(']')?;
    let dtype = Dtype::ALL.iter().find(|dtype| is_in_hlo(**dtype, element));
    Some(DumpedType { shape: extents(shape, ',')?, dtype: dtype.copied() })
}

/// HLO writes small letters, `s` and `u` before integers, and `pred` for booleans.
fn is_in_hlo(dtype: Dtype, element: &str) -> bool {
    let stablehlo = dtype.as_stablehlo();
    if dtype == Dtype::Bool {
        return element == "pred";
    }
    match (stablehlo.strip_prefix("ui"), stablehlo.strip_prefix('i')) {
        (Some(bits), _) => element.strip_prefix('u') == Some(bits),
        (None, Some(bits)) => element.strip_prefix('s') == Some(bits),
        (None, None) => element.eq_ignore_ascii_case(stablehlo),
    }
}

/// The numbers of a shape; `None` where one is none, as `?` or `<=8`.
fn extents(shape: &str, separator: char) -> Option<Vec<u64>> {
    let extents = shape.split(separator).map(str::trim).filter(|extent| !extent.is_empty());
    extents.map(|extent| extent.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(types: Types) -> [Vec<String>; 2] {
        let shown = |of: Option<DumpedType>| match of {
            Some(of) => format!("{:?} {:?}", of.dtype, of.shape),
            None => "?".to_owned(),
        };
        types.map(|types| types.into_iter().map(shown).collect())
    }

    #[test]
    fn types_are_read_in_both_dialects() {
        let stablehlo = "(tensor<4x8xf32>, tensor<ui8>, tensor<?x2xi1>, !stablehlo.token) -> \
                         (tensor<2x3xi32, #stablehlo.bounds<?, 3>>, tensor<4xcomplex<f32>>)";
        let [operands, results] = shown(of_stablehlo(stablehlo));
        assert_eq!(operands, ["Some(Float32) [4, 8]", "Some(Uint8) []", "?", "?"]);
        assert_eq!(results, ["Some(Int32) [2, 3]", "?"]);
        let (result, constraints) = (
            "(bf16[2,4]{1,0:T(8,128)(2,1)S(1)}, /*index=1*/pred[])",
            "{s32[1024]{0:T(1024)}, u4[8,16]{1,0}, f8e4m3fn[2]{0}, token[], f32[<=8]}, metadata={}",
        );
        let [operands, results] = shown(of_hlo(result, constraints));
        let first = ["Some(Int32) [1024]", "Some(Uint4) [8, 16]", "Some(Float8E4m3fn) [2]"];
        assert_eq!(operands, [&first[..], &["None []", "?"]].concat());
        assert_eq!(results, ["Some(Bfloat16) [2, 4]", "Some(Bool) []"]);
        assert_eq!(
            shown(of_hlo(" f32[4]{0} ", "{}")),
            [vec![], vec!["Some(Float32) [4]".to_owned()]]
        );
    }

    #[test]
    fn aliases_are_read_in_both_dialects() {
        let stablehlo = " = [#stablehlo.output_operand_alias<output_tuple_indices = [1], \
                         operand_index = 8, operand_tuple_indices = []>, \
                         #stablehlo.output_operand_alias<output_tuple_indices = [], \
                         operand_index = 2, operand_tuple_indices = []>], x = [3]";
        let alias = |input, output| Alias { input, output };
        assert_eq!(stablehlo_aliases(stablehlo), [alias(8, 1), alias(2, 0)]);
        assert_eq!(stablehlo_aliases(" = []"), []);
        assert_eq!(
            hlo_aliases("{{1}: (8, {}), {0}: (2, {}, must-alias)}, a={}"),
            [alias(8, 1), alias(2, 0)]
        );
        assert_eq!(hlo_aliases("{{}: (3, {})}"), [alias(3, 0)]);
        assert_eq!(hlo_aliases("{{0}: (, {}), x"), []);
    }
}
