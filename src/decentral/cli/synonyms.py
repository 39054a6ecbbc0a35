"""Flags as other libraries spell them, so that an unknown one is answered with the right suggestion."""

from collections.abc import Iterable

from decentral.errors import did_you_mean

SYNONYMS: dict[str, str | tuple[str, ...]] = {  # of several names the first that is known
    "lr": "learning_rate",
    "alpha": "learning_rate",
    "gamma": "discount",
    "batch_size": "batch_episodes",
    "buffer_size": "replay_episodes",
    "num_envs": "num_environments",
    "n_envs": "num_environments",
    "batch_size_run": "num_environments",
    "total_timesteps": "steps",
    "t_max": "steps",
    "max_steps": "steps",
    "num_seeds": "seeds",
    "hidden_size": "hidden",
    "hidden_dim": "hidden",
    "rnn_hidden_dim": "hidden",
    "net_arch": "layers",
    "q_nstep": "n_step",
    "n_steps": ("n_step", "batch_episodes"),
    "grad_norm_clip": "clip",
    "max_grad_norm": "clip",
    "target_update_interval": "target_period",
    "tau": "target_rate",
    "n_epochs": "epochs",
    "update_epochs": "epochs",
    "gae_lambda": "trace",
    "clip_range": "ratio_clip",
    "clip_coef": "ratio_clip",
    "eps_clip": "ratio_clip",
    "ent_coef": "entropy_weight",
    "entropy_coef": "entropy_weight",
    "epsilon_finish": "epsilon_end",
    "exploration_initial_eps": "epsilon_start",
    "exploration_final_eps": "epsilon_end",
    "exploration_fraction": "epsilon_steps",
    "epsilon_anneal_time": "epsilon_steps",
    "eval_freq": "test_interval",
    "n_eval_episodes": "test_episodes",
    "test_nepisode": "test_episodes",
    "share_parameters": "sharing",
    "obs_agent_id": "agent_ids",
    "num_workers": "workers",
    "num_devices": "devices",
    "gpus": "devices",
    "num_gpus": "devices",
    "logdir": "out",
    "output": "out",
}
MOST_OWNERS = 4  # algorithms that are named
DEVICE = " the device is chosen by the environment variable JAX_PLATFORMS (cpu or cuda)"
ELSEWHERE = {
    "environment.rewards": " the agents of this environment share one reward",
    "device": DEVICE,
    "cuda": DEVICE,
    "use_cuda": DEVICE,
}


def suggestion(flag: str, known: Iterable[str]) -> str:
    """What an unknown flag may have meant, as part of a refusal; empty if nothing comes near.

    A setting may be named without its group, or as in PyMARL, Stable-Baselines3 or CleanRL.
    """
    known = list(known)
    name = _plain(flag)
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    found = SYNONYMS.get(name, name)
    names = (found,) if isinstance(found, str) else found
    for meant in names:
        same = [other for other in known if _plain(other).rpartition(".")[2] == meant]
        if same:
            return f" did you mean {min(same, key=len)}?"
    if name in SYNONYMS:
        return f" it is called {' or '.join(names)} here, and belongs to other algorithms or commands"
    return _owners(name) or did_you_mean(flag, known)


def _owners(name: str) -> str:
    """Which algorithms have this setting, if it is one of theirs."""
    group, _, setting = name.partition(".")
    if group != "algorithm":
        return ""
    from decentral.api.choices import algorithms_with  # imported only where it is used: it takes long

    having = algorithms_with(setting)
    more = f" and {len(having) - MOST_OWNERS} more" if len(having) > MOST_OWNERS else ""
    return f" it is a setting of {', '.join(having[:MOST_OWNERS])}{more}" if having else ""


def _plain(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_").lower()
