"""Sequences of different lengths: padded into one tensor, and packed into one without padding."""

from __future__ import annotations

from typing import Any, Iterable, NamedTuple, Sequence, Union

import keyway
from keyway import _C
from keyway._backends import with_device_methods
from keyway._C import Tensor

Lengths = Union[Tensor, Sequence[int]]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


@with_device_methods
class PackedSequence(_Packed):
    """Sequences sorted by length: `data` has the first elements of all, then their second ones, ...; `batch_sizes`,
    int64 on the host, says how many there are of each. `sorted_indices` are the positions that the sequences had
    before, `unsorted_indices` the way back. Made by pack_padded_sequence() and pack_sequence(). Raises
    keyway.ValueError for batch sizes that are not positive, that grow, or that do not add up to the rows of `data`."""

    __slots__ = ()

    def __new__(cls, data: Tensor, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> PackedSequence:
        if batch_sizes is None:
            raise keyway.ValueError("PackedSequence: batch_sizes are needed; pack_sequence() makes them")
        if not batch_sizes.is_cpu:
            raise keyway.ValueError("batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                                    "created manually. They should be instantiated by functions like pack_sequence and "
                                    "pack_padded_sequences in nn.utils.rnn.")
        sizes = batch_sizes.tolist()
        if any(size < 1 for size in sizes) or sorted(sizes, reverse=True) != sizes or sum(sizes) != data.size(0):
            raise keyway.ValueError("PackedSequence: batch_sizes must be positive, must not grow and must add up to the "
                                    f"{data.size(0)} rows of data, but are {sizes}")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with `data` converted as Tensor.to does, and the indices on its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        orders = [None if i is None else i.to(device=data.device) for i in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, orders[0], orders[1])

    def cpu(self) -> PackedSequence:
        """In the host's memory."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> PackedSequence:
        """On a CUDA device."""
        return self.to("cuda" if device is None else device)

    def double(self) -> PackedSequence:
        """As float64."""
        return self.to(dtype=keyway.float64)

    def float(self) -> PackedSequence:
        """As float32."""
        return self.to(dtype=keyway.float32)

    def half(self) -> PackedSequence:
        """As float16."""
        return self.to(dtype=keyway.float16)

    def long(self) -> PackedSequence:
        """As int64."""
        return self.to(dtype=keyway.int64)

    def int(self) -> PackedSequence:
        """As int32."""
        return self.to(dtype=keyway.int32)

    def short(self) -> PackedSequence:
        """As int16."""
        return self.to(dtype=keyway.int16)

    def char(self) -> PackedSequence:
        """As int8."""
        return self.to(dtype=keyway.int8)

    def byte(self) -> PackedSequence:
        """As uint8."""
        return self.to(dtype=keyway.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each index goes to: [n] to [n]. None of None."""
    if permutation is None:
        return None
    order = _C.arange(permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return _C.empty_like(permutation).scatter_(0, permutation.to(dtype=keyway.int64), order)


def pack_padded_sequence(input: Tensor, lengths: Lengths, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences [length, batch, ...], or [batch, length, ...] if `batch_first`, of these lengths, int64 on the
    host. With `enforce_sorted` they do not grow; without it sequences are sorted.

    Raises keyway.ValueError for lengths that are not one for each sequence, not positive, too long or not sorted.
    """
    given = lengths if isinstance(lengths, Tensor) else _C.tensor(list(lengths), dtype=keyway.int64, device="cpu")
    if not given.is_cpu:
        raise keyway.ValueError("pack_padded_sequence: lengths are a tensor on the CPU or a list")
    order = None
    if not enforce_sorted:
        given, order = given.sort(descending=True)
        order = order.to(device=input.device)
        input = input.index_select(0 if batch_first else 1, order)
    x = input.transpose(0, 1) if batch_first else input
    numbers = [int(length) for length in given.tolist()]
    if len(numbers) != x.size(1):
        raise keyway.ValueError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(numbers)} "
                                f"(batch_size={x.size(1)})")
    if not numbers or min(numbers) <= 0:
        raise keyway.ValueError("Length of all samples has to be greater than 0, but found an element in 'lengths' "
                                "that is <= 0")
    if sorted(numbers, reverse=True) != numbers:
        raise keyway.ValueError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                                "Give enforce_sorted=False to have sequences sorted")
    if numbers[0] > x.size(0):
        raise keyway.ValueError(f"Expected `lengths` to be at most the sequences' size, {x.size(0)}, but got "
                                f"{numbers[0]}")
    sizes = [sum(length > t for length in numbers) for t in range(numbers[0])]
    data = _C.cat([x[t, :size] for t, size in enumerate(sizes)])
    return PackedSequence(data, _C.tensor(sizes, dtype=keyway.int64, device="cpu"), order)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The sequences [length, batch, ...], or [batch, length, ...] if `batch_first`, filled up with `padding_value`, in
    the order that they had before packing; and their lengths, int64 on the host. The length is that of the longest one
    unless `total_length` is given. Raises keyway.ValueError if that is less, and for a packed sequence without
    elements."""
    sizes = [int(size) for size in sequence.batch_sizes.tolist()]
    if not sizes:
        raise keyway.ValueError("pad_packed_sequence: the packed sequence is empty: there is no batch to fill up")
    length = len(sizes)
    if total_length is not None and total_length < length:
        raise keyway.ValueError("Expected total_length to be at least the length of the longest sequence in input, but "
                                f"got total_length={total_length} and max sequence length being {length}")
    data, batch = sequence.data, sizes[0]
    tail = list(data.shape[1:])
    steps = [part if part.size(0) == batch
             else _C.cat([part, data.new_full([batch - part.size(0), *tail], padding_value)])
             for part in data.split(sizes)]
    steps += [data.new_full([batch, *tail], padding_value)] * ((total_length or length) - length)
    padded = _C.stack(steps)
    lengths = _C.tensor([sum(size > i for size in sizes) for i in range(batch)], dtype=keyway.int64, device="cpu")
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths.index_select(0, sequence.unsorted_indices.cpu())
    return padded.transpose(0, 1) if batch_first else padded, lengths


def pad_sequence(sequences: Tensor | Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Tensors [length_i, ...] as one, [longest, batch, ...], or [batch, longest, ...] if `batch_first`, filled up on
    the right or the left. Raises keyway.ValueError for no sequences and another side."""
    if not isinstance(sequences, (Tensor, Iterable)):
        raise keyway.TypeError("pad_sequence: Expected iterable for input sequences, but got arg of type: "
                               f"{type(sequences).__name__}")
    listed = list(sequences)
    if not listed:
        raise keyway.ValueError("pad_sequence: received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise keyway.ValueError("pad_sequence: Expected padding_side to be one of left or right, but got "
                                f"{padding_side}.")
    longest = max(sequence.size(0) for sequence in listed)
    rows = []
    for sequence in listed:
        filling = sequence.new_full([longest - sequence.size(0), *sequence.shape[1:]], padding_value)
        rows.append(_C.cat([sequence, filling] if padding_side == "right" else [filling, sequence]))
    return _C.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Lengths, batch_first: bool = False) -> list[Tensor]:
    """What pad_sequence() was given: the first elements, as many as `lengths` says, of each sequence."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    numbers = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [x[i, :int(length)] for i, length in enumerate(numbers)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs tensors [length_i, ...]. With `enforce_sorted` they do not become longer; without it they are sorted."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """What pack_sequence() was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
