"""DXBC containers, of shaders and serialized root signatures: a header with a digest, then named parts.

The format and its digest are those that DXContainer.rst of LLVM describes. Nothing here executes a shader.
"""

from __future__ import annotations

import math
import struct
from typing import Final, NamedTuple

MAGIC: Final = b"DXBC"
VERSION: Final = 1
# Magic, digest, version, size, number of parts; the offsets of the parts follow.
HEADER: Final = struct.Struct("<4s16s3I")
PART: Final = struct.Struct("<4sI")
WORD: Final = struct.Struct("<I")
# The digest covers everything that follows it.
DIGEST_END: Final = 20
UNSIGNED: Final = bytes(16)

MASK: Final = 0xFFFFFFFF
BLOCK: Final = 64
# The constants of MD5 (RFC 1321): shifts by round, and the sines of the steps.
START: Final[tuple[int, ...]] = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
SHIFTS: Final = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
SINES: Final = tuple(int(abs(math.sin(step + 1)) * 2**32) for step in range(BLOCK))

# The kinds of programs, by their number in a version token.
KINDS: Final = {0: "ps", 1: "vs", 2: "gs", 3: "hs", 4: "ds", 5: "cs", 6: "lib", 13: "ms", 14: "as"}
# The parts that hold a program, with the name of its language.
PROGRAMS: Final = {"SHDR": "DXBC", "SHEX": "DXBC", "DXIL": "DXIL"}


class NotAContainer(ValueError):
    """The text says what is wrong, as the end of a sentence: ``begins with ...``."""


class Container(NamedTuple):
    digest: bytes
    parts: tuple[tuple[str, bytes], ...]

    def part(self, name: str) -> bytes | None:
        """The content of the first part with this name."""
        return next((content for each, content in self.parts if each == name), None)


class Shader(NamedTuple):
    """What a container says of its shader; ``profile`` is a name such as ``cs_5_0``."""

    profile: str
    language: str
    size: int
    digest: bytes

    def __str__(self) -> str:
        return f"the {self.profile} shader ({self.language}, {self.size} bytes, digest {self.digest.hex()})"


def digest_of(body: bytes) -> bytes:
    """MD5, but for its end: the length in bits comes first in the last block, and at its end half of that, plus one."""
    whole = len(body) - len(body) % BLOCK
    padded = body[:whole] + _tail(body[whole:], len(body))
    state = START
    for start in range(0, len(padded), BLOCK):
        state = _mixed(state, padded[start : start + BLOCK])
    return struct.pack("<4I", *state)


def _tail(rest: bytes, length: int) -> bytes:
    bits, last = WORD.pack(8 * length & MASK), WORD.pack((2 * length | 1) & MASK)
    ended = rest + b"\x80"
    if len(rest) < BLOCK - 2 * WORD.size:
        return (bits + ended).ljust(BLOCK - WORD.size, b"\0") + last
    return ended.ljust(BLOCK, b"\0") + bits.ljust(BLOCK - WORD.size, b"\0") + last


def _mixed(state: tuple[int, ...], block: bytes) -> tuple[int, ...]:
    words = struct.unpack("<16I", block)
    a, b, c, d = state
    for step, sine in enumerate(SINES):
        number = step // 16
        if number == 0:
            mixed, word = b & c | ~b & d, step
        elif number == 1:
            mixed, word = d & b | ~d & c, 5 * step + 1
        elif number == 2:
            mixed, word = b ^ c ^ d, 3 * step + 5
        else:
            mixed, word = c ^ (b | ~d), 7 * step
        total = a + mixed + sine + words[word % 16] & MASK
        shift = SHIFTS[number][step % 4]
        a, b, c, d = d, b + (total << shift | total >> 32 - shift) & MASK, b, c
    return tuple(old + new & MASK for old, new in zip(state, (a, b, c, d)))


def container_of(*parts: tuple[str, bytes]) -> bytes:
    """The bytes of a container."""
    offset = HEADER.size + WORD.size * len(parts)
    offsets, contents = b"", b""
    for name, content in parts:
        offsets += WORD.pack(offset + len(contents))
        contents += PART.pack(name.encode("ascii"), len(content)) + content
    size = offset + len(contents)
    head = HEADER.pack(MAGIC, UNSIGNED, VERSION, size, len(parts))
    body = head[DIGEST_END:] + offsets + contents
    return head[: len(MAGIC)] + digest_of(body) + body


def parse(data: bytes) -> Container:
    """Read a container, whose digest must be right or all zeros, as compilers leave it that do not sign.

    Raises ``NotAContainer``.
    """
    if len(data) < HEADER.size:
        raise NotAContainer(f"has {len(data)} bytes; the header of a DXBC container alone has {HEADER.size}")
    magic, digest, _, size, count = HEADER.unpack_from(data)
    if magic != MAGIC:
        raise NotAContainer(f"begins with {magic!r}; a DXBC container begins with {MAGIC!r}")
    if size > len(data):
        raise NotAContainer(f"has {len(data)} bytes, but the DXBC container in it has {size}")
    data = data[:size]
    if HEADER.size + WORD.size * count > size:
        raise NotAContainer(f"has a DXBC container of {size} bytes, which cannot have {count} parts")
    parts = tuple(_part(data, HEADER.size + WORD.size * index) for index in range(count))
    if digest != UNSIGNED and digest != digest_of(data[DIGEST_END:]):
        raise NotAContainer("has a DXBC container whose digest is not that of its bytes, which were changed")
    return Container(digest, parts)


def _part(data: bytes, position: int) -> tuple[str, bytes]:
    (offset,) = WORD.unpack_from(data, position)
    if offset + PART.size > len(data):
        raise NotAContainer(f"has a DXBC container of {len(data)} bytes with a part at offset {offset}")
    name, size = PART.unpack_from(data, offset)
    start = offset + PART.size
    if start + size > len(data):
        raise NotAContainer(
            f"has a DXBC container of {len(data)} bytes with a part of {size} bytes at offset {offset}"
        )
    return name.decode("ascii", "backslashreplace"), data[start : start + size]


def shader_of(data: bytes) -> Shader:
    """What ``data`` says of the shader in it. Raises ``NotAContainer`` if there is none."""
    container = parse(data)
    for name, content in container.parts:
        if name in PROGRAMS and len(content) >= WORD.size:
            (token,) = WORD.unpack_from(content)
            kind = KINDS.get(token >> 16, f"kind {token >> 16}")
            profile = f"{kind}_{token >> 4 & 15}_{token & 15}"
            return Shader(profile, PROGRAMS[name], len(data), container.digest)
    names = ", ".join(name for name, _ in container.parts) or "none"
    raise NotAContainer(f"has a DXBC container without a shader; its parts are {names}")
