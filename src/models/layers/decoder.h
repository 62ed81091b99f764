// A decoder with rotary positions: embeddings, a stack of layers, a norm, and
// one of the heads. Families differ in their layer, which is the template's
// argument.
//
// A layer is built by the family's `make_layer(at, index)` and has
//   Tensor Forward(const Tensor& hidden, const DecoderContext& context) const;
// Source: transformers 5.23, models/llama/modeling_llama.py (LlamaModel,
// LlamaForCausalLM) and the models that share its text.
#ifndef FORETELL_MODELS_LAYERS_DECODER_H_
#define FORETELL_MODELS_LAYERS_DECODER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/views.h"
#include "models/layers/attention.h"
#include "models/layers/causal_mask.h"
#include "models/layers/heads.h"
#include "models/layers/linear.h"
#include "models/layers/norm.h"
#include "models/layers/rope.h"
#include "models/model.h"

namespace foretell {

struct DecoderConfig {
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  RopeConfig rope;
  double norm_epsilon = 0;
  bool tie_embeddings = false;
  int64_t window = 0;  // of the mask that all layers share; 0: none
  Head head = Head::kNone;
  std::string base_name = "model";  // the base model's name below a head
  int64_t labels = 2;
  bool token_bias = true;  // of the head for tokens
};

// What every layer's forward is given.
struct DecoderContext {
  std::pair<Tensor, Tensor> rotary;  // cosines and sines [b, s, d]
  Tensor mask;                       // may be empty
  std::string attention;
};

template <class Layer>
class Decoder : public Model {
 public:
  template <class MakeLayer>
  Decoder(const Module& root, const DecoderConfig& config,
          MakeLayer make_layer)
      : config_(config),
        root_(root),
        base_(config.head == Head::kNone ? root
                                         : root.Child(config.base_name)),
        embed_tokens_(base_.Child("embed_tokens", RegionKind::kEmbedding),
                      config.vocabulary, config.hidden),
        layers_(MakeLayers(base_.Child("layers"), config.layers, make_layer)),
        norm_(base_.Child("norm", RegionKind::kNorm), config.hidden,
              config.norm_epsilon),
        rotary_emb_(base_.Child("rotary_emb"), config.rope) {
    stacks.push_back({"decoder", config.layers});
    AddHead();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    const Tensor hidden = RunBase(inputs);
    switch (config_.head) {
      case Head::kNone:
        return hidden;
      case Head::kCausalLm: {
        const Tensor logits = head_[0].Forward(Alias(hidden));
        return CausalLmLoss(logits, inputs.labels);
      }
      case Head::kSequenceClassification:
      case Head::kTokenClassification:
      case Head::kQuestionAnswering:
        return head_[0].Forward(hidden);
    }
    return hidden;
  }

 private:
  template <class MakeLayer>
  static std::vector<Layer> MakeLayers(const Module& list, int64_t count,
                                       MakeLayer make_layer) {
    std::vector<Layer> layers;
    layers.reserve(static_cast<size_t>(count));
    for (int64_t index = 0; index < count; ++index) {
      layers.push_back(
          make_layer(list.Child(index, RegionKind::kBlock), index));
    }
    return layers;
  }

  void AddHead() {
    const auto add = [this](std::string_view name, int64_t out, bool bias) {
      head_.emplace_back(root_.Child(name, RegionKind::kHead), config_.hidden,
                         out, bias);
    };
    switch (config_.head) {
      case Head::kNone:
        return;
      case Head::kCausalLm:
        add("lm_head", config_.vocabulary, false);
        if (config_.tie_embeddings) {
          root_.builder().Tie(head_[0].weight, embed_tokens_.weight);
        }
        return;
      case Head::kSequenceClassification:
        add("score", config_.labels, false);
        return;
      case Head::kTokenClassification:
        add("score", config_.labels, config_.token_bias);
        return;
      case Head::kQuestionAnswering:
        add("qa_outputs", 2, true);
        return;
    }
  }

  Tensor RunBase(const ForwardInputs& inputs) const {
    const Scope scope = base_.Enter();
    Builder& builder = base_.builder();
    Tensor hidden = embed_tokens_.Forward(inputs.input_ids);
    Tensor position_ids = AddScalar(Arange(builder, hidden.size(1)), 0);
    position_ids = Unsqueeze(position_ids, 0);
    DecoderContext context;
    context.attention = inputs.attention;
    context.mask = CausalMask(hidden, position_ids, inputs.attention,
                              config_.window);
    context.rotary = rotary_emb_.Forward(hidden, position_ids);
    for (const Layer& layer : layers_) hidden = layer.Forward(hidden, context);
    return norm_.Forward(hidden);
  }

  DecoderConfig config_;
  Module root_;
  Module base_;
  Embedding embed_tokens_;
  std::vector<Layer> layers_;
  RmsNorm norm_;
  RotaryEmbedding rotary_emb_;
  std::vector<Linear> head_;  // one, or none for the base model
};

// Attention and a feed-forward, each behind a norm and added to its input:
// the layer of Llama, Mistral, Mixtral, Qwen2 and Qwen3.
template <class Mlp>
struct DecoderLayer {
  template <class MakeMlp>
  DecoderLayer(const Module& at, const AttentionConfig& attention,
               double norm_epsilon, MakeMlp make_mlp)
      : module(at),
        self_attn(at.Child("self_attn", RegionKind::kAttention), attention),
        mlp(make_mlp(at.Child("mlp", RegionKind::kMlp))),
        input_layernorm(at.Child("input_layernorm", RegionKind::kNorm),
                        attention.hidden, norm_epsilon),
        post_attention_layernorm(
            at.Child("post_attention_layernorm", RegionKind::kNorm),
            attention.hidden, norm_epsilon) {}

  Tensor Forward(const Tensor& input, const DecoderContext& context) const {
    const Scope scope = module.Enter();
    Tensor residual = input;
    Tensor hidden = input_layernorm.Forward(input);
    hidden = self_attn.Forward(hidden, context.rotary, context.mask,
                               context.attention);
    hidden = Add(residual, hidden);
    residual = hidden;
    hidden = post_attention_layernorm.Forward(hidden);
    hidden = mlp.Forward(hidden);
    return Add(residual, hidden);
  }

  Module module;
  GroupedQueryAttention self_attn;
  Mlp mlp;
  RmsNorm input_layernorm;
  RmsNorm post_attention_layernorm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_DECODER_H_
