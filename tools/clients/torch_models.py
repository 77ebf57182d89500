"""Whole models on torch-directml over the emulator, compared with the CPU: one forward pass, and training steps.

    LD_PRELOAD=libstdc++.so.6 python -m directml_py exec python tools/clients/torch_models.py

Prints a line for each model: the largest difference of the outputs, and of the losses of the training steps with each
optimizer, relative to the CPU's. Both sides begin with the same weights. The exit code is 1 if a difference is above a
limit. Needs torch and torch-directml (docs/pytorch.md).
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch_directml
from torch import nn

TRAINING_STEPS = 10
# Rounding alone makes losses diverge, more with each step.
LIMIT = 1e-3
IMAGE, CLASSES, TOKENS, WORDS, WIDTH = 64, 10, 16, 50, 32


class Block(nn.Module):
    """ResNet's basic block: two 3 x 3 convolutions with batch normalization, and the shortcut around them."""

    def __init__(self, channels: int, features: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, features, 3, stride, 1, bias=False),
            nn.BatchNorm2d(features),
            nn.ReLU(),
            nn.Conv2d(features, features, 3, 1, 1, bias=False),
            nn.BatchNorm2d(features),
        )
        self.around = nn.Sequential()
        if stride != 1 or channels != features:
            self.around = nn.Sequential(
                nn.Conv2d(channels, features, 1, stride, bias=False), nn.BatchNorm2d(features)
            )

    def forward(self, x: Any) -> Any:
        return torch.relu(self.body(x) + self.around(x))


def resnet18() -> nn.Module:
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    channels = 64
    for features in (64, 128, 256, 512):
        layers += [Block(channels, features, 1 if features == 64 else 2), Block(features, features, 1)]
        channels = features
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


class Transformer(nn.Module):
    """An encoder of two layers over embedded words, with a classifier on the mean."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.positions = nn.Parameter(0.02 * torch.randn(1, TOKENS, WIDTH))
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classes = nn.Linear(WIDTH, CLASSES)

    def forward(self, x: Any) -> Any:
        return self.classes(self.encoder(self.words(x) + self.positions).mean(1))


def images(count: int) -> Any:
    return torch.randn(count, 3, IMAGE, IMAGE)


def texts(count: int) -> Any:
    return torch.randint(WORDS, (count, TOKENS))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[int], Any]]] = {
    "resnet18": (resnet18, images),
    "transformer": (Transformer, texts),
}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=1e-2, momentum=0.9),
    "Adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-4),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=1e-4),
}


def losses(model: nn.Module, optimizer: str, data: Any, classes: Any, training_steps: int) -> list[float]:
    model.train()
    chosen = OPTIMIZERS[optimizer](model.parameters())
    found = []
    for _ in range(training_steps):
        chosen.zero_grad()
        loss = nn.functional.cross_entropy(model(data), classes)
        loss.backward()
        chosen.step()
        found.append(float(loss))
    return found


def forward(model: nn.Module, data: Any) -> Any:
    model.eval()
    with torch.no_grad():
        return model(data).cpu()


def relative(found: Any, expected: Any) -> float:
    found, expected = torch.as_tensor(found), torch.as_tensor(expected)
    return float((found - expected).abs().max() / expected.abs().max())


def compared(name: str, device: Any, training_steps: int) -> bool:
    """Print the differences; returns whether all are below the limit."""
    torch.manual_seed(0)
    make, sample = MODELS[name]
    model, data, classes = make(), sample(4), torch.randint(CLASSES, (4,))
    there = copy.deepcopy(model).to(device)
    differences = {"forward": relative(forward(there, data.to(device)), forward(model, data))}
    for optimizer in OPTIMIZERS:
        pair = [
            losses(
                copy.deepcopy(model).to(device_name),
                optimizer,
                data.to(device_name),
                classes.to(device_name),
                training_steps,
            )
            for device_name in (device, "cpu")
        ]
        differences[optimizer] = relative(*pair)
        print(f"{name} {optimizer}: loss {pair[1][0]:.4f} -> {pair[1][-1]:.4f}, here {pair[0][-1]:.4f}")
    print(f"{name}:", ", ".join(f"{what} {value:.1e}" for what, value in differences.items()), flush=True)
    # NaN compares false.
    return all(value < LIMIT for value in differences.values())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", choices=[[], *MODELS], help="default: all")
    parser.add_argument("--steps", type=int, default=TRAINING_STEPS)
    arguments = parser.parse_args()
    device = torch_directml.device()
    fine = [compared(name, device, arguments.steps) for name in arguments.models or MODELS]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
