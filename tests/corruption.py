"""Ways in which a file goes bad."""

import os


def flip(rng, content):
    """One bit."""
    place = rng.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :]


def truncate(rng, content):
    """The end is missing."""
    return content[: rng.randrange(len(content))]


def blank(rng, content):
    """A block of zeros, as a disk that lost a write leaves it."""
    begin = rng.randrange(len(content))
    length = min(rng.choice([1, 16, 512, 4096]), len(content) - begin)
    return content[:begin] + bytes(length) + content[begin + length :]


def lengthen(rng, content):
    """Something follows."""
    return content + rng.randbytes(rng.randrange(1, 64))


WAYS = (flip, truncate, blank, lengthen)


def spoil(rng, file, way):
    """Spoil a file in a way that leaves it different."""
    content = file.read_bytes()
    changed = content
    while changed == content:
        changed = way(rng, content)
    file.write_bytes(changed)


def swap(one, other):
    """Each file where the other should be."""
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    assert first != second


def remove(file):
    """A file is gone."""
    os.unlink(file)
