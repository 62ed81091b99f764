// Rotary position embeddings: how a configuration states them, in all its
// forms, and what the module executes.
//
// Old form: `rope_theta` beside `rope_scaling: {"type": "linear", "factor":
// 2}`. New form: `rope_parameters: {"rope_type": "linear", "rope_theta": …}`.
// Source: transformers 5.23, modeling_rope_utils.py
// (RotaryEmbeddingConfigMixin), models/llama/modeling_llama.py,
// models/phi3/modeling_phi3.py (what turns a part of a head),
// models/olmo/modeling_olmo.py (what turns in float32).
#ifndef FORETELL_MODELS_LAYERS_ROPE_H_
#define FORETELL_MODELS_LAYERS_ROPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

struct RopeConfig {
  std::string type = "default";  // linear, dynamic, yarn, longrope, llama3, …
  double theta = 10000;
  std::optional<double> factor;
  std::optional<int64_t> original_positions;  // before the scaling
  int64_t frequencies = 0;                    // elements of inv_freq
  int64_t positions = 0;                      // max_position_embeddings
  // Frequencies are made anew in each forward, of a head this wide (PhiMoE).
  std::optional<int64_t> remade_of;
  // Gives an angle per pair of dims, not per dim (GPT-OSS).
  bool halves = false;
  // Cosines and sines stay in float32 (OLMo, ERNIE 4.5).
  bool stays_wide = false;
  // Positions of three axes, each of which turns so many pairs of dims, one
  // after the other in turn (Qwen3.5); empty: of one.
  std::vector<int64_t> sections = {};
  // They stand side by side instead, and no positions are left for masks
  // (Qwen2-VL).
  bool sections_side_by_side = false;
  // Each angle stands twice in a row, not the whole of them twice (Cohere).
  bool interleaves = false;
  // Gives complex numbers of length 1 in place of both (DeepSeek-V2).
  bool is_complex = false;
};

// The rope of one kind of layer, where kinds differ.
struct KindRope {
  std::string kind;     // "sliding_attention"
  bool slides = false;  // its layers attend to a window
  RopeConfig rope;
};

// What the reading of a rope depends on beside its own keys.
struct RopeReading {
  double default_theta = 10000;
  int64_t positions = 0;  // max_position_embeddings
  int64_t head_dim = 0;
  // The class holds head_dim when it validates (an absent one may be worked
  // out later), and so refuses an odd one.
  bool head_dim_is_held = true;
  // The class holds an absent head_dim as null, which some types multiply.
  bool head_dim_is_null = false;
  // Kinds of layers that the class knows as it loads; rope settings of their
  // own, keyed by them, are another class's form.
  std::vector<std::string> layer_types = {};
  // The class turns a part of a head by the default type too: as much of it,
  // where the file does not say.
  bool turns_part = false;
  double default_part = 1;
  // The class has a field original_max_position_embeddings: its default.
  std::optional<int64_t> original_positions = {};
  // Types that the class takes for longrope as it loads.
  std::vector<std::string_view> longrope_names = {};
  // It takes "mrope" for default.
  bool takes_mrope = false;
  // What the class takes where neither rope_parameters nor rope_scaling says
  // anything.
  const ConfigValue* when_absent = nullptr;
  // Where the class looks for theta and for the part of a head that is turned,
  // beside the rope's own settings.
  std::string_view theta_key = "rope_theta";
  std::string_view part_key = "partial_rotary_factor";
};

// Reads `rope_parameters`, `rope_scaling`, `rope_theta`,
// `partial_rotary_factor` and `original_max_position_embeddings`, works out
// the number of frequencies and notes what the class refuses.
RopeConfig ReadRope(const ConfigView& config, const RopeReading& context);

// The same of settings that stand for one kind of layer alone, in the new form:
// rope_parameters.sliding_attention. What the class holds once it has loaded is
// the caller's to tell.
RopeConfig ReadKindRope(const ConfigView& nested, const RopeReading& context);

// The nested settings that decide: `rope_scaling` where it states anything,
// else `rope_parameters`.
ConfigView RopeSettings(const ConfigView& config,
                        const ConfigValue* when_absent = nullptr);

// The context length that max_position_embeddings states, and how the scaling
// reached it.
ContextLength RopeContext(const RopeConfig& rope);

// Buffers inv_freq and original_inv_freq, [frequencies] float32 each, behind
// the kind's name and an underscore where it is one kind's; the latter is the
// former where the library holds no copy.
struct RotaryEmbedding {
  RotaryEmbedding(const Module& at, const RopeConfig& rope,
                  std::string_view kind = "");
  // position_ids [b, s] -> cosines and sines [b, s, 2 frequencies] in the
  // dtype of `like`, or in float32; [b, s, frequencies] for halves and for
  // complex numbers, which have no second
  std::pair<Tensor, Tensor> Forward(const Tensor& like,
                                    const Tensor& position_ids) const;
  void UpdateFrequencies(const Tensor& position_ids) const;
  // [b, s, frequencies], in float32.
  Tensor AnglesAt(const Tensor& position_ids, const Tensor& remade) const;
  Tensor RemakeFrequencies() const;

  Module module;
  RopeConfig config;
  ValueId inverse_frequencies;
  ValueId original_frequencies;
};

// One of the ways below: queries and keys, cosines and sines.
using RotaryTurn = std::pair<Tensor, Tensor> (*)(const Tensor&, const Tensor&,
                                                 Tensor, Tensor);

// q [b, h, s, d] and k [b, h_kv, s, d] turned by cosines and sines [b, s, d].
std::pair<Tensor, Tensor> ApplyRotary(const Tensor& q, const Tensor& k,
                                      Tensor cosines, Tensor sines);
// The same of q and k whose heads lie along `axis`.
std::pair<Tensor, Tensor> ApplyRotaryAt(const Tensor& q, const Tensor& k,
                                        Tensor cosines, Tensor sines, int axis);
// The same for the first dims of a head, as many as the cosines have; the rest
// passes and is joined to them again, also where nothing is left.
std::pair<Tensor, Tensor> ApplyPartialRotary(const Tensor& q, const Tensor& k,
                                             Tensor cosines, Tensor sines);
// The same, both turned before either is joined (Nemotron).
std::pair<Tensor, Tensor> ApplyJoinedPartialRotary(const Tensor& q,
                                                   const Tensor& k,
                                                   Tensor cosines,
                                                   Tensor sines);
// And once more, where what is joined takes the name of what was turned.
std::pair<Tensor, Tensor> ApplyRenamedPartialRotary(const Tensor& q,
                                                    const Tensor& k,
                                                    Tensor cosines,
                                                    Tensor sines);
// ApplyRotary where the angles are wider than q and k: the results are cast
// back.
std::pair<Tensor, Tensor> ApplyWideRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines);
// The same with an angle per pair of dims, [b, s, d / 2].
std::pair<Tensor, Tensor> ApplyHalfRotary(const Tensor& q, const Tensor& k,
                                          Tensor cosines, Tensor sines);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_ROPE_H_
