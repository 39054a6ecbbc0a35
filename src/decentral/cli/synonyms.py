"""Flags as other libraries spell them, so that an unknown one is answered with the right suggestion."""

from collections.abc import Iterable

from decentral.errors import did_you_mean

SYNONYMS = {
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
    "epsilon_anneal_time": "epsilon_steps",
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
ELSEWHERE = {
    "environment.rewards": " the agents of this environment share one reward",
    "device": " the device is chosen by the environment variable JAX_PLATFORMS (cpu or cuda)",
    "cuda": " the device is chosen by the environment variable JAX_PLATFORMS (cpu or cuda)",
}


def suggestion(flag: str, known: Iterable[str]) -> str:
    """What an unknown flag may have meant, as part of a refusal; empty if nothing comes near.

    A setting may be named without its group, or as in PyMARL, Stable-Baselines3 or CleanRL.
    """
    known = list(known)
    name = _plain(flag)
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    meant = SYNONYMS.get(name, name)
    same = [other for other in known if _plain(other).rpartition(".")[2] == meant]
    return f" did you mean {min(same, key=len)}?" if same else did_you_mean(flag, known)


def _plain(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_").lower()
