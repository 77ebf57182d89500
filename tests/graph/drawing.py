"""Random graphs over all operators and data types, with casts, reshaped and repeated values at any edge."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.descs.operator_desc import OperatorDesc, TensorSlot
from directml_py.descs.tensor import TensorDesc
from directml_py.descs.tensor_size import packed_strides
from directml_py.graph.nodes import FromInput, FromNode, Source
from directml_py.operators import SCHEMAS, Operator, kernel_of, operator_of
from directml_py.operators.program import are_all_defined
from directml_py.testing.desc_changes import change, change_tensor, with_packed_tensors
from directml_py.testing.valid_descs import make_desc, valid_desc

from ..operators.helpers import SPECIAL, PreferringFloats, as_stored, generator, values_for
from ..operators.records import RECORDS
from .any_graph import FILL, AnyGraph, Input, Node

OPERATORS = sorted(SCHEMAS)
ELEMENT_WISE = [
    name for name in OPERATORS if name.startswith(("ELEMENT_WISE_", "ACTIVATION_")) or name == "CAST"
]
MOVING = (
    "ELEMENT_WISE_IDENTITY",
    "SLICE",
    "SPLIT",
    "JOIN",
    "CAST",
    "TILE",
    "PADDING",
    "REVERSE_SUBSEQUENCES",
)
# Inputs for which not every value has a result: new ones are drawn.
PARTICULAR = re.compile("Indices|Lengths|ROI|TrainingStep")
FLOATS = (dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16)
FUSIBLE = (dml.DML_CONVOLUTION_DIRECTION_FORWARD, FLOATS[0])
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML
WEIGHTED = ("CONVOLUTION", "CONVOLUTION", "GEMM")
WITH_POST_OPS = [name for name in OPERATORS if type(operator_of(name)).accepts is not Operator.accepts]
# Those that may work in place of more than one of their inputs.
COMBINING = [name for name in ELEMENT_WISE if len(SCHEMAS[name].in_place) > 1]
# Those that move floats as bits, that round them, and that compute them in more digits.
MIXING = ("ELEMENT_WISE_IF", "CAST", "CAST", "ELEMENT_WISE_DEQUANTIZE_LINEAR")


class Theme(NamedTuple):
    """What a graph has most of: the share of nodes that are one of some operators, of the rest that are one of others,
    and so on; and how many percent of data types are floats where they may be."""

    kinds: tuple[tuple[float, Sequence[str]], ...]
    floats: int = 0


THEMES = (
    Theme(((0.2, MOVING), (0.4, ELEMENT_WISE))),
    Theme(((0.3, MIXING), (0.8, ELEMENT_WISE)), 70),
    Theme(((0.35, WEIGHTED), (0.2, WITH_POST_OPS), (0.5, ELEMENT_WISE)), 50),
    Theme(((0.6, MOVING),)),
    Theme(()),
)
MOST = 60
LARGEST = 1 << 22


def numbers(rng: Any, tensor: TensorDesc) -> Any:
    """Elements of all kinds: special floats, of which some tensors have none, as a sum shows no more than one; floats
    of one magnitude and of many, whose sums show their order; and integers of all sizes."""
    array = values_for(rng, tensor)
    if array.dtype.kind == "f":
        with np.errstate(all="ignore"):
            special = rng.choice(np.array(SPECIAL), array.shape).astype(array.dtype)
            bits = rng.choice([0, 12])
            magnitude = rng.choice([1, 50, 1e4]) * 2.0 ** rng.integers(-bits, bits + 1, array.shape)
            wide = (array * magnitude).astype(array.dtype)
            array = np.where(rng.random(array.shape) < rng.choice([0, 0.01, 0.2]), special, wide)
    return as_stored(tensor, array)


class Drawer:
    """Draws one graph, node by node, from earlier values."""

    def __init__(self, seed: int, names: list[str] | None = None) -> None:
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.names = names or OPERATORS
        self.made = AnyGraph()
        self.values: list[tuple[Source, TensorDesc]] = []
        self.theme = THEMES[seed % len(THEMES)]
        self.decisions = PreferringFloats(seed, self.theme.floats)
        # Whether the node that is drawn is to be the only reader of its other inputs, and nothing is to read it.
        self.is_last = False
        self.most_elements = 1 << 15 if seed % 32 == 31 else 200

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def draw(self) -> AnyGraph:
        count = min(self.random.randint(2, MOST) for _ in range(2))
        while len(self.made.nodes) < count:
            self.grow()
        for source, _ in self.values:
            if isinstance(source, FromNode) and self.made.nodes[source.node].desc and self.chance(0.15):
                self.made.kept.add(source)
        return self.made

    def grow(self) -> None:
        """A node; after one that may be fused with others in ways of its own often such others."""
        if self.values and self.chance(0.1):
            self.moved()
            return
        names = next(names for share, names in (*self.theme.kinds, (1, self.names)) if self.chance(share))
        made = self.grown(names)
        if made is None or made[1].data_type not in FLOATS or not self.chance(0.8):
            return
        desc = self.made.nodes[made[0].node].desc
        if desc is None or desc.name not in (*WITH_POST_OPS, *MIXING):
            return
        if desc.name == "CONVOLUTION" and self.chance(0.7):
            convolved, made = made, self.normalized(*made)
            if self.chance(0.2):
                self.grown(ELEMENT_WISE, convolved)
        for _ in range(self.random.randint(1, 3)):
            if made is None:
                return
            if self.chance(0.25):
                self.is_last = True
                self.grown(COMBINING, made)
                self.is_last = False
                return
            after = self.grown(MIXING if self.chance(0.1) else ELEMENT_WISE, made)
            # Without a step forward the next node is another reader of the same value.
            made = after if self.chance(0.8) else made

    def moved(self) -> None:
        """A value and others like it in one, which something else reads, or from which parts are taken."""
        source, tensor = self.random.choice(self.values[-8:])
        if tensor.is_owned_by_dml or tensor.element_count > 4096:
            return
        alike = [one for one in self.values if self.reads(one[1], tensor)][-3:]
        parts = [self.random.choice(alike or [(source, tensor)]) for _ in range(self.random.randint(1, 3))]
        axis = self.random.randrange(len(tensor.sizes))
        sizes = [*tensor.sizes]
        sizes[axis] *= len(parts)
        whole = self.laid_out(TensorDesc(tensor.data_type, tuple(sizes)))
        tensors = [one for _, one in parts]
        desc = make_desc("JOIN", {"InputTensors": tensors, "OutputTensor": whole, "Axis": axis})
        if dml.validate(desc):
            return
        joined = self.add(desc, [one for one, _ in parts])
        if self.chance(0.7):
            pieces = [self.laid_out(TensorDesc(tensor.data_type, tensor.sizes)) for _ in parts]
            desc = make_desc("SPLIT", {"InputTensor": whole, "OutputTensors": pieces, "Axis": axis})
            self.add(desc, [joined])

    def grown(
        self, names: Sequence[str], onto: tuple[FromNode, TensorDesc] | None = None
    ) -> tuple[FromNode, TensorDesc] | None:
        """A node, that reads ``onto`` if that is given; its first output."""
        recent = {tensor.data_type for _, tensor in self.values[-8:]} if onto is None else {onto[1].data_type}
        for _ in range(12):
            desc = valid_desc(self.decisions, self.random.choice(names), max_elements=self.most_elements)
            first = desc.inputs[0].tensor if desc.inputs else None
            # Preferably one of those that take a batch normalization as a part of them.
            if (
                desc.name == "CONVOLUTION"
                and (desc.Direction, first.data_type) != FUSIBLE
                and self.chance(0.8)
            ):
                continue
            if (first is not None and first.data_type in recent) or (onto is None and self.chance(0.5)):
                break
        if desc.name in WITH_POST_OPS and self.chance(0.6):
            desc = with_packed_tensors(desc)
        if desc.name in WEIGHTED and self.chance(0.3):
            desc = self.weighted(desc)
        if any(slot.tensor and slot.tensor.total_size > LARGEST for slot in (*desc.inputs, *desc.outputs)):
            return None
        if onto is not None or self.chance(0.7):
            desc = self.fitted(desc, onto)
        sources, given = list[Source | None](), desc
        for slot in desc.inputs:
            is_next = onto is not None and slot.tensor is not None and self.reads(onto[1], slot.tensor)
            source, tensor = onto if is_next and onto[0] not in sources else self.source(given, slot)
            sources.append(source)
            if tensor is not None and tensor != slot.tensor:
                given = change_tensor(given, slot, tensor)
        if dml.validate(given):
            given, sources = desc, [self.fresh(desc, slot) for slot in desc.inputs]
        value, output = self.add(given, sources), given.outputs[0].tensor
        return None if output is None else (value, output)

    def weighted(self, desc: OperatorDesc) -> OperatorDesc:
        """The same operator over weights that DirectML owns, of which its kernel makes a form of its own."""
        one, other, size = (self.random.randint(*bounds) for bounds in ((2, 5), (2, 5), (14, 18)))
        halves, floats = FLOATS[1], FLOATS[0]
        if desc.name == "GEMM":
            tensors = {
                "ATensor": TensorDesc(halves, (1, 1, one, other)),
                "BTensor": TensorDesc(halves, (1, 1, other, 2 * size), None, OWNED),
                "OutputTensor": TensorDesc(halves, (1, 1, one, 2 * size)),
            }
            given = change(desc, CTensor=None, TransA=0, TransB=0, **tensors)
        else:
            tensors = {
                "InputTensor": TensorDesc(floats, (1, one, size, size)),
                "FilterTensor": TensorDesc(floats, (other, one, 3, 3), None, OWNED),
                "OutputTensor": TensorDesc(floats, (1, other, size, size)),
            }
            ones = dict.fromkeys(("Strides", "Dilations", "StartPadding", "EndPadding"), (1, 1))
            given = change(
                desc, BiasTensor=None, OutputPadding=(0, 0), Direction=0, GroupCount=1, **ones, **tensors
            )
        return desc if dml.validate(given) else given

    def normalized(self, value: FromNode, tensor: TensorDesc) -> tuple[FromNode, TensorDesc] | None:
        """A batch normalization of a convolution's result."""
        desc = valid_desc(self.decisions, "BATCH_NORMALIZATION", max_elements=self.most_elements)
        output = tensor if self.chance(0.7) else self.laid_out(TensorDesc(tensor.data_type, tensor.sizes))
        channels = TensorDesc(tensor.data_type, (1, tensor.sizes[1], *(1 for _ in tensor.sizes[2:])))
        fields: dict[str, Any] = {f"{name}Tensor": channels for name in ("Mean", "Variance", "Scale", "Bias")}
        if self.chance(0.7):
            fields["FusedActivation"] = None
        desc = change(desc, InputTensor=tensor, OutputTensor=output, Spatial=1, **fields)
        if dml.validate(desc):
            return None
        return self.add(desc, [value, *[self.fresh(desc, slot) for slot in desc.inputs[1:]]]), output

    def fitted(self, desc: OperatorDesc, onto: tuple[FromNode, TensorDesc] | None = None) -> OperatorDesc:
        """An element-wise desc with the sizes and the type of an earlier value, so that it can run with others."""
        slots = [slot for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
        recent = [tensor for _, tensor in self.values[-8:]] if onto is None else [onto[1]]
        if not recent or (kernel_of(desc).elements is None and desc.name not in MOVING[:1]):
            return desc
        like = self.random.choice(recent)
        sizes, changed = like.sizes, desc
        for slot in slots:
            assert slot.tensor is not None
            flags = type(slot.tensor.flags)(0)
            tensor = TensorDesc(slot.tensor.data_type, sizes, None, flags)
            if slot in desc.outputs:
                is_alike = tensor.data_type == like.data_type and not like.overlaps and self.chance(0.8)
                tensor = like.replace(flags=flags) if is_alike else self.laid_out(tensor)
            changed = change_tensor(changed, slot, tensor)
        if "Axis" in desc.struct.index:
            changed = change(changed, Axis=self.random.randrange(len(sizes)))
        return desc if dml.validate(changed) else changed

    def laid_out(self, tensor: TensorDesc) -> TensorDesc:
        """Packed, or dimensions in any order with gaps."""
        if self.chance(0.7) or tensor.is_nibbles:
            return tensor
        sizes, strides, step = tensor.sizes, [0] * len(tensor.sizes), 1
        for axis in self.random.sample(range(len(sizes)), len(sizes)):
            strides[axis] = step
            step = step * sizes[axis] + self.random.randint(0, 2)
        least = TensorDesc(tensor.data_type, sizes, tuple(strides)).minimum_size
        return tensor.replace(strides=tuple(strides), total_size=least + 4 * self.random.randint(0, 2))

    def add(self, desc: OperatorDesc, sources: list[Source | None]) -> FromNode:
        self.made.nodes.append(Node(desc, tuple(sources)))
        first = FromNode(len(self.made.nodes) - 1, 0)
        is_partly_defined = not are_all_defined(desc)
        for output, slot in enumerate(desc.outputs):
            value = FromNode(first.node, output)
            if slot.tensor is None:
                continue
            if is_partly_defined:
                self.made.kept.add(value)
            elif not self.is_last:
                self.values.append((value, slot.tensor))
        return first

    def source(self, desc: OperatorDesc, slot: TensorSlot) -> tuple[Source | None, TensorDesc | None]:
        """A value for an input, and the tensor as which it is read."""
        if slot.tensor is None:
            return None, None
        is_own = slot.tensor.is_owned_by_dml or slot.tensor.is_nibbles or PARTICULAR.search(slot.field)
        if is_own or self.is_last or self.chance(0.2):
            return self.fresh(desc, slot), slot.tensor
        found = [one for one in self.values if self.reads(one[1], slot.tensor)]
        if found and self.chance(0.9):
            source, tensor = self.random.choice(found[-4:])
            if is_whole(tensor) and self.chance(0.1):
                # The same bytes in another order.
                turned = packed_strides(tensor.sizes[::-1])[::-1]
                tensor = tensor.replace(strides=turned)
            return source, tensor
        adapted = self.adapted(slot.tensor) if self.chance(0.6) else None
        return (self.fresh(desc, slot), slot.tensor) if adapted is None else adapted

    def reads(self, tensor: TensorDesc, wanted: TensorDesc) -> bool:
        is_alike = (tensor.data_type, tensor.sizes) == (wanted.data_type, wanted.sizes)
        return is_alike and not tensor.is_owned_by_dml and not tensor.is_nibbles

    def fresh(self, desc: OperatorDesc, slot: TensorSlot) -> Source | None:
        """A graph input or a constant."""
        tensor = slot.tensor
        if tensor is None:
            return None
        if PARTICULAR.search(slot.field):
            drawn = RECORDS[desc.name].draw(generator(desc.name, self.random.randrange(1000)), desc)
            array = drawn[[one.path for one in desc.inputs].index(slot.path)]
        else:
            array = numbers(self.rng, tensor)
        memory = np.full(tensor.total_size, FILL, np.uint8)
        tensor.store(memory, array)
        source: Source
        if not tensor.is_owned_by_dml and not self.is_last and self.chance(0.3):
            self.made.nodes.append(Node(None, data=memory))
            source = FromNode(len(self.made.nodes) - 1, 0)
        else:
            self.made.inputs.append(Input(tensor, memory))
            source = FromInput(len(self.made.inputs) - 1)
            if tensor.is_owned_by_dml and self.chance(0.3):
                # Another reader of what one of them might want in a form of its own.
                copy = TensorDesc(tensor.data_type, tensor.sizes)
                fields = {"InputTensor": tensor, "OutputTensor": copy, "ScaleBias": None}
                self.node("ELEMENT_WISE_IDENTITY", fields, source)
        is_alone = self.is_last or self.chance(0.2)
        if not tensor.is_owned_by_dml and not PARTICULAR.search(slot.field) and not is_alone:
            self.values.append((source, tensor))
        elif not tensor.is_owned_by_dml and self.chance(0.3):
            # Read through a copy, which others may read too.
            fields = {"InputTensor": tensor, "OutputTensor": tensor, "ScaleBias": None}
            return self.node("ELEMENT_WISE_IDENTITY", fields, source) or source
        return source

    def node(self, name: str, fields: Mapping[str, Any], source: Source) -> FromNode | None:
        desc = make_desc(name, fields)
        return None if dml.validate(desc) else self.add(desc, [source])

    def adapted(self, wanted: TensorDesc) -> tuple[Source, TensorDesc] | None:
        """An earlier value cast, repeated or cut, and reshaped; None if that does not work."""
        usable = [one for one in self.values[-12:] if not one[1].is_nibbles and not one[1].is_owned_by_dml]
        if not usable:
            return None
        source, tensor = self.random.choice(usable)
        count = prod(wanted.sizes)
        if tensor.data_type != wanted.data_type or not is_whole(tensor) or self.chance(0.3):
            cast = TensorDesc(wanted.data_type, tensor.sizes)
            made = self.node("CAST", {"InputTensor": tensor, "OutputTensor": cast}, source)
            if made is None:
                return None
            source, tensor = made, cast
        rank = 4 if self.chance(0.8) else 5
        if tensor.element_count < count:
            flat = tensor.replace(sizes=(*(1,) * (rank - 1), tensor.element_count), strides=None)
            times = -(-count // tensor.element_count)
            tiled = TensorDesc(tensor.data_type, (*flat.sizes[:-1], times * tensor.element_count))
            fields = {"InputTensor": flat, "OutputTensor": tiled, "Repeats": [*(1,) * (rank - 1), times]}
            made = self.node("TILE", fields, source)
            if made is None:
                return None
            source, tensor = made, tiled
        if tensor.element_count > count:
            flat = tensor.replace(sizes=(*(1,) * (rank - 1), tensor.element_count), strides=None)
            cut = TensorDesc(tensor.data_type, (*flat.sizes[:-1], count))
            start = self.random.randint(0, tensor.element_count - count)
            fields = {"InputTensor": flat, "OutputTensor": cut, "Offsets": [*(0,) * (rank - 1), start]}
            made = self.node("SLICE", {**fields, "Sizes": cut.sizes, "Strides": [1] * rank}, source)
            if made is None:
                return None
            source, tensor = made, cut
        read = tensor.replace(sizes=wanted.sizes, strides=None, flags=type(wanted.flags)(0))
        laid_out = self.laid_out(TensorDesc(wanted.data_type, wanted.sizes))
        if laid_out.strides is not None:
            made = self.node(
                "ELEMENT_WISE_IDENTITY",
                {"InputTensor": read, "OutputTensor": laid_out, "ScaleBias": None},
                source,
            )
            if made is None:
                return None
            return made, laid_out
        return source, read


def is_whole(tensor: TensorDesc) -> bool:
    """Whether the elements are all bytes from the first on."""
    return tensor.strides is None or tensor.effective_strides == packed_strides(tensor.sizes)


def drawn(seed: int, names: list[str] | None = None) -> AnyGraph:
    return Drawer(seed, names).draw()
