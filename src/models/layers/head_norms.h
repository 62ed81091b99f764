// Norms of queries and keys, head by head, once all three are told apart into
// heads: for AttentionConfig::extend.
//
// Source: transformers 5.23, models/glm4_moe/modeling_glm4_moe.py
// (Glm4MoeAttention), models/hunyuan_v1_dense/modeling_hunyuan_v1_dense.py.
#ifndef FORETELL_MODELS_LAYERS_HEAD_NORMS_H_
#define FORETELL_MODELS_LAYERS_HEAD_NORMS_H_

#include <functional>

#include "models/layers/attention.h"

namespace foretell {

using AttentionExtension =
    std::function<void(const Module& at, GroupedQueryAttention& attention)>;

// q_norm and k_norm of [b, s, h, d], where there are any; either way heads are
// moved ahead of the tokens only once all three projections are seen as heads.
AttentionExtension NormsBeforeTranspose(bool has_norms, double epsilon);

// query_layernorm and key_layernorm, behind the turn.
AttentionExtension NormsBehindTurn(double epsilon);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_HEAD_NORMS_H_
