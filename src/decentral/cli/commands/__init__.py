"""All commands, with a line of help each. `decentral NAME` is the function `NAME_command` of `commands/NAME.py`.

A hyphen of a name is an underscore there. A command's module is imported when it is called and not before, so that the
help comes at once.
"""

import importlib

COMMANDS = {
    "train": "Train an algorithm, or a team of several, on an environment.",
    "arena": "Train with each agent in its own process, which receives its percepts, rewards and episode ends alone.",
    "resume": "Resume a run that was interrupted, or train a finished one further.",
    "verify": "Check the files of a run against the hashes recorded when they were written.",
    "sweep": "Train every combination of listed settings: in few compiled programs, or, from a file, in processes.",
    "search": "Search settings that a file leaves open for the best return, with Optuna, in processes or on a cluster.",
    "evaluate": "Play fresh greedy episodes with the trained agents of a run.",
    "watch": "Watch the trained agents of a run play an episode: an animation as an HTML page and as a GIF.",
    "plot": "Plot the learning curves of one or several runs: mean and spread over seeds.",
    "runs": "List the runs of a directory: their state, progress, final returns and age.",
    "report": "Show one or several runs on one page, or all runs of a directory: curves, tables, what agents learned.",
    "crossplay": "Let agents of different runs and seeds play together, and show the matrix of returns.",
    "compare": "Compare several algorithms on one environment: mean, interquartile mean and intervals over seeds.",
    "reproduce": "Rerun a figure or table of the paper, redraw it from its data, or show the verdicts on the claims.",
    "values": "Print what the agents of a matrix game have learned: Q(s,a,c) and phi, as in the paper's Table 1.",
    "audit": "Train one agent of a run again from its own log alone, and compare its parameters bit for bit.",
    "export": "Write one trained agent as a bundle that runs without JAX, after checking that it acts the same.",
    "export-results": "Write the tests of runs as JSON that marl-eval's tools read.",
    "list": "List the algorithms and environments.",
    "show": "Print the resolved configuration of an algorithm or a team on an environment, as JSON; or its settings.",
    "oracle": "Print the exact returns of predator-prey: the best joint policy's and uniformly random play's.",
    "probe": "Play an environment at random and by policies written for it by hand: how hard is it?",
    "check-env": "Check an environment, such as your own, and say in plain words what is right and what is wrong.",
    "check-battles": "Compare the simulated battles with recorded ones, such as games of the real SMAC.",
    "trust": "Trust the code of an environment once, so that later commands find it again; or list what is trusted.",
    "bench": "Measure how fast training is on this machine: time per turn, its parts, memory, and the least possible.",
}


def run_command(name: str, words: list[str]) -> None:
    """Run a command with the words that follow its name."""
    module = name.replace("-", "_")
    getattr(importlib.import_module(f"decentral.cli.commands.{module}"), f"{module}_command")(words)
