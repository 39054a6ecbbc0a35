"""Shapes are checked at run time in every test, and no array may gain an axis by accident."""

from jaxtyping import install_import_hook

CHECKED = ("environments", "networks", "algorithms", "training", "types")
install_import_hook([f"decentral.{name}" for name in CHECKED], "beartype.beartype")

import jax  # noqa: E402 (the hook comes first)

jax.config.update("jax_numpy_rank_promotion", "raise")
