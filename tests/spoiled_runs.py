"""Run directories that have gone bad in every way, and the commands that read them: with pages, plots and tables made.

python -m tests.spoiled_runs [--count 5000] [--seed 0] [--out DIR]: so many of them through all commands; exit code 1
where one of them broke a command. The soak does this in several processes.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import random
import re
import shutil
import stat
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
from matplotlib.figure import Figure

from decentral.cli import main
from decentral.configs.config import resolve
from decentral.records import RunDirectory
from decentral.sweeps.backends import BACK_ENDS
from decentral.training.parameters import as_arrays
from tests.cli.fuzzing import Reached
from tests.corruption import WAYS, spoil
from tests.saved_runs import checkpoint

# Where something would be trained: all else is done as it always is.
TRAINING = ("decentral.verification.audit.audit.retrain_with_log", "decentral.runs.runner.LaneBatch.start")
COMMANDS = (  # in one of these forms each; WHOLE is the run of which RUN is a spoiled copy
    ("report RUN", "report RUN WHOLE --out page"),
    ("compare --runs RUN --out compared", "compare --runs WHOLE RUN --out compared"),
    ("plot RUN --out returns.svg", "plot RUN WHOLE --out returns.png"),
    ("plot RUN --diagnostics --out measures.svg",),
    ("values RUN",),
    ("evaluate RUN --episodes 2",),
    ("verify RUN",),
    ("resume RUN",),
    ("audit RUN",),
    ("export RUN --out bundle --episodes 1",),
    ("watch RUN --out film --episode 0", "watch RUN --list"),
    ("crossplay RUN WHOLE --episodes 1 --out met",),
    ("show --config RUN/config.json",),
    ("show WHOLE --agents iql,frozen:RUN",),
    ("sweep WHOLE.json --out . --status", "sweep WHOLE.json --out ."),
)
PLAYED = ("config.json", "metrics.jsonl", "agents", "finished.json")
READ = {  # of a run, by command; others read everything
    "plot": ("config.json", "metrics.jsonl"),
    "compare": ("config.json", "metrics.jsonl"),
    "show": PLAYED,
    "values": PLAYED,
    "evaluate": PLAYED,
    "audit": PLAYED,
    "watch": PLAYED,
    "crossplay": PLAYED,
    "export": (*PLAYED, "versions.json"),
    "report": (*PLAYED, "versions.json", "times.jsonl"),
}
MADE = ("page", "compared", "bundle", "film", "met")  # by these commands, beside the runs
WHOLE = {"matrix-game": {}, "predator-prey": {"size": 3, "length": 4}}  # runs that are spoiled: settings of the worlds
RUN = "dac"  # as the unit of the sweep is called
WORDS = ("", "6", "x", "nan", "iql", "matrix-game", "predator-prey", "python:os:path", "../..", "$\\frac{$", "[/bold]")
HOSTILE = ("\x1b[31mred\x1b[0m", "\x9b2J", "\x7f\b\u2028", "\u202ereversed", "\u2066isolated")  # to a terminal
TOKENS = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e308", "-1e308", "1e39", "1e-320", "9" * 400, "9" * 5000),
    *("-1", "0", "-0.0", "0.5", "1", "3", "2147483648", "18446744073709551616", "true", "null", "01", "", "\x00"),
    *("[]", "{}", "[[]]", '{"name":{}}', '[NaN,"x",null]', "[" * 60 + "]" * 60, "[" * 9000 + "]" * 9000, "[" * 9000),
    *(json.dumps([0] * 20_000), json.dumps(["a"] * 500), json.dumps("a" * 100_000), json.dumps({"a": {"b": [{}]}})),
    *('"\\ud800"', '"\\u0000"', '"a\\nb\\r"', '"🦊"', "'text'", '"\x1b[2J"', '"\u202eraw"'),
    *(json.dumps(word) for word in (*WORDS, *HOSTILE)),
)
# What a terminal obeys: control characters but newline and tab (escape among them), lines and directions of Unicode.
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SHARES = ("matrix-game", "matrix-game", "matrix-game", "predator-prey")  # to play the latter is compiled for longer
SPOT = "@spot@"  # stands for a token until the rest is text


def whole_run(path, environment, chosen):
    """A finished run of two seeds with all that can be measured, made without training."""
    settings = {"hidden": 2, "window": 1, "contexts": 2}
    config = resolve("dac", environment, settings, chosen, {"steps": 20, "seeds": 2, "diagnostics": True})
    directory = RunDirectory.create(path)
    known = {"references": {"optimal": 8.0, "random": -3.1}, "reports": []}
    directory.write_json("config.json", config.as_data() | known)
    directory.write_json("versions.json", {"packages": {"jax": "0"}, "command": "decentral train", "commit": None})
    for step in (0, 10, 20):
        directory.append_metrics([_row(seed, step) for seed in (0, 1)])
        directory.append_time(step, step / 10)
    member, world = config.members[0], config.setup.environment
    networks = {name: np.zeros_like(leaf) for name, leaf in as_arrays(member.algorithm.build(world.spec)).items()}
    for seed in (0, 1):
        for agent in (0, 1):
            directory.write_agent(seed, agent, networks)
    checkpoint(directory, 20)
    directory.finish([])
    return directory


def _row(seed, step):
    team = {"test_return_mean": 6.0 + seed, "test_return_std": 0.5, "value_gap": [0.5], "context_partner_bits": [0.2]}
    names = ("value_start", "value_achieved", "q_taken_mean", "contexts_used", "kl", "state_error", "loss")
    return {"seed": seed, "step": step, "episode": step, **team, **{name: [0.5 + step, None] for name in names}}


def grid_of(run):
    """What a file of a sweep asks for whose only unit is a run."""
    data = json.loads((run / "config.json").read_text())
    groups = ("algorithm", "environment", "training")
    return json.dumps({group: _as_axes(data[group]) for group in groups})


def _as_axes(settings):
    return {key: [value] if isinstance(value, list) else value for key, value in settings.items()}


def spoil_run(rng, place):
    """Spoil one to three files of a run; how, in words."""
    return ", ".join(_spoil_one(rng, place) for _ in range(rng.choice((1, 1, 1, 2, 3))))


def _spoil_one(rng, place):
    files = [file for file in place.rglob("*") if file.is_file() and not file.is_symlink()]
    told = [file for file in files if file.suffix in (".json", ".jsonl")]
    file = rng.choice(told if told and rng.random() < 0.8 else files)
    if file.suffix in (".json", ".jsonl") and rng.random() < 0.85:
        how = _spoil_json(rng, file)
    else:
        how = _spoil_bytes(rng, file)
    return f"{file.relative_to(place)}: {how}"


def _spoil_bytes(rng, file):
    way = rng.choice((*WAYS, "missing", "empty", "directory", "link", "pipe", "binary"))
    if callable(way):
        if file.stat().st_size:
            spoil(rng, file, way)
        return way.__name__
    file.unlink()
    if way == "empty":
        file.touch()
    elif way == "binary":
        file.write_bytes(rng.randbytes(64))
    elif way == "directory":
        file.mkdir()
    elif way == "link":
        file.symlink_to(rng.choice(("/dev/zero", "nowhere", "config.json")))
    elif way == "pipe":
        os.mkfifo(file)
    return way


def _spoil_json(rng, file):
    """Change something of what a file says; one that seals itself is sealed again, half of the time."""
    text = file.read_bytes().decode(errors="replace")
    lines = text.splitlines() if file.suffix == ".jsonl" else [text]
    number = rng.randrange(len(lines)) if lines else 0
    try:
        content = json.loads(lines[number])
        sealing = file.suffix == ".json" and set(content) == {"content", "sha256"} and rng.random() < 0.5
    except (ValueError, IndexError, TypeError, RecursionError):
        return _spoil_bytes(rng, file)
    inner, token = content["content"] if sealing else content, rng.choice(TOKENS)
    if not isinstance(inner, dict | list):  # spoiled before
        return _spoil_bytes(rng, file)
    how = _change(rng, inner, token)
    text = json.dumps(content, indent=rng.choice((None, 1)) if file.suffix == ".json" else None)
    if sealing and _is_json(token):
        from decentral.records.durable import sealed

        text = sealed(json.loads(text.replace(f'"{SPOT}"', token))["content"]).decode()
    lines[number] = text.replace(f'"{SPOT}"', token)
    file.write_text("\n".join(lines) + "\n", errors="surrogatepass")
    return how + (", sealed again" if sealing else "")


def _is_json(token):
    try:
        json.loads(token)
    except (ValueError, RecursionError):
        return False
    return True


def _change(rng, content, token):
    """Put a token somewhere into data, or take something away; a list or an object may be all of it."""
    inner, keys = content, []
    while True:
        key = rng.choice(list(inner) if isinstance(inner, dict) else range(len(inner))) if inner else None
        keys.append(str(key))
        below = inner[key] if key is not None else None
        if key is None or not isinstance(below, dict | list) or not below or rng.random() < 0.3:
            break
        inner = below
    where, way = ".".join(keys), rng.choice(("put", "put", "put", "put", "add", "lose", "rename", "wrap"))
    if key is None or way == "add":
        if isinstance(inner, dict):
            inner[rng.choice(("name", "agents", "arena", "frozen", "seed", "files", "odd", *HOSTILE))] = SPOT
        else:
            inner.append(SPOT)
    elif way == "put":
        inner[key] = SPOT
    elif way == "wrap":
        inner[key] = [inner[key]]
    elif way == "rename" and isinstance(inner, dict):
        inner[f"{key}{rng.choice((' ', *HOSTILE))}"] = inner.pop(key)
    else:
        del inner[key]
    return f"{way} {token[:40]} at {where}"


@contextlib.contextmanager
def nothing_trained():
    """Nothing is trained, pictures have few pixels, and a warning of numbers or drawings counts as a fault."""

    def stop(*_, **__):
        raise Reached

    drawn = Figure.savefig

    def few_pixels(self, *places, dpi=None, **how):
        return drawn(self, *places, dpi=20, **how)

    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(BACK_ENDS, processes=lambda units, at_once, ended, resources: None))
        for place in TRAINING:
            stack.enter_context(mock.patch(place, stop))
        stack.enter_context(mock.patch.object(Figure, "savefig", few_pixels))
        stack.enter_context(warnings.catch_warnings())
        for kind in (RuntimeWarning, UserWarning):
            warnings.simplefilter("error", kind)
        yield


def fault_of(words):
    """What is wrong with how a command ended; empty where it did what was asked, or refused it in one line.

    Nothing that it says may be an order to the terminal.
    """
    streams = out, err = [io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace")]
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code
        except Reached:
            pass
        except Exception:
            return traceback.format_exc()
    told, said = [(stream.flush(), stream.buffer.getvalue().decode())[1] for stream in streams]
    if order := ORDERS.search(told + said):
        return f"gave the terminal an order, {order[0]!r}: {(told + said)[max(0, order.start() - 300) :][:600]!r}"
    if code not in (0, 1, 2, 3):
        return f"ended with {code}: {said}"
    if code in (1, 2) and not (said.startswith("decentral") and said.count("\n") == 1 and len(said) < 3000):
        return f"ended with {code} and not in one line: {said[:3000]}"
    return ""


def read_by(words):
    """What a command reads of a run is all that these files hold: a digest. Of others it takes no notice."""
    names, digest = READ.get(words[0], ("*",)), hashlib.sha256(" ".join(words).encode())
    files = sorted({file for name in names for file in Path(RUN).glob(name) for file in [file, *file.rglob("*")]})
    for file in files:
        kind = stat.S_IFMT(file.lstat().st_mode)
        content = (
            file.read_bytes() if stat.S_ISREG(kind) else os.fsencode(os.readlink(file)) if file.is_symlink() else b""
        )
        digest.update(f"{file} {kind} {len(content)} ".encode() + content)
    return digest.hexdigest()


def copy_of(whole):
    """A copy of a run, in place of an earlier one."""
    shutil.rmtree(RUN, ignore_errors=True)
    shutil.copytree(whole, RUN)
    return Path(RUN)


def words_of(command, whole):
    """The words of a command about the copy of a run."""
    return command.replace("RUN", RUN).replace("WHOLE", str(whole)).split()


def faults_of(seed, known):
    """Spoil a copy of a run and lead it through commands: how it was spoiled, and what each broken one said.

    A command is not run again on files that are `known`: it reads what it has read before.
    """
    rng, found = random.Random(seed), {}
    copy_of(whole := rng.choice(SHARES))
    if rng.random() < 0.5:
        (Path(RUN) / "finished.json").unlink()
    how = spoil_run(rng, Path(RUN))
    for command in map(rng.choice, COMMANDS):
        for made in MADE:
            shutil.rmtree(made, ignore_errors=True)
        words = words_of(command, whole)
        if (read := read_by(words)) in known:
            continue
        known.add(read)
        if fault := fault_of(words):
            found[" ".join(words)] = fault
    return f"{whole}, {how}", found


def prepare():
    """In the working directory: the runs that are spoiled in copies, and sweeps whose only unit is such a copy."""
    for name, chosen in WHOLE.items():
        whole_run(Path(name), name, chosen)
        Path(f"{name}.json").write_text(grid_of(Path(name)))


def main_of_soak():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    broken, begun, known = 0, time.monotonic(), set()
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), nothing_trained():
        prepare()
        for seed in range(wanted.seed, wanted.seed + wanted.count):
            how, found = faults_of(seed, known)
            broken += bool(found)
            for command, fault in found.items():
                print(f"run {seed} ({how}): {command}\n{fault}", flush=True)
            if (seed - wanted.seed + 1) % 100 == 0:
                print(f"{seed - wanted.seed + 1} of {wanted.count}, {time.monotonic() - begun:.0f} s", flush=True)
    said = f"spoiled runs: {wanted.count} through {len(COMMANDS)} commands, {len(known)} calls that read something new"
    print(f"{said}; {broken} broke a command", flush=True)
    sys.exit(broken > 0)


if __name__ == "__main__":
    main_of_soak()
