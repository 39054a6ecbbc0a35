"""The algorithms by name. All are fully decentralised: each is a frozen module of hyper-parameters for one agent."""

from decentral.algorithms.base import Algorithm
from decentral.algorithms.bql import BQL
from decentral.algorithms.dac import FullDAC
from decentral.algorithms.distributed import Distributed
from decentral.algorithms.dpo import DPO
from decentral.algorithms.hysteretic import Hysteretic
from decentral.algorithms.i2q import I2Q
from decentral.algorithms.i2q_forward import I2QForward
from decentral.algorithms.i2q_tabular import I2QTabular
from decentral.algorithms.ia2c import IA2C
from decentral.algorithms.ippo import IPPO
from decentral.algorithms.iql import IQL
from decentral.algorithms.lenient import Lenient
from decentral.algorithms.ma2ql import MA2QL
from decentral.algorithms.patient import Patient
from decentral.algorithms.rac import RAC
from decentral.algorithms.tvpo import TVPO

ALGORITHMS: dict[str, type[Algorithm]] = {
    "iql": IQL,
    "hysteretic": Hysteretic,
    "distributed": Distributed,
    "lenient": Lenient,
    "patient": Patient,
    "i2q": I2Q,
    "i2q-tabular": I2QTabular,
    "i2q-forward": I2QForward,
    "ma2ql": MA2QL,
    "bql": BQL,
    "rac": RAC,
    "dac": FullDAC,
    "ia2c": IA2C,
    "ippo": IPPO,
    "dpo": DPO,
    "tvpo": TVPO,
}
