"""Every comparison of code and TLA+ module, the small ones first."""

from wheelproof_spec.components.buffer_pool.graph.catalog import POOL_MODELS
from wheelproof_spec.components.purgatory.graph.catalog import PURGATORY_MODELS
from wheelproof_spec.components.timer.graph.catalog import TIMER_MODELS
from wheelproof_spec.engines.graph.comparing.comparisons import GraphModel

MODELS: tuple[GraphModel, ...] = (*TIMER_MODELS, *POOL_MODELS, *PURGATORY_MODELS)
