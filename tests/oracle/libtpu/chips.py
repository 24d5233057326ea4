"""The chips that the compiler can be asked about, and how it names them."""

TOPOLOGIES = {
    "v2": "v2:1x1",
    "v3": "v3:1x1",
    "v4i": "v4 lite:1x1",
    "v4": "v4:1x1x1",
    "v5e": "v5e:1x1",
    "v5p": "v5p:1x1x1",
    "v6e": "v6e:1x1",
    "7x": "tpu7x:1x1x1",
}


def can_be_asked(chip: str) -> bool:
    """Whether this libtpu has a topology for the chip: 7, 8i and 8t have none."""
    return chip in TOPOLOGIES
