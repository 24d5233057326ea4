//! Writes modules in MLIR's bytecode, in every version of the format.

/// The bytes of a number.
pub(crate) fn varint(value: u64) -> Vec<u8> {
    for more in 0..8_u32 {
        if value < 1 << (7 * (more + 1)) {
            let shifted = (value << 1 | 1) << more;
            return shifted.to_le_bytes()[..=more as usize].to_vec();
        }
    }
    let mut bytes = vec![0];
    bytes.extend(value.to_le_bytes());
    bytes
}

/// The bytes of a number with a sign.
pub(crate) fn svarint(value: i64) -> Vec<u8> {
    varint((value << 1 ^ value >> 63).cast_unsigned())
}

/// The bytes of a number and a flag.
pub(crate) fn flagged(value: u64, flag: bool) -> Vec<u8> {
    varint(value << 1 | u64::from(flag))
}

fn number(value: usize) -> Vec<u8> {
    varint(value as u64)
}

/// Several pieces, one after the other.
pub(crate) fn join(pieces: &[Vec<u8>]) -> Vec<u8> {
    pieces.concat()
}

/// A section without alignment.
pub(crate) fn section(id: u8, data: &[u8]) -> Vec<u8> {
    join(&[vec![id], number(data.len()), data.to_vec()])
}

/// A module to be written. The first string names the builtin dialect, the first
/// operation name is the module's, the first attribute an unknown location.
#[derive(Clone)]
pub(crate) struct Module {
    pub(crate) version: u8,
    pub(crate) strings: Vec<Vec<u8>>,
    /// A string each.
    pub(crate) dialects: Vec<usize>,
    /// Dialect, string, whether the writer knew it.
    pub(crate) names: Vec<(usize, usize, bool)>,
    pub(crate) attributes: Vec<Entry>,
    pub(crate) types: Vec<Entry>,
    pub(crate) properties: Vec<Vec<u8>>,
    pub(crate) outermost: Op,
    /// Whether every dialect has a version.
    pub(crate) dialect_versions: bool,
    /// Resources' data and offsets.
    pub(crate) resources: Option<(Vec<u8>, Vec<u8>)>,
}

/// An attribute or a type: its dialect, its bytes, whether they are the dialect's own
/// encoding.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) dialect: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) own: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Op {
    pub(crate) name: usize,
    pub(crate) attributes: Option<usize>,
    pub(crate) properties: Option<usize>,
    pub(crate) operands: Vec<usize>,
    pub(crate) results: Vec<usize>,
    pub(crate) successors: Vec<usize>,
    /// Orders of the use list of its one result.
    pub(crate) uses: Option<Vec<usize>>,
    pub(crate) regions: Vec<Vec<Block>>,
    pub(crate) isolated: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Block {
    /// A type each.
    pub(crate) arguments: Vec<usize>,
    pub(crate) operations: Vec<Op>,
}

/// A module with nothing in it.
pub(crate) fn empty(version: u8) -> Module {
    Module {
        version,
        strings: vec![b"builtin".to_vec(), b"module".to_vec()],
        dialects: vec![0],
        names: vec![(0, 1, true)],
        attributes: vec![Entry { dialect: 0, bytes: varint(15), own: true }],
        types: Vec::new(),
        properties: Vec::new(),
        outermost: Op { regions: vec![vec![Block::default()]], isolated: true, ..Op::default() },
        dialect_versions: false,
        resources: None,
    }
}

impl Module {
    /// The number of a string, added if it is new.
    pub(crate) fn string(&mut self, text: &str) -> usize {
        let known = self.strings.iter().position(|string| string == text.as_bytes());
        known.unwrap_or_else(|| {
            self.strings.push(text.as_bytes().to_vec());
            self.strings.len() - 1
        })
    }

    pub(crate) fn dialect(&mut self, name: &str) -> usize {
        let name = self.string(name);
        let known = self.dialects.iter().position(|dialect| *dialect == name);
        known.unwrap_or_else(|| {
            self.dialects.push(name);
            self.dialects.len() - 1
        })
    }

    /// The number of an operation name.
    pub(crate) fn name(&mut self, dialect: &str, name: &str) -> usize {
        let (dialect, name) = (self.dialect(dialect), self.string(name));
        let known = self.names.iter().position(|own| (own.0, own.1) == (dialect, name));
        known.unwrap_or_else(|| {
            self.names.push((dialect, name, false));
            self.names.len() - 1
        })
    }

    /// Adds an attribute in the builtin dialect's encoding.
    pub(crate) fn attribute(&mut self, bytes: Vec<u8>) -> usize {
        self.attributes.push(Entry { dialect: 0, bytes, own: true });
        self.attributes.len() - 1
    }

