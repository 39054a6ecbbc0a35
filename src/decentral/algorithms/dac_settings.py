"""The settings of DAC: the paper's, those for what the paper leaves open, and extensions, which are off."""

from typing import Literal

from decentral.algorithms.gradient import GradientLearner
from decentral.settings import Refused, setting


class DACSettings(GradientLearner):
    """What can be chosen about DAC; every default is the paper's method."""

    window: int = setting(10, "k, transitions in the sliding window", at_least=1)
    contexts: int = setting(10, "m, how many discrete contexts there are", at_least=1)
    kl_weight: float = setting(0.001, "beta, weight of the KL divergence to the uniform prior", at_least=0)
    double_q: bool = setting(
        True, "choose the next action (and its best context) with the online network, value it with the target"
    )
    head: Literal["hyper-net", "normal-net", "normal-net-hidden"] = setting(
        "hyper-net", "how values depend on the context"
    )
    hyper_start: Literal["layer", "context"] = setting(
        "layer",
        "a Hyper-Net starts as wide as the layer it makes (1/sqrt(hidden)), or as one on the context (1/sqrt(m))",
    )
    explore_contexts: bool = setting(True, "draw contexts at random with probability epsilon (false: DAC_phi)")
    context_coin: Literal["step", "episode"] = setting("step", "how often the context's coin is tossed")
    reconstruction: Literal["averaged", "summed"] = setting(
        "averaged", "errors over window and features: averaged, or summed as printed"
    )
    reward_weight: float = setting(1.0, "weight of the reward's share of the reconstruction", at_least=0)
    predict: Literal["next", "change"] = setting("next", "what f_s predicts: the next observation, or the change to it")
    window_start: Literal["padded", "full"] = setting(
        "padded", "before step k: windows padded with flagged zeros, or full windows only"
    )
    encoder_width: int = setting(64, "units of the encoder's hidden layer", at_least=1)
    decoder_width: int = setting(64, "units of each decoder's hidden layer", at_least=1)
    temperature: float = setting(1.0, "temperature of Gumbel-Softmax", above=0)
    hard: bool = setting(True, "straight-through one-hot samples (false: soft samples)")
    value_context: Literal["sample", "mode", "probabilities"] = setting(
        "sample", "the context that values are learned with: the sample, its mode, or the probabilities"
    )
    value_trains_encoder: bool = setting(False, "let the value loss train the encoder too")
    last_context: Literal["previous", "optimistic", "masked"] = setting(
        "previous", "c after the last step of an episode cut off by time: c_t again, the best one, or no update"
    )
    next_context: Literal["inferred", "optimistic", "expected"] = setting(
        "inferred",
        "c in the target: the one inferred after the next step, the best attainable one, or all by their probabilities",
    )
    window_choice: Literal["fixed", "adaptive"] = setting(
        "fixed", "the encoder sees the last k transitions, or as many of them as have predicted the last steps best"
    )
    explore_bonus: Literal["none", "prediction-error"] = setting(
        "none", "added to the agent's own reward in the target: nothing, or how wrongly the decoders predict the step"
    )
    bonus_weight: float = setting(0.01, "weight of that bonus", at_least=0)
    max_over: Literal["all", "sampled"] = setting("all", "phi's maximum in acting: over all contexts, or over a few")
    sampled_contexts: int = setting(4, "contexts of a sampled maximum, drawn anew at each step", at_least=1)
    optimisers: Literal["one", "two"] = setting(
        "one", "one optimiser and clip for all, or one each for value and context (and for a learned prior)"
    )
    context_source: Literal["encoder", "noise", "reward-bins", "ensemble"] = setting(
        "encoder",
        "c in learning: by the encoder, random, by the interval of the window's mean reward, or all for every step",
    )
    reward_low: float = setting(-1.0, "where the first of the reward's intervals starts (reward-bins)")
    reward_high: float = setting(1.0, "where the last of the reward's intervals ends (reward-bins)")
    context_prior: Literal["none", "learned"] = setting(
        "none", "learn p(c | h, a), which contexts follow an action, from those that did"
    )
    prior_trains_trunk: bool = setting(False, "let the loss of a learned prior train the value's trunk too")
    attainable: float = setting(
        0.0, "delta, phi's maximum is over contexts with p >= delta max p (0: over all)", at_least=0, at_most=1
    )
    attainable_start: float = setting(0.0, "episodes that an agent lives before delta rises from 0", at_least=0)
    attainable_ramp: float = setting(0.0, "episodes over which delta then rises (0: at once)", at_least=0)

    def check_together(self) -> None:
        if self.value_trains_encoder and self.value_context == "mode":
            raise Refused("value_context must be sample or probabilities if value_trains_encoder, got mode")
        if self.context_source != "encoder" and self.needs_encoder():
            raise Refused(f"context_source must be encoder if {self.needs_encoder()}, got {self.context_source}")
        if self.max_over == "sampled" and self.sampled_contexts > self.contexts:
            raise Refused(f"sampled_contexts must be at most contexts, {self.contexts}, got {self.sampled_contexts}")
        if self.reward_low >= self.reward_high:
            raise Refused(f"reward_low must be below reward_high, {self.reward_high}, got {self.reward_low}")
        if self.attainable > 0 and self.context_prior == "none":
            raise Refused("context_prior must be learned if attainable is above 0, got none")
        if self.context_prior == "learned" and self.context_source == "ensemble":
            raise Refused("context_prior must be none if context_source is ensemble, got learned")

    def needs_encoder(self) -> str:
        """The first of the settings that make sense with an encoder only, as it is set; empty: there is none."""
        free = {"value_context": "sample", "value_trains_encoder": False}
        free |= {"window_choice": "fixed", "explore_bonus": "none"}
        return next((f"{name} is {getattr(self, name)}" for name in free if getattr(self, name) != free[name]), "")
