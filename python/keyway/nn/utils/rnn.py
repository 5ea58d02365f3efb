"""Sequences of different lengths in one tensor, and back."""

from __future__ import annotations

from collections.abc import Sequence

import keyway
from keyway._C import Tensor


def pad_sequence(
    sequences: Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences [length, ...] filled up to the longest with `padding_value`, at their ends or, with
    padding_side="left", in front of them: [longest, count, ...], or [count, longest, ...] if `batch_first`.

    Raises keyway.ValueError for another side, or for no sequences.
    """
    if padding_side not in ("left", "right"):
        raise keyway.ValueError(f"pad_sequence: padding_side is 'left' or 'right', not {padding_side!r}")
    given = list(sequences)
    if not given:
        raise keyway.ValueError("pad_sequence: there are no sequences")
    longest = max(sequence.size(0) for sequence in given)

    def padded(sequence: Tensor) -> Tensor:
        missing = longest - sequence.size(0)
        if missing == 0:
            return sequence
        filler = sequence.new_full([missing, *sequence.shape[1:]], padding_value)
        return keyway.cat([sequence, filler] if padding_side == "right" else [filler, sequence])

    return keyway.stack([padded(sequence) for sequence in given], 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of `lengths` [count] that were filled up at their ends."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row.narrow(0, 0, length) for row, length in zip(rows.unbind(0), lengths.tolist())]
