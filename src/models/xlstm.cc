// xLSTM: blocks whose memory is a matrix per head, written and forgotten
// through gates, and a gated feed-forward.
//
// Source: transformers 5.23, models/xlstm/modeling_xlstm.py and
// configuration_xlstm.py, as they are where the package xlstm is absent.
// Does not model the forward.
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/family.h"
#include "models/layers/check_fields.h"
#include "models/layers/classification.h"
#include "models/layers/linear.h"

namespace foretell {
namespace {

struct XlstmConfig {
  int64_t hidden = 0;
  int64_t embedding = 0;
  int64_t vocabulary = 0;
  int64_t blocks = 0;
  int64_t heads = 1;
  int64_t keys = 0;  // of all heads
  int64_t values = 0;
  int64_t up = 0;
  bool has_bias = false;
  bool is_fused = false;  // products that read the same are one
};

// xLSTMRMSNorm and xLSTMMultiHeadLayerNorm: what they are scaled by.
struct XlstmNorm {
  XlstmNorm(const Module& at, int64_t width, bool has_bias)
      : weight(at.Parameter("weight", {width})) {
    if (has_bias) bias = at.Parameter("bias", {width});
  }

  ParameterId weight;
  std::optional<ParameterId> bias;
};

struct XlstmLayer {
  XlstmLayer(const Module& at, const XlstmConfig& config)
      : inputs([&] {
          std::vector<Linear> out;
          const auto add = [&](std::string_view name, int64_t width,
                               bool has_bias) {
            out.emplace_back(at.Child(name, RegionKind::kLinear), config.hidden,
                             width, has_bias);
          };
          if (config.is_fused) {
            add("qkv_opreact", 2 * config.keys + 2 * config.values,
                config.has_bias);
            add("ifgate_preact", 2 * config.heads, true);
            return out;
          }
          add("q", config.keys, config.has_bias);
          add("k", config.keys, config.has_bias);
          add("v", config.values, config.has_bias);
          add("ogate_preact", config.values, config.has_bias);
          add("igate_preact", config.heads, true);
          add("fgate_preact", config.heads, true);
          return out;
        }()),
        multihead_norm(at.Child("multihead_norm", RegionKind::kNorm),
                       config.values / config.heads * config.heads,
                       config.has_bias),
        out_proj(at.Child("out_proj", RegionKind::kLinear), config.values,
                 config.hidden, config.has_bias) {}

  std::vector<Linear> inputs;
  XlstmNorm multihead_norm;
  Linear out_proj;
};

struct XlstmFeedForward {
  XlstmFeedForward(const Module& at, const XlstmConfig& config)
      : ups([&] {
          std::vector<Linear> out;
          const auto add = [&](std::string_view name, int64_t width) {
            out.emplace_back(at.Child(name, RegionKind::kLinear), config.hidden,
                             width, config.has_bias);
          };
          if (config.is_fused) {
            add("proj_up_gate_z", 2 * config.up);
            return out;
          }
          add("proj_up_gate", config.up);
          add("proj_up", config.up);
          return out;
        }()),
        proj_down(at.Child("proj_down", RegionKind::kLinear), config.up,
                  config.hidden, config.has_bias) {}

  std::vector<Linear> ups;
  Linear proj_down;
};

struct XlstmBlock {
  XlstmBlock(const Module& at, const XlstmConfig& config)
      : norm_mlstm(at.Child("norm_mlstm", RegionKind::kNorm), config.hidden,
                   config.has_bias),
        mlstm_layer(at.Child("mlstm_layer", RegionKind::kAttention), config),
        norm_ffn(at.Child("norm_ffn", RegionKind::kNorm), config.hidden,
                 config.has_bias),
        ffn(at.Child("ffn", RegionKind::kMlp), config) {}

  XlstmNorm norm_mlstm;
  XlstmLayer mlstm_layer;
  XlstmNorm norm_ffn;
  XlstmFeedForward ffn;
};

class Xlstm : public Model {
 public:
  Xlstm(const Module& root, const XlstmConfig& config, bool has_head)
      : root_(root),
        base_(has_head ? root.Child("backbone") : root),
        embeddings_(base_.Child("embeddings", RegionKind::kEmbedding),
                    config.vocabulary, config.embedding) {
    embeddings_.module.MarkInputEmbeddings();
    const Module list = base_.Child("blocks");
    for (int64_t index = 0; index < config.blocks; ++index) {
      blocks_.emplace_back(list.Child(index, RegionKind::kBlock), config);
    }
    out_norm_.emplace(base_.Child("out_norm", RegionKind::kNorm), config.hidden,
                      false);
    if (!has_head) return;
    lm_head_.emplace(root.Child("lm_head", RegionKind::kHead), config.hidden,
                     config.vocabulary, false);
    lm_head_->module.MarkOutputEmbeddings();
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    root_.builder().Fail("the memory's products are not modelled");
    return inputs.input_ids;
  }

