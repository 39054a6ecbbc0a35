"""The settings of the paper's DAC: those that it names, then those for what it leaves open."""

from typing import ClassVar, Literal

from decentral.algorithms.targets import ValueSettings
from decentral.settings import Refused, setting


class PaperSettings(ValueSettings):
    """What the paper names: its table of hyper-parameters, its two heads, its ablation."""

    heading: ClassVar[str] = "The paper's"

    cannot: ClassVar[dict[str, str]] = {"duelling": "a head makes its values from a context"}

    window: int = setting(10, "k, transitions in the sliding window", at_least=1)
    contexts: int = setting(10, "m, how many discrete contexts there are", at_least=1)
    kl_weight: float = setting(0.001, "beta, weight of the KL divergence to the uniform prior", at_least=0)
    head: Literal["hyper-net", "normal-net", "normal-net-hidden"] = setting(
        "hyper-net", "how values depend on the context"
    )
    explore_contexts: bool = setting(True, "draw contexts at random with probability epsilon (false: DAC_phi)")
    double_q: bool = setting(
        True, "choose the next action (and its best context) with the online network, value it with the target"
    )


class OpenChoices(PaperSettings):
    """What the paper leaves open; every default is the plainest reading of it."""

    heading: ClassVar[str] = "Open choices"

    window_start: Literal["padded", "full"] = setting(
        "padded", "before step k: windows padded with flagged zeros, or full windows only"
    )
    encoder_width: int = setting(64, "units of the encoder's hidden layer", at_least=1)
    decoder_width: int = setting(64, "units of each decoder's hidden layer", at_least=1)
    temperature: float = setting(1.0, "temperature of Gumbel-Softmax", above=0)
    hard: bool = setting(True, "straight-through one-hot samples (false: soft samples)")
    reconstruction: Literal["averaged", "summed"] = setting(
        "averaged", "errors over window and features: averaged, or summed as printed"
    )
    reward_weight: float = setting(1.0, "weight of the reward's share of the reconstruction", at_least=0)
    predict: Literal["next", "change"] = setting("next", "what f_s predicts: the next observation, or the change to it")
    value_context: Literal["sample", "mode", "probabilities"] = setting(
        "sample", "the context that values are learned with: the sample, its mode, or the probabilities"
    )
    value_trains_encoder: bool = setting(False, "let the value loss train the encoder too")
    last_context: Literal["previous", "optimistic", "masked"] = setting(
        "previous", "c after the last step of an episode cut off by time: c_t again, the best one, or no update"
    )
    hyper_start: Literal["layer", "context"] = setting(
        "layer",
        "a Hyper-Net starts as wide as the layer it makes (1/sqrt(hidden)), or as one on the context (1/sqrt(m))",
    )
    context_coin: Literal["step", "episode"] = setting("step", "how often the context's coin is tossed")

    def check_together(self) -> None:
        ValueSettings.check_together(self)
        if self.last_context == "masked" and (self.n_step > 1 or self.td_lambda > 0):
            raise Refused("last_context must be previous or optimistic if targets span several steps, got masked")
        if self.value_trains_encoder and self.value_context == "mode":
            raise Refused("value_context must be sample or probabilities if value_trains_encoder, got mode")
