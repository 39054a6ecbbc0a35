"""Messages of one agent: what goes in comes out, and nothing else is taken for one."""

import numpy as np
import pytest

from decentral.arenas.wire import ACTION, AWAKE, DONE, SAVE, SHOW, SHOWN, AgentWire, PerceptMessage, StepMessage
from decentral.environments.host.wire import CLOSE, FRAME, RESET, STEP, framed
from decentral.errors import Failed, Refused
from decentral.records.durable import Fingerprint
from decentral.types import AgentSpec, Continuous, Discrete
from tests.arenas.nearby import received

WIRE = AgentWire(AgentSpec(3, Discrete(2)))
PERCEPT = PerceptMessage(np.asarray([0.5, -1.0, 3.0], np.float32), np.asarray([True, False]))


def test_every_kind_has_one_size():
    """Three numbers of four bytes and two flags; a reward of eight bytes and two flags more; an action of eight."""
    percepts = {RESET: 14, SHOW: 14, SHOWN: 14, STEP: 24}
    assert WIRE.sizes == percepts | {ACTION: 8, AWAKE: 0, SAVE: 8, DONE: 40, CLOSE: 0}
    assert len(WIRE.of_percept(PERCEPT)) == 14 and len(WIRE.of_step(StepMessage(1.0, True, False, PERCEPT))) == 24


def test_what_is_written_is_read():
    reward, terminated, truncated, percept = WIRE.step(WIRE.of_step(StepMessage(-0.1, True, False, PERCEPT)))
    assert (reward, terminated, truncated) == (-0.1, True, False)
    for found in (percept, WIRE.percept(WIRE.of_percept(PERCEPT))):
        assert found.observation.tolist() == [0.5, -1.0, 3.0] and found.available.tolist() == [True, False]
    assert WIRE.action(WIRE.of_action(1, 2**32 - 1)) == (1, 2**32 - 1)
    numbers = AgentWire(AgentSpec(3, Continuous(2)))
    found, answered = numbers.action(numbers.of_action(np.asarray([0.25, -1.0], np.float32), 7))
    assert found.tolist() == [0.25, -1.0] and answered == 7 and numbers.sizes[ACTION] == 12
    assert WIRE.save_turn(WIRE.of_save(2**40)) == 2**40
    assert WIRE.done(WIRE.of_done(Fingerprint(7, "ab" * 32))) == Fingerprint(7, "ab" * 32)


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (framed(b"x", b""), "got kind b'x' with 0 bytes"),
        (framed(RESET, bytes(13)), "got kind b'r' with 13 bytes"),
        (framed(ACTION, bytes(5)), "got kind b'a' with 5 bytes"),
        (framed(CLOSE, b"!"), "got kind b'c' with 1 bytes"),
        (FRAME.pack(STEP, 2**63), f"got kind b's' with {2**63} bytes"),
    ],
    ids=["unknown", "short", "long", "talkative", "endless, of which no more is read"],
)
def test_what_is_no_message_is_refused(tmp_path, message, complaint):
    with pytest.raises(Failed, match=complaint):
        received(WIRE, message)
    (tmp_path / "log").write_bytes(framed(AWAKE) + message)
    with pytest.raises(Refused, match=f"log is broken: .*{complaint}"):
        list(WIRE.log(tmp_path / "log"))


def test_a_torn_log_is_refused(tmp_path):
    (tmp_path / "log").write_bytes(framed(AWAKE) + framed(ACTION, bytes(8))[:-1])
    with pytest.raises(Refused, match="log is broken: the stream ended"):
        list(WIRE.log(tmp_path / "log"))