 private:
  Module root_;
  Module base_;
  Embedding embeddings_;
  std::vector<XlstmBlock> blocks_;
  std::optional<XlstmNorm> out_norm_;
  std::optional<Linear> lm_head_;
};

// int(width * factor), and a size of at least `least`.
int64_t Scaled(const ConfigView& config, std::string_view key, int64_t width,
               double factor, int64_t least) {
  const double product = static_cast<double>(width) * factor;
  if (product >= 0 && product < static_cast<double>(kLargestSize)) {
    const auto whole = static_cast<int64_t>(product);
    if (whole >= least) return whole;
  }
  config.Problem(key, "no size comes of hidden_size times this factor",
                 "give a factor between 0 and a few");
  return least;
}

// round_up_to_next_multiple_of, whose argument is no whole number.
int64_t RoundedUp(const ConfigView& config, int64_t width, double factor,
                  int64_t multiple) {
  const auto by = static_cast<double>(multiple);
  const double product = static_cast<double>(width) * factor;
  const double rounded = std::floor((product + by - 1) / by) * by;
  if (rounded >= 0 && rounded < static_cast<double>(kLargestSize)) {
    return static_cast<int64_t>(rounded);
  }
  config.Problem("ffn_proj_factor",
                 "no size comes of hidden_size times this factor",
                 "\"ffn_proj_factor\": 2.667");
  return multiple;
}

void CheckChoice(const ConfigView& config, std::string_view key,
                 std::string_view otherwise,
                 std::initializer_list<std::string_view> choices) {
  const std::string chosen = config.Text({key}, otherwise);
  for (const std::string_view choice : choices) {
    if (chosen == choice) return;
  }
  config.Problem(key, "the configuration class knows no such value",
                 "take the key out: the class has a default");
}

// Either of two names for one size; the class fills one from the other, and a
// null asks for that. `otherwise` is the default of the first.
std::pair<int64_t, int64_t> ReadEither(const ConfigView& config,
                                       std::string_view first,
                                       std::string_view second,
                                       int64_t otherwise) {
  const int64_t one = config.Size({first}, otherwise);
  const std::optional<int64_t> two = config.OptionalSize({second});
  return {one, two.value_or(one)};
}

XlstmConfig ReadXlstm(const ConfigView& config) {
  XlstmConfig out;
  CheckCommonFields(config);
  ReadLabels(config, false);
  CheckFields(config, {{"norm_reduction_force_float32", FieldKind::kFlag},
                       {"add_out_norm", FieldKind::kFlag},
                       // The class lists no tied weights.
                       {"tie_word_embeddings", FieldKind::kFlag},
                       {"qk_dim_factor", FieldKind::kFloat},
                       {"v_dim_factor", FieldKind::kFloat},
                       {"ffn_proj_factor", FieldKind::kFloat},
                       {"return_last_states", FieldKind::kFlag},
                       {"norm_eps", FieldKind::kFloat},
                       {"eps", FieldKind::kFloat},
                       {"gate_soft_cap", FieldKind::kFloat},
                       {"output_logit_soft_cap", FieldKind::kFloat},
                       {"chunk_size", FieldKind::kWhole},
                       {"max_inference_chunksize", FieldKind::kWhole},
                       {"pad_token_id", FieldKind::kWhole, true}});
  CheckChoice(config, "mode", "inference",
              {"inference", "train", "train_with_padding"});
  CheckChoice(config, "weight_mode", "single", {"single", "fused"});
  CheckChoice(config, "chunkwise_kernel", "chunkwise--native_autograd",
              {"chunkwise--native_autograd", "parallel--native_autograd"});
  CheckChoice(config, "sequence_kernel", "native_sequence__native",
              {"native_sequence__native"});
  CheckChoice(config, "step_kernel", "native", {"native"});
  for (const std::string_view key :
       {"autocast_kernel_dtype", "inference_state_dtype"}) {
    CheckChoice(config, key, "float32", {"float32", "bfloat16", "float16"});
  }
  out.vocabulary = SizeOrEmpty(config, {"vocab_size"}, 50304);
  std::tie(out.hidden, out.embedding) =
      ReadEither(config, "hidden_size", "embedding_dim", 4096);
  const int64_t layers = config.Layers({"num_hidden_layers"}, 32);
  out.blocks =
      config.Has("num_blocks") ? config.Layers({"num_blocks"}, layers) : layers;
  out.heads = config.Size({"num_heads"}, 8);
  out.has_bias = config.Flag({"use_bias"}, false);
  out.is_fused = config.Text({"weight_mode"}, "single") == "fused";
  out.keys = Scaled(config, "qk_dim_factor", out.hidden,
                    config.Real({"qk_dim_factor"}, 0.5), 0);
  out.values = Scaled(config, "v_dim_factor", out.hidden,
                      config.Real({"v_dim_factor"}, 1.0), 0);
  out.up =
      RoundedUp(config, out.hidden, config.Real({"ffn_proj_factor"}, 2.667),
                config.Size({"ffn_round_up_to_multiple_of"}, 64));
  // Of the package's configuration; the library's class has none of them.
  config.Ignore({"add_qk_norm", "cell_norm_eps", "num_blocks", "use_cache",
                 "mlstm_round_up_to_multiple_of"});
  return out;
}

std::unique_ptr<Model> Build(const ConfigView& config, const Module& root,
                             std::string_view class_name) {
  const XlstmConfig settings = ReadXlstm(config);
  auto model =
      std::make_unique<Xlstm>(root, settings, class_name != "xLSTMModel");
  model->stacks.push_back({"decoder", settings.blocks});
  LayerState state;
  state.kind = LayerState::Kind::kUnknown;
  model->states.assign(static_cast<size_t>(settings.blocks), state);
  model->context_length = {std::nullopt, "no positions: any length"};
  return model;
}

constexpr std::array<std::string_view, 1> kModelTypes = {"xlstm"};
constexpr std::array<std::string_view, 2> kClasses = {"xLSTMForCausalLM",
                                                      "xLSTMModel"};

}  // namespace

extern const Family kXlstmFamily = {
    .name = "xlstm",
    .title = "xLSTM",
    .doc =
        "Blocks whose memory is a matrix per head, written and forgotten "
        "through gates, in place of attention.",
    .model_types = kModelTypes,
    .classes = kClasses,
    .old_names = {},
    .build = Build,
    .has_operations = false,
};

}  // namespace foretell
