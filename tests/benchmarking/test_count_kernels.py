"""The kernels of a program for a GPU, counted in its text."""

import importlib
from pathlib import Path

PROGRAM = """HloModule jit_turns, is_scheduled=true

%fused (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %copy.9 = f32[2]{0} copy(%x)
}

%step (now: (s32[], f32[2])) -> (s32[], f32[2]) {
  %now = (s32[], f32[2]{0}) parameter(0)
  %loop_add = (f32[2]{0}, f32[2]{0}) fusion(%now), kind=kLoop, calls=%fused
  %pallas_call.1 = f32[2]{0} custom-call(%loop_add), custom_call_target="__gpu$xla.gpu.triton"
  ROOT %after = (s32[], f32[2]{0}) tuple(%now, %pallas_call.1)
}

%short (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  ROOT %copy.1 = f32[2]{0} copy(%x)
}

ENTRY %main (x: f32[2]) -> f32[2] {
  %x = f32[2]{0} parameter(0)
  %while.1 = (s32[], f32[2]{0}) while(%x), condition=%more, body=%step, backend_config={"known_trip_count":{"n":"7"}}
  ROOT %which = f32[2]{0} conditional(%x, %x), branch_computations={%short, %short}
}
"""


def test_kernels_are_counted_loop_by_loop(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    counted = importlib.import_module("count_kernels").loops_of(PROGRAM)
    assert list(counted) == [
        "program: 0 kernels ()",
        "  while, 7 times: 2 kernels (1 fusion, 1 custom-call)",
        "  conditional: 1 kernels (1 copy)",
        "  conditional: 1 kernels (1 copy)",
    ]
