"""How many kernels a turn takes on an NVIDIA GPU. None is needed: the program is compiled ahead of time.

python -m venv gpu && gpu/bin/pip install -e '.[cuda12]'
gpu/bin/python benchmarks/count_kernels.py iql 5m_vs_6m --seeds 5
gpu/bin/python benchmarks/count_kernels.py iql predator-prey --set algorithm.td_lambda=0.5

Prints the loops of the program, one in the other, with the number of kernels in each; of conditionals that stand side
by side, one is taken. A small kernel takes about as long to launch as to run, so it is their number that a turn of few
seeds takes its time from.
"""

import argparse
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial

KIND = "NVIDIA H200"
H200 = """
gpu_device_info {
  cuda_compute_capability { major: 9 minor: 0 }
  threads_per_block_limit: 1024 threads_per_warp: 32 threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647 block_dim_limit_y: 65535 block_dim_limit_z: 65535
  registers_per_core_limit: 65536 registers_per_block_limit: 65536
  shared_memory_per_block: 49152 shared_memory_per_block_optin: 232448 shared_memory_per_core: 233472
  core_count: 132 fpus_per_core: 128 clock_rate_ghz: 1.98
  l2_cache_size: 62914560 memory_bandwidth: 4800000000000 device_memory_size: 150000000000
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 patch: 0 }
runtime_version { major: 12 minor: 9 patch: 0 }
device_description_str: "NVIDIA H200"
"""
COMPUTATION = re.compile(r"^(ENTRY )?%([\w.\-]+) \(.*?\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%[\w.\-]+ = .*? ([a-z][a-z\-]*)\(", re.MULTILINE)
CALLED = re.compile(r"(?:body|to_apply|true_computation|false_computation)=%([\w.\-]+)|branch_computations=\{([^}]*)\}")
TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
KERNELS = ("fusion", "custom-call", "copy", "sort")  # what else stands in a scheduled program launches nothing
INNER = ("while", "conditional", "call")


def program_for_gpu(algorithm: str, environment: str, seeds: int, settings: dict[str, object]) -> str:
    """The scheduled program of turns with learning, as XLA compiles it for an H200."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    from jax.experimental import topologies
    from jax.sharding import AbstractDevice, AbstractMesh, SingleDeviceSharding, use_abstract_mesh

    from decentral.benchmarking.cases import Grid
    from decentral.runs.caches import OPTIONS
    from decentral.runs.lanes import LaneBatch
    from decentral.training.loop import turns

    device = topologies.get_topology_desc(KIND, "cuda", target_config=H200, topology="1x1x1").devices[0]
    each = {name: [value] for name, value in settings.items()}
    setup = Grid([algorithm], [environment], seeds=[seeds], settings=each).cases()[0].config.setup
    arguments = (setup, LaneBatch.describe(setup), jnp.zeros((), jnp.int32))

    def on_device(leaf: object) -> jax.ShapeDtypeStruct:
        array = leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf)
        return jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=SingleDeviceSharding(device))

    jax.default_backend = lambda: "gpu"  # what the library asks before it takes a kernel of its own
    of_all = jax.vmap(partial(turns, learning=True), (None, 0, None))
    target = AbstractMesh((), (), abstract_device=AbstractDevice(KIND, None, "gpu"))  # of our own kernels
    with use_abstract_mesh(target):
        traced = jax.jit(of_all, donate_argnums=1).trace(*jax.tree.map(on_device, arguments))
        lowered = traced.lower(lowering_platforms=("cuda",))
    return lowered.compile(compiler_options=OPTIONS["gpu"]).as_text()


def loops_of(program: str) -> Iterator[str]:
    """A line for every computation that launches kernels, indented by how deep it lies."""
    bodies, entry = {}, ""
    for match in COMPUTATION.finditer(program):
        bodies[match[2]] = match[3]
        entry = match[2] if match[1] else entry

    def describe(name: str, label: str, depth: int) -> Iterator[str]:
        counts = Counter(kind for kind in INSTRUCTION.findall(bodies[name]) if kind in KERNELS)
        kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        yield f"{'  ' * depth}{label}: {counts.total()} kernels ({kinds})"
        for line in bodies[name].splitlines():
            kind = INSTRUCTION.match(line)
            if kind is None or kind[1] not in INNER:
                continue
            trips = TRIPS.search(line)
            inner = f"{kind[1]}, {trips[1]} times" if trips else kind[1]
            for one, several in CALLED.findall(line):
                for called in [one] if one else re.findall(r"%([\w.\-]+)", several):
                    yield from describe(called, inner, depth + 1)

    return describe(entry, "program", 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("algorithm")
    parser.add_argument("environment")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="GROUP.NAME=JSON", help="another setting")
    args = parser.parse_args()
    settings = {name: json.loads(value) for name, _, value in (given.partition("=") for given in args.set)}
    for line in loops_of(program_for_gpu(args.algorithm, args.environment, args.seeds, settings)):
        print(line)


if __name__ == "__main__":
    main()
