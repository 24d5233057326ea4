//! What XLA is handed: colors, aliases, parameters, collective ids.

use crate::line::{Answer, Word};
use mosaic_memspace::custom_call::{
    self, Alias, AutoAssign, Bound, CollectiveId, Color, DeviceType, DimensionSemantics, IdCall,
    IdOptions, IdPolicy, InputColor, IterationSpace, ModuleFunction, Placed, Tiling,
    jax_active_core_count, jax_alias_colors, jax_color,
};
use mosaic_memspace::error::{Code, Fault};
use mosaic_memspace::{CoreType, MemorySpace};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Annotated {
    space: Option<Word<MemorySpace>>,
    core: Word<CoreType>,
}

#[derive(Serialize)]
pub(crate) struct Colored {
    name: Word<Color>,
    color: u8,
}

pub(crate) fn color(value: Annotated) -> Result<Option<Colored>, Code> {
    let color = jax_color(value.space.map(|space| space.0), value.core.0);
    let color = color.map_err(|fault| fault.code())?;
    Ok(color.map(|color| Colored { name: Word(color), color: color.number() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aliased {
    core: Word<CoreType>,
    inputs: Vec<Option<Word<MemorySpace>>>,
    outputs: Vec<Option<Word<MemorySpace>>>,
    aliases: Vec<(usize, usize)>,
}

#[derive(Serialize)]
pub(crate) struct SideColors {
    inputs: Option<Vec<Option<Word<Color>>>>,
    outputs: Option<Vec<Option<Word<Color>>>>,
}

pub(crate) fn alias_memory_spaces(value: Aliased) -> Result<SideColors, Code> {
    let placed = |values: &[Option<Word<MemorySpace>>]| -> Vec<_> {
        values.iter().map(|space| Placed::on_value(space.map(|space| space.0))).collect()
    };
    let alias = |&(input, output): &_| Alias { input, output };
    let aliases: Vec<_> = value.aliases.iter().map(alias).collect();
    let (inputs, outputs) = (placed(&value.inputs), placed(&value.outputs));
    let colors = jax_alias_colors(&inputs, &outputs, &aliases, value.core.0);
    let colors = colors.map_err(|fault| fault.code())?;
    let input = |color: Option<InputColor>| color.map(|color| Word(color.color()));
    Ok(SideColors {
        inputs: colors.inputs.map(|colors| colors.into_iter().map(input).collect()),
        outputs: colors
            .outputs
            .map(|colors| colors.into_iter().map(|color| color.map(Word)).collect()),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TilingOf {
    core: Word<CoreType>,
    use_tc_tiling_on_sc: Option<bool>,
}

pub(crate) fn tiling(params: TilingOf) -> Result<Option<Word<Tiling>>, Code> {
    let tiling = Tiling::resolve(params.use_tc_tiling_on_sc, params.core.0);
    tiling.map(|tiling| tiling.map(Word)).map_err(|fault| fault.code())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Calls {
    mode: Word<AutoAssign>,
    calls: Vec<CallOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallOf {
    module: String,
    skip_device_barrier: bool,
    collective_id: Option<i64>,
    has_custom_barrier: bool,
    allow_collective_id_without_custom_barrier: bool,
    tag: Option<String>,
}

impl CallOf {
    fn call(&self) -> Result<IdCall<'_>, Code> {
        let collective_id = self.collective_id.map(CollectiveId::new).transpose();
        Ok(IdCall {
            module: self.module.as_bytes(),
            tag: self.tag.as_deref(),
            skip_device_barrier: self.skip_device_barrier,
            collective_id: collective_id.map_err(|fault| fault.code())?,
            has_custom_barrier: self.has_custom_barrier,
            allow_collective_id_without_custom_barrier: self
                .allow_collective_id_without_custom_barrier,
        })
    }
}

pub(crate) fn collective_ids(module: Calls) -> Result<Vec<Answer<Option<u32>>>, Code> {
    ids(&module, IdPolicy::FirstFree)
}

pub(crate) fn collective_ids_from_base(module: Calls) -> Result<Vec<Answer<Option<u32>>>, Code> {
    ids(&module, IdPolicy::FromBase)
}

fn ids(module: &Calls, policy: IdPolicy) -> Result<Vec<Answer<Option<u32>>>, Code> {
    let calls: Vec<IdCall> = module.calls.iter().map(CallOf::call).collect::<Result<_, _>>()?;
    let options = IdOptions::new(policy).auto_assign(module.mode.0);
    let answers = custom_call::collective_ids(options, &calls).into_iter().map(|id| {
        let id = id.map_err(|fault| fault.code())?;
        Ok(id.map(CollectiveId::get))
    });
    Ok(answers.map(Answer::from).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Module {
    functions: Vec<FunctionOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FunctionOf {
    core_type: Option<Word<CoreType>>,
    bounds: Option<Vec<i64>>,
    semantics: Option<Vec<Word<DimensionSemantics>>>,
}

pub(crate) fn device_type(module: Module) -> Result<Option<Word<DeviceType>>, Code> {
    module.with_functions(|functions| {
        let device_type = custom_call::device_type(functions);
        device_type.map(|word| word.map(Word)).map_err(|fault| fault.code())
    })
}

pub(crate) fn active_core_count(module: Module) -> Result<Option<i64>, Code> {
    module
        .with_functions(|functions| jax_active_core_count(functions).map_err(|fault| fault.code()))
}

impl Module {
    fn with_functions<T>(&self, answer: impl FnOnce(&[ModuleFunction<'_>]) -> T) -> T {
        let spaces: Vec<_> = self.functions.iter().map(FunctionOf::iteration_space).collect();
        let functions = self.functions.iter().zip(&spaces).map(|(function, space)| {
            let iteration_space =
                space.as_ref().map(|(bounds, semantics)| IterationSpace { bounds, semantics });
            ModuleFunction { core_type: function.core_type.map(|word| word.0), iteration_space }
        });
        answer(&functions.collect::<Vec<_>>())
    }
}

impl FunctionOf {
    fn iteration_space(&self) -> Option<(Vec<Bound>, Vec<DimensionSemantics>)> {
        let bounds = self.bounds.as_ref()?.iter().copied().map(Bound::from_mlir);
        let semantics = self.semantics.as_ref()?.iter().map(|word| word.0);
        Some((bounds.collect(), semantics.collect()))
    }
}
