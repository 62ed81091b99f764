// BART's encoder and decoder: embeddings that a factor scales, learned
// positions behind two rows that nothing reads, and a norm over their sum.
//
// Source: transformers 5.23, models/{bart,mbart,marian,pegasus,m2m_100}/
// modeling_*.py (BartScaledWordEmbedding, BartLearnedPositionalEmbedding,
// MarianSinusoidalPositionalEmbedding, M2M100SinusoidalPositionalEmbedding,
// BartEncoder, BartDecoder and their namesakes).
#ifndef FORETELL_MODELS_LAYERS_BART_STACK_H_
#define FORETELL_MODELS_LAYERS_BART_STACK_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/layers/bart_layer.h"

namespace foretell {

// Where positions come from.
enum class BartPlaces {
  kLearned,  // a table behind two rows that nothing reads
  kFrozen,   // a table of sines, a parameter that takes no gradient
  kCounted,  // a buffer of sines, at numbers counted from the tokens
};

// How the families of BART's make differ; BART's own are the defaults.
struct BartForm {
  BartPlaces places = BartPlaces::kLearned;
  bool scales_outside = false;  // of the table's module
  bool embedding_norm = true;   // over the sum of words and positions
  bool last_norm = false;       // behind the last layer
  // Names of the decoder's forward: its mask of ones stays beside the causal
  // one; what the positions give takes the name of their numbers.
  bool keeps_ones = false;
  bool reuses_places = false;
};

struct BartStackConfig {
  BartLayerConfig layer;
  BartForm form;
  std::optional<int64_t> padding;
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t layers = 0;
  double embedding_scale = 1;
  double layer_drop = 0;  // the chance that a step leaves a layer out
};

struct BartEmbedding {
  BartEmbedding(const Module& at, const BartStackConfig& config);
  // ids [b, s] -> [b, s, width]
  Tensor Forward(const Tensor& ids) const;

  Module module;
  double scale;
  bool scales_outside;
  ParameterId weight;
};

struct BartPositions {
  BartPositions(const Module& at, const BartStackConfig& config);
  // Of an encoder's tokens ids [b, s].
  Tensor ForEncoder(const Tensor& ids) const;
  // Of a decoder's, whose numbers [s] were made before unless they are counted.
  // `past` tokens lie before them.
  Tensor ForDecoder(const Tensor& ids, const Tensor& numbers,
                    int64_t past) const;

  Module module;
  BartPlaces places;
  std::optional<int64_t> padding;
  std::optional<ParameterId> weight;
  std::optional<ValueId> weights;

 private:
  Tensor Count(const Tensor& ids, int64_t past) const;
};

struct BartEncoder {
  BartEncoder(const Module& at, const BartStackConfig& config);
  // ids [b, s], its mask of padding or empty -> [b, s, width]
  Tensor Forward(const Tensor& ids, const Tensor& padding,
                 std::string_view attention) const;

  Module module;
  BartStackConfig config;
  BartEmbedding embed_tokens;
  BartPositions embed_positions;
  std::vector<BartEncoderLayer> layers;
  std::optional<LayerNorm> layernorm_embedding;
  std::optional<LayerNorm> layer_norm;
};

struct BartDecoder {
  BartDecoder(const Module& at, const BartStackConfig& config);
  // ids [b, s], encoded [b, t, width] and its mask of padding [b, t], or empty
  // -> [b, s, width]
  Tensor Forward(const Tensor& ids, const Tensor& encoded,
                 const Tensor& padding, std::string_view attention,
                 EncoderDecoderCache& cache) const;

  Module module;
  BartStackConfig config;
  BartEmbedding embed_tokens;
  BartPositions embed_positions;
  std::vector<BartDecoderLayer> layers;
  std::optional<LayerNorm> layernorm_embedding;
  std::optional<LayerNorm> layer_norm;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_BART_STACK_H_
