"""A program that stands in for an agent and breaks the rules, each kind in its own way: `python liars.py KIND`.

It imports nothing of this library and no JAX, so that one starts in a few hundredths of a second.
"""

import os
import signal
import struct
import sys
import time

HEADER = struct.Struct("<cQ")  # kind, length
OUTCOME = struct.Struct("<d??")  # reward, terminated, truncated
HOUR = 3600.0


class Voice:
    """The two ends of the pipes."""

    def __init__(self):
        self.percepts = 0

    def say(self, kind, body=b"", length=None):
        self.print(HEADER.pack(kind, len(body) if length is None else length) + body)

    def print(self, content):
        while content:
            content = content[os.write(1, content) :]

    def receive(self):
        """The next message. Where the environment is gone, so is this program."""
        kind, length = HEADER.unpack(self.exactly(HEADER.size))
        self.percepts += kind in b"rstp"
        return kind, self.exactly(length)

    def exactly(self, count):
        found = b""
        while len(found) < count:
            more = os.read(0, count - len(found))
            if not more:
                os._exit(0)
            found += more
        return found

    def act(self, action=0, number=None):
        self.say(b"a", struct.pack("<iI", action, self.percepts if number is None else number))

    def play(self):
        """Be honest until the end."""
        while (message := self.receive())[0] != b"c":
            self.react(*message)

    def react(self, kind, body):
        if kind == b"m":
            self.say(b"d", bytes(40))
        elif kind != b"s" or not any(OUTCOME.unpack(body[: OUTCOME.size])[1:]):
            self.act()


def at_first_percept(lie):
    """Wake up, hear the first percept, lie, and be honest from then on."""

    def live(voice):
        voice.say(b"w")
        voice.receive()
        lie(voice)
        voice.play()

    return live


def instead_of_waking(lie):
    def live(voice):
        lie(voice)
        voice.play()

    return live


def drip(voice):
    """One byte of an action after the other, each well within the limit."""
    for byte in HEADER.pack(b"a", 8) + struct.pack("<iI", 0, 1):
        time.sleep(0.05)
        voice.print(bytes([byte]))


def shout(voice):
    """Act for ever, and listen to nothing."""
    while True:
        voice.act(number=1)


def stop(_):
    os.kill(os.getpid(), signal.SIGSTOP)


def close(_):
    os.close(1)
    time.sleep(HOUR)


def grow_deaf(voice):
    """Answer honestly once, and never read again: what the world says fills the pipe."""
    voice.act()
    time.sleep(HOUR)


def twice(voice):
    voice.act()
    voice.act()


def die_over_a_frame(voice):
    voice.print(HEADER.pack(b"a", 8) + bytes(3))
    os._exit(0)


NAN = struct.pack("<f", float("nan"))
LIES = {
    "honest": at_first_percept(lambda voice: voice.act()),
    # violations: what is no message, or not the one that is due
    "too long": at_first_percept(lambda voice: voice.say(b"a", bytes(9))),
    "too short": at_first_percept(lambda voice: voice.say(b"a", bytes(7))),
    "extra fields": at_first_percept(lambda voice: voice.say(b"a", bytes(8) + b'{"to": "agent 0"}')),
    "another agent's number": at_first_percept(lambda voice: voice.say(b"a", struct.pack("<iII", 0, 1, 0))),
    "huge length": at_first_percept(lambda voice: voice.say(b"a", length=2**63)),
    "wrong type": at_first_percept(lambda voice: voice.say(b"a", struct.pack("<d", 0.0))),
    "not a number": at_first_percept(lambda voice: voice.say(b"a", NAN + struct.pack("<I", 1))),
    "negative": at_first_percept(lambda voice: voice.act(-1)),
    "out of range": at_first_percept(lambda voice: voice.act(7)),
    "unavailable": at_first_percept(lambda voice: voice.act(2)),
    "old number": at_first_percept(lambda voice: voice.act(number=0)),
    "number ahead": at_first_percept(lambda voice: voice.act(number=2)),
    "unknown kind": at_first_percept(lambda voice: voice.say(b"x")),
    "the environment's kind": at_first_percept(lambda voice: voice.say(b"s", bytes(21))),
    "awake again": at_first_percept(lambda voice: voice.say(b"w")),
    "saved unasked": at_first_percept(lambda voice: voice.say(b"d", bytes(40))),
    "two actions": at_first_percept(twice),
    "garbage": at_first_percept(lambda voice: voice.print(bytes(range(200, 256)))),
    "prints": instead_of_waking(lambda voice: voice.print(b"hello, world\n")),
    "acts asleep": instead_of_waking(lambda voice: voice.act(number=1)),
    "acts ahead of percepts": instead_of_waking(lambda voice: (voice.say(b"w"), voice.act(number=1))),
    "shouts": at_first_percept(shout),
    # deaths: nothing comes, or nothing is taken
    "never wakes": instead_of_waking(lambda voice: time.sleep(HOUR)),
    "exits at once": instead_of_waking(lambda voice: os._exit(0)),
    "silent": at_first_percept(lambda voice: time.sleep(HOUR)),
    "deaf": at_first_percept(grow_deaf),
    "stopped": at_first_percept(stop),
    "stopped asleep": instead_of_waking(stop),
    "drips": at_first_percept(drip),
    "closes its line": at_first_percept(close),
    "exits in the middle": at_first_percept(lambda voice: os._exit(0)),
    "exits over a frame": at_first_percept(die_over_a_frame),
    "is killed": at_first_percept(lambda voice: os.kill(os.getpid(), signal.SIGKILL)),
}

if __name__ == "__main__":
    LIES[sys.argv[1]](Voice())
