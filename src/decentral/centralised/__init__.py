"""References that are NOT decentralised: in training they read the data of all agents. For comparison alone."""

from decentral.centralised.base import Centralised
from decentral.centralised.fingerprints import Fingerprints
from decentral.centralised.importance_sampling import ImportanceSampling
from decentral.centralised.mappo import MAPPO
from decentral.centralised.qmix import QMIX
from decentral.centralised.vdn import VDN

JointLearner = Centralised | MAPPO  # one learner for all agents

CENTRALISED: dict[str, type[JointLearner]] = {
    "fingerprints": Fingerprints,
    "importance-sampling": ImportanceSampling,
    "vdn": VDN,
    "qmix": QMIX,
    "mappo": MAPPO,
}
