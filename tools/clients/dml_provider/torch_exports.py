"""Exports models of PyTorch to ONNX, with inputs and PyTorch's own results, into a folder.

    PYTHON torch_exports.py FOLDER

It runs in an environment of its own, which has torch, numpy, onnx and onnxscript. Weights are random. Each model comes
with fixed and with dynamic sizes, and in FLOAT16.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

WORDS, WIDTH, HEADS, TOKENS = 60, 32, 4, 10


class CausalAttention(nn.Module):
    """Self-attention, with rotary positions if asked for; causal or under a mask."""

    def __init__(self, causal: bool, rotary: bool = False) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.causal, self.rotary = causal, rotary

    def forward(self, x: Any, mask: Any = None) -> Any:
        batch, length, _ = x.shape
        parts = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = parts[0], parts[1], parts[2]
        if self.rotary:
            q, k = self.rotated(q), self.rotated(k)
        mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=self.causal)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def rotated(self, x: Any) -> Any:
        half = x.shape[-1] // 2
        rates = 1.0 / 100 ** (torch.arange(half, device=x.device) / half)
        angles = torch.arange(x.shape[-2], device=x.device)[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        left, right = x[..., :half], x[..., half:]
        return torch.cat([left * cos - right * sin, left * sin + right * cos], -1)


class Block(nn.Module):
    """A layer of a transformer; ``modern`` has RMS normalization and a gated activation."""

    def __init__(self, causal: bool, modern: bool = False) -> None:
        super().__init__()
        norm = nn.RMSNorm if modern else nn.LayerNorm
        self.first, self.second = norm(WIDTH), norm(WIDTH)
        self.attention = CausalAttention(causal, modern)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.gate = nn.Linear(WIDTH, 2 * WIDTH) if modern else None

    def forward(self, x: Any, mask: Any = None) -> Any:
        x = x + self.attention(self.first(x), mask)
        y = self.second(x)
        y = functional.gelu(self.up(y)) if self.gate is None else functional.silu(self.gate(y)) * self.up(y)
        return x + self.down(y)


class Language(nn.Module):
    """GPT, or LLaMA if ``modern``; BERT if not ``causal``, whose words beyond the text are masked."""

    def __init__(self, causal: bool, modern: bool = False) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(WORDS, WIDTH), nn.Embedding(64, WIDTH)
        self.blocks = nn.ModuleList(Block(causal, modern) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
        self.modern = modern

    def forward(self, words: Any, is_text: Any = None) -> Any:
        x = self.words(words)
        if not self.modern:
            x = x + self.positions(torch.arange(words.shape[1], device=words.device))
        mask = None
        if is_text is not None:
            mask = torch.where(is_text[:, None, None, :] > 0, 0.0, -10000.0).to(x.dtype)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


class VisionTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, WIDTH, 8, 8)
        self.positions = nn.Parameter(torch.randn(1, 16, WIDTH) * 0.02)
        self.blocks = nn.Sequential(Block(False), Block(False))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x: Any) -> Any:
        return self.head(self.blocks(self.patches(x).flatten(2).transpose(1, 2) + self.positions).mean(1))


class Diffusion(nn.Module):
    """A U-Net of two levels, with the embedding of a time step."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 16))
        self.into = nn.Conv2d(3, 16, 3, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(4, channels) for channels in (16, 32, 48))
        self.down = nn.Conv2d(16, 32, 3, 2, 1)
        self.middle = nn.Conv2d(32, 32, 3, padding=1)
        self.out = nn.Conv2d(48, 3, 3, padding=1)

    def forward(self, x: Any, time: Any) -> Any:
        first = functional.silu(self.norms[0](self.into(x) + self.time(time)[:, :, None, None]))
        second = functional.silu(self.norms[1](self.middle(self.down(first))))
        up = functional.interpolate(second, scale_factor=2.0, mode="nearest")
        return self.out(functional.silu(self.norms[2](torch.cat([first, up], 1))))