    /// Adds a type in the builtin dialect's encoding.
    pub(crate) fn r#type(&mut self, bytes: Vec<u8>) -> usize {
        self.types.push(Entry { dialect: 0, bytes, own: true });
        self.types.len() - 1
    }

    /// Adds an attribute as its text.
    pub(crate) fn text_attribute(&mut self, dialect: &str, text: &str) -> usize {
        let dialect = self.dialect(dialect);
        self.attributes.push(Entry { dialect, bytes: terminated(text), own: false });
        self.attributes.len() - 1
    }

    /// Adds a type as its text.
    pub(crate) fn text_type(&mut self, dialect: &str, text: &str) -> usize {
        let dialect = self.dialect(dialect);
        self.types.push(Entry { dialect, bytes: terminated(text), own: false });
        self.types.len() - 1
    }

    /// Adds a string attribute.
    pub(crate) fn string_attribute(&mut self, text: &str) -> usize {
        let string = self.string(text);
        self.attribute(join(&[varint(2), number(string)]))
    }

    /// Adds a symbol.
    pub(crate) fn symbol(&mut self, name: &str) -> usize {
        let string = self.string_attribute(name);
        self.attribute(join(&[varint(4), number(string)]))
    }

    /// Adds a dictionary.
    pub(crate) fn dictionary(&mut self, entries: &[(&str, usize)]) -> usize {
        let mut bytes = join(&[varint(1), number(entries.len())]);
        for (name, attribute) in entries {
            bytes.extend(number(self.string_attribute(name)));
            bytes.extend(number(*attribute));
        }
        self.attribute(bytes)
    }

    /// Adds an array.
    pub(crate) fn array(&mut self, elements: &[usize]) -> usize {
        let numbers = elements.iter().flat_map(|element| number(*element)).collect();
        self.attribute(join(&[varint(0), number(elements.len()), numbers]))
    }

    /// The whole file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut file = b"ML\xefR".to_vec();
        file.extend(varint(u64::from(self.version)));
        file.extend(b"test\0");
        let (data, offsets) = self.entries();
        for (id, data) in [
            (0, self.strings()),
            (1, self.dialects()),
            (2, data),
            (3, offsets),
            (4, self.operations()),
        ] {
            file.extend(section(id, &data));
        }
        if let Some((data, offsets)) = &self.resources {
            file.extend(section(5, data));
            file.extend(section(6, offsets));
        }
        if self.version >= 5 {
            let mut data = number(self.properties.len());
            for properties in &self.properties {
                data.extend(number(properties.len()));
                data.extend(properties);
            }
            file.extend(section(8, &data));
        }
        file
    }

    fn strings(&self) -> Vec<u8> {
        let mut data = number(self.strings.len());
        for string in self.strings.iter().rev() {
            data.extend(number(string.len() + 1));
        }
        for string in &self.strings {
            data.extend(string);
            data.push(0);
        }
        data
    }

    fn dialects(&self) -> Vec<u8> {
        let mut data = number(self.dialects.len());
        for name in &self.dialects {
            if self.version == 0 {
                data.extend(number(*name));
            } else {
                data.extend(flagged(*name as u64, self.dialect_versions));
                if self.dialect_versions {
                    data.extend(section(7, &varint(1)));
                }
            }
        }
        if self.version >= 4 {
            data.extend(number(self.names.len()));
        }
        for (dialect, name, registered) in &self.names {
            data.extend(number(*dialect));
            data.extend(varint(1));
            if self.version >= 5 {
                data.extend(flagged(*name as u64, *registered));
            } else {
                data.extend(number(*name));
            }
        }
        data
    }

    fn entries(&self) -> (Vec<u8>, Vec<u8>) {
        let mut data = Vec::new();
        let mut offsets = join(&[number(self.attributes.len()), number(self.types.len())]);
        for entry in self.attributes.iter().chain(&self.types) {
            data.extend(&entry.bytes);
            offsets.extend(number(entry.dialect));
            offsets.extend(varint(1));
            offsets.extend(flagged(entry.bytes.len() as u64, entry.own));
        }
        (data, offsets)
    }

    fn operations(&self) -> Vec<u8> {
        join(&[flagged(1, false), self.operation(&self.outermost)])
    }

    fn operation(&self, operation: &Op) -> Vec<u8> {
        let has_properties = operation.properties.is_some() && self.version >= 5;
        let uses = operation.uses.as_ref().filter(|_| self.version >= 3);
        let mask = u8::from(operation.attributes.is_some())
            | u8::from(!operation.results.is_empty()) << 1
            | u8::from(!operation.operands.is_empty()) << 2
            | u8::from(!operation.successors.is_empty()) << 3
            | u8::from(!operation.regions.is_empty()) << 4
            | u8::from(uses.is_some()) << 5
            | u8::from(has_properties) << 6;
        let mut data = join(&[number(operation.name), vec![mask], varint(0)]);
        data.extend(operation.attributes.into_iter().flat_map(number));
        if has_properties {
            data.extend(operation.properties.into_iter().flat_map(number));
        }
        for list in [&operation.results, &operation.operands, &operation.successors] {
            if !list.is_empty() {
                data.extend(number(list.len()));
                data.extend(list.iter().flat_map(|element| number(*element)));
            }
        }
        if let Some(uses) = uses {
            data.extend(flagged(uses.len() as u64, false));
            data.extend(uses.iter().flat_map(|order| number(*order)));
        }
        if !operation.regions.is_empty() {
            data.extend(flagged(operation.regions.len() as u64, operation.isolated));
            let regions = operation.regions.iter().flat_map(|region| self.region(region));
            let regions: Vec<_> = regions.collect();
            if operation.isolated && self.version >= 2 {
                data.extend(section(4, &regions));
            } else {
                data.extend(regions);
            }
        }
        data
    }

    fn region(&self, blocks: &[Block]) -> Vec<u8> {
        let mut data = number(blocks.len());
        if !blocks.is_empty() {
            let values = |block: &Block| {
                let results = block.operations.iter().map(|operation| operation.results.len());
                block.arguments.len() + results.sum::<usize>()
            };
            data.extend(number(blocks.iter().map(values).sum()));
        }
        for block in blocks {
            let has_arguments = !block.arguments.is_empty();
            data.extend(flagged(block.operations.len() as u64, has_arguments));
            if has_arguments {
                data.extend(number(block.arguments.len()));
                for r#type in &block.arguments {
                    if self.version >= 4 {
                        data.extend(flagged(*r#type as u64, false));
                    } else {
                        data.extend(join(&[number(*r#type), varint(0)]));
                    }
                }
                if self.version >= 3 {
                    data.push(0);
                }
            }
            data.extend(block.operations.iter().flat_map(|operation| self.operation(operation)));
        }
        data
    }
}

fn terminated(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}
