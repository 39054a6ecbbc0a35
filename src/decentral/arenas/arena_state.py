"""The environment's side of an arena between two episodes, as arrays and back. It holds nothing of the agents."""

from dataclasses import dataclass, field

import numpy as np

from decentral.arenas.seat import Seat
from decentral.errors import Refused
from decentral.records.durable import Fingerprint

Arrays = dict[str, np.ndarray]
WORDS = 10  # of 32 bits: a generator's state


@dataclass(frozen=True)
class SeatState:
    """The state of one agent's seat."""

    missed: int  # episodes
    deaths: int
    underway: list[float]  # rewards that have not arrived yet
    rng_states: np.ndarray  # [2, words]: generator states for rewards and for random actions
    file: Fingerprint  # the agent as it saved itself
    log: Fingerprint | None  # its messages, if they are logged

    @staticmethod
    def of(seat: Seat, file: Fingerprint) -> "SeatState":
        """A seat whose agent has saved itself."""
        rng_states = np.stack([_words(generator) for generator in (seat.rewards.rng, seat.rng)])
        log = None if seat.log is None else seat.log.fingerprint()
        return SeatState(seat.missed, len(seat.deaths), list(seat.rewards.underway), rng_states, file, log)

    def put_into(self, seat: Seat) -> None:
        """Restore a seat."""
        seat.missed, seat.deaths = self.missed, ["before the arena was resumed"] * self.deaths
        seat.rewards.underway.extend(self.underway)
        for generator, words in zip((seat.rewards.rng, seat.rng), self.rng_states, strict=True):
            _set_words(generator, words)

    def arrays(self) -> Arrays:
        return {
            "counts": np.asarray([self.missed, self.deaths]),
            "underway": np.asarray(self.underway, np.float64),
            "chances": self.rng_states,
            "file": _as_array(self.file),
            "log": _as_array(self.log),
        }

    @staticmethod
    def from_arrays(arrays: Arrays) -> "SeatState":
        """The inverse of `arrays`."""
        (missed, deaths), rng_states = arrays["counts"].tolist(), arrays["chances"].reshape(2, WORDS)
        file, log = _as_fingerprint(arrays["file"]), _as_fingerprint(arrays["log"])
        if file is None:
            raise ValueError("an agent without a file")
        return SeatState(missed, deaths, arrays["underway"].tolist(), rng_states, file, log)


@dataclass(frozen=True)
class ArenaState:
    """The environment's side in one of the seeds, which are played one after the other."""

    seed: int
    before: int  # turns of earlier seeds
    logged: bool  # are messages logged?
    steps: int = 0
    episodes: int = 0
    tested: bool = False  # as far as tests are due
    stream: np.ndarray = field(default_factory=lambda: np.zeros(2, np.uint32))  # the environment's key
    returns: list[float] = field(default_factory=list)  # of episodes since the last test
    seats: list[SeatState] = field(default_factory=list)  # empty: the seed has not begun

    @property
    def turn(self) -> int:
        return self.before + self.episodes

    def arrays(self) -> Arrays:
        """The state as named arrays."""
        clock = [self.seed, self.before, self.logged, self.steps, self.episodes, self.tested, len(self.seats)]
        seats = {
            f"seat.{place}.{name}": array
            for place, seat in enumerate(self.seats)
            for name, array in seat.arrays().items()
        }
        return {
            "clock": np.asarray(clock, np.int64),
            "stream": self.stream,
            "returns": np.asarray(self.returns, np.float64),
            **seats,
        }

    @staticmethod
    def from_arrays(arrays: Arrays, where: str) -> "ArenaState":
        """The inverse of `arrays`."""
        try:
            seed, before, logged, steps, episodes, tested, agents = arrays["clock"].tolist()
            names = ("counts", "underway", "chances", "file", "log")
            seats = [
                SeatState.from_arrays({name: arrays[f"seat.{place}.{name}"] for name in names})
                for place in range(agents)
            ]
            returns = arrays["returns"].tolist()
            stream = arrays["stream"]
        except (KeyError, ValueError, TypeError) as error:
            raise Refused(f"{where} is not of an arena, or makes no sense ({error!s:.80})") from None
        return ArenaState(seed, before, bool(logged), steps, episodes, bool(tested), stream, returns, seats)


def _as_array(file: Fingerprint | None) -> np.ndarray:
    return np.frombuffer(b"" if file is None else file.bytes.to_bytes(8) + bytes.fromhex(file.sha256), np.uint8)


def _as_fingerprint(array: np.ndarray) -> Fingerprint | None:
    held = array.astype(np.uint8).tobytes()
    return Fingerprint(int.from_bytes(held[:8]), held[8:].hex()) if held else None


def _words(generator: np.random.Generator) -> np.ndarray:
    """The state of NumPy's default generator (PCG64): two numbers of 128 bits, and a buffered half of a draw."""
    state = generator.bit_generator.state
    state_bytes = b"".join(state["state"][name].to_bytes(16, "little") for name in ("state", "inc"))
    return np.asarray([*np.frombuffer(state_bytes, "<u4"), state["has_uint32"], state["uinteger"]], np.uint32)


def _set_words(generator: np.random.Generator, words: np.ndarray) -> None:
    state_bytes = words[:8].astype("<u4").tobytes()
    large = {name: int.from_bytes(state_bytes[at : at + 16], "little") for name, at in (("state", 0), ("inc", 16))}
    left_over = {"has_uint32": int(words[8]), "uinteger": int(words[9])}
    generator.bit_generator.state = {**generator.bit_generator.state, "state": large, **left_over}