class Mobile(nn.Module):
    """Depthwise and pointwise convolutions with batch normalization, as in MobileNet."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()]
        for channels, features, stride in ((16, 24, 2), (24, 24, 1), (24, 32, 2)):
            layers += [
                nn.Conv2d(channels, channels, 3, stride, 1, groups=channels, bias=False), nn.BatchNorm2d(channels),
                nn.Hardswish(), nn.Conv2d(channels, features, 1, bias=False), nn.BatchNorm2d(features),
            ]  # fmt: skip
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))

    def forward(self, x: Any) -> Any:
        return self.body(x)


class TimeSteps(nn.Module):
    """A recurrent layer in both directions, and a classifier."""

    def __init__(self, kind: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.layers = kind(12, 16, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, x: Any) -> Any:
        return self.head(self.layers(x)[0])


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.ConvTranspose2d(16, 32, 4, 1, 0), nn.BatchNorm2d(32), nn.ReLU(), nn.ConvTranspose2d(32, 16, 4, 2, 1),
            nn.InstanceNorm2d(16, affine=True), nn.LeakyReLU(0.2), nn.ConvTranspose2d(16, 3, 4, 2, 1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.body(x[:, :, None, None])


class Picture(nn.Module):
    """What programs do with pictures: crops, sizes, statistics, sorting."""

    def forward(self, x: Any) -> Any:
        small = functional.interpolate(x, size=(20, 24), mode="bilinear", align_corners=False)
        padded = functional.pad(small[:, :, 2:-2, 1:-1], (2, 3, 1, 1), mode="reflect")
        normal = (padded - padded.mean((2, 3), keepdim=True)) / (padded.std((2, 3), keepdim=True) + 1e-3)
        best, _ = normal.flatten(2).topk(5)
        return (
            normal.clamp(-2, 2),
            best,
            functional.pixel_unshuffle(small, 2),
            functional.max_pool2d(normal, 3, 2, 1),
        )


def images(count: int, size: int) -> Any:
    return torch.randn(count, 3, size, size)


def words() -> Any:
    return torch.randint(0, WORDS, (2, TOKENS))


def text() -> Any:
    return (torch.arange(TOKENS)[None] < torch.tensor([[TOKENS], [6]])).long()


# The model, its inputs, and the dynamic axes of each input.
MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]], list[dict[int, str]]]] = {
    "gpt": (lambda: Language(True), lambda: (words(),), [{0: "batch", 1: "length"}]),
    "bert": (lambda: Language(False), lambda: (words(), text()), [{0: "batch", 1: "length"}] * 2),
    "llama": (lambda: Language(True, True), lambda: (words(),), [{0: "batch", 1: "length"}]),
    "vit": (VisionTransformer, lambda: (images(2, 32),), [{0: "batch"}]),
    "diffusion": (Diffusion, lambda: (images(2, 16), torch.randn(2, 8)), [{0: "batch"}] * 2),
    "mobile": (Mobile, lambda: (images(2, 48),), [{0: "batch"}]),
    "lstm": (lambda: TimeSteps(nn.LSTM), lambda: (torch.randn(2, 7, 12),), [{0: "batch"}]),
    "gru": (lambda: TimeSteps(nn.GRU), lambda: (torch.randn(2, 7, 12),), [{0: "batch"}]),
    "rnn": (lambda: TimeSteps(nn.RNN), lambda: (torch.randn(2, 7, 12),), [{0: "batch"}]),
    "generator": (Generator, lambda: (torch.randn(2, 16),), [{0: "batch"}]),
    "picture": (Picture, lambda: (images(2, 32),), [{0: "batch"}]),
}


def export(folder: Path, name: str) -> None:
    make, inputs, dynamic = MODELS[name]
    torch.manual_seed(0)
    model, example = make().eval(), inputs()
    for parameter in model.parameters():
        # What begins as 0 or 1 would hide a wrong order of elements.
        parameter.data += 0.02 * torch.randn_like(parameter)
    with torch.no_grad():
        expected = model(*example)
    results = expected if isinstance(expected, tuple) else (expected,)
    for suffix, axes, dtype in (
        ("", None, None),
        (":dynamic", dynamic, None),
        (":float16", None, torch.float16),
    ):
        chosen, arguments = model, example
        if dtype is not None:
            chosen = make().eval().to(dtype)
            chosen.load_state_dict(model.state_dict())
            arguments = tuple(x.to(dtype) if x.is_floating_point() else x for x in example)
        shapes = None if axes is None else tuple(axes)
        program = torch.onnx.export(
            chosen, arguments, dynamo=True, dynamic_shapes=shapes, opset_version=18, verbose=False
        )
        path = folder / f"{name}{suffix}.onnx"
        program.save(str(path), external_data=False)
        arrays = {f"in{index}": x.numpy() for index, x in enumerate(arguments)}
        wanted = {
            f"out{index}": (x if dtype is None else x.to(dtype)).numpy() for index, x in enumerate(results)
        }
        np.savez(path.with_suffix(".npz"), **arrays, **wanted)


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in MODELS:
        try:
            export(folder, name)
        except Exception as error:
            print(f"{name} is not exported: {type(error).__name__}: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
