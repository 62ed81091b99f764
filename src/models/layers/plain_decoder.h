// A decoder whose parameters alone are told: embeddings, layers that the family
// fills, a last norm and a head.
//
// For classes whose code comes with the weights and of which no step is
// recorded. In: sizes, names, and what makes a layer. Out: a model that states
// layers, context and what generation keeps, and whose forward says why it is
// not modelled. A wrong kind of a key is a problem in the view's log.
#ifndef FORETELL_MODELS_LAYERS_PLAIN_DECODER_H_
#define FORETELL_MODELS_LAYERS_PLAIN_DECODER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "models/layers/attention.h"
#include "models/layers/tower_module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

// Tells parameters; a forward fails with its reason.
class ParametersOnly : public Model {
 public:
  ParametersOnly(const Module& root, std::string_view why)
      : root_(root), why_(why) {}
  Tensor Forward(const ForwardInputs& inputs) override;

 private:
  Module root_;
  std::string_view why_;  // of a constant
};

struct PlainDecoderConfig {
  int64_t vocabulary = 0;
  int64_t head_rows = 0;  // of the head; 0: the vocabulary
  int64_t layers = 0;
  bool ties = false;
  bool norm_bias = false;  // of the last norm
  AttentionConfig attention;
  std::string_view norm_name = "norm";
  std::string_view why = "only its parameters are told";
};

// vocab_size, num_hidden_layers, hidden_size and heads, and what decoders'
// files state beside them without effect on a shape.
PlainDecoderConfig ReadPlainDecoder(const ConfigView& config,
                                    int64_t vocabulary);

using MakePlainLayer =
    std::function<void(const TowerModule& layer, int64_t index)>;

// `class_name` ends in "Model" where there is no head.
std::unique_ptr<Model> MakePlainDecoder(const ConfigView& config,
                                        const Module& root,
                                        std::string_view class_name,
                                        const PlainDecoderConfig& decoder,
                                        const MakePlainLayer& make_layer);

// q_proj, k_proj, v_proj and o_proj of `in` wide inputs.
void AddPlainAttention(const TowerModule& at, const AttentionConfig& attention,
                       int64_t in, bool bias);
// gate_proj, up_proj and down_proj.
void AddPlainMlp(const TowerModule& at, int64_t hidden, int64_t intermediate);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_PLAIN_DECODER_H_
