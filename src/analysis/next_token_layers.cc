#include "analysis/next_token_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace foretell {
namespace {

enum class Width : uint8_t { kHidden, kJoin };

struct Part {
  std::string_view name;
  Width width;  // [hidden], or [hidden, 2 hidden] of the product that joins
};

// Which of the model's layers such a layer is one of.
enum class Model : uint8_t {
  kLast,       // the last
  kAttention,  // the last that attends (the others scan)
  kWindowed,   // attention of the last but one, feed-forward of the first
  kBoth,       // the last that attends and the last of experts, one after other
};

struct Form {
  std::string_view class_start;
  std::string_view key;    // how many there are; empty: the class alone tells
  int64_t otherwise;       // where the key is absent
  std::string_view place;  // below the layers' own list, "{}" is the number
  bool counts_on;          // from the model's last layer
  Model model;
  std::span<const Part> each;
  std::span<const Part> once;
  bool copies_usual;
  bool has_copies;
};

constexpr std::array<Part, 4> kDeepSeek = {
    {{"eh_proj", Width::kJoin},
     {"enorm", Width::kHidden},
     {"hnorm", Width::kHidden},
     {"shared_head.norm", Width::kHidden}}};
constexpr std::array<Part, 4> kQwen = {
    {{"mtp.fc", Width::kJoin},
     {"mtp.norm", Width::kHidden},
     {"mtp.pre_fc_norm_embedding", Width::kHidden},
     {"mtp.pre_fc_norm_hidden", Width::kHidden}}};
constexpr std::array<Part, 4> kMimoV2 = {{{"eh_proj", Width::kJoin},
                                          {"enorm", Width::kHidden},
                                          {"hnorm", Width::kHidden},
                                          {"final_layernorm", Width::kHidden}}};

// One product each of the embedding and of the state, which together are as
// large as one that joins them.
constexpr std::array<Part, 4> kDeepSeekV4 = {
    {{"e_proj and h_proj", Width::kJoin},
     {"enorm", Width::kHidden},
     {"hnorm", Width::kHidden},
     {"norm", Width::kHidden}}};
constexpr std::array<Part, 4> kNemotron = {
    {{"eh_proj", Width::kJoin},
     {"enorm", Width::kHidden},
     {"hnorm", Width::kHidden},
     {"final_layernorm", Width::kHidden}}};

// GLM-5 and K-EXAONE do not write the table and the head once more.
constexpr std::array<Form, 12> kForms = {{
    {"DeepseekV4",
     "num_nextn_predict_layers",
     0,
     "mtp.{}",
     false,
     Model::kLast,
     kDeepSeekV4,
     {},
     false,
     false},
    {"NemotronH",
     "num_nextn_predict_layers",
     0,
     "mtp.layers.{}",
     false,
     Model::kBoth,
     kNemotron,
     {},
     false,
     false},
    {"DeepseekV3",
     "num_nextn_predict_layers",
     0,
     "model.layers.{}",
     true,
     Model::kLast,
     kDeepSeek,
     {},
     true,
     true},
    {"Glm4MoeForCausalLM",
     "num_nextn_predict_layers",
     0,
     "model.layers.{}",
     true,
     Model::kLast,
     kDeepSeek,
     {},
     true,
     true},
    {"Glm4MoeModel",
     "num_nextn_predict_layers",
     0,
     "model.layers.{}",
     true,
     Model::kLast,
     kDeepSeek,
     {},
     true,
     true},
    {"Glm4MoeLite",
     "num_nextn_predict_layers",
     1,
     "model.layers.{}",
     true,
     Model::kLast,
     kDeepSeek,
     {},
     true,
     true},
    {"GlmMoeDsa",
     "num_nextn_predict_layers",
     0,
     "model.layers.{}",
     true,
     Model::kLast,
     kDeepSeek,
     {},
     false,
     true},
    {"Qwen3Next",
     "",
     1,
     "mtp.layers.{}",
     false,
     Model::kAttention,
     {},
     kQwen,
     false,
     false},
    {"Qwen3_5",
     "mtp_num_hidden_layers",
     0,
     "mtp.layers.{}",
     false,
     Model::kAttention,
     {},
     kQwen,
     false,
     false},
    {"Exaone4_5_",
     "num_nextn_predict_layers",
     0,
     "mtp.layers.{}",
     false,
     Model::kLast,
     {},
     kQwen,
     false,
     false},
    {"MiMoV2Flash",
     "",
     3,
     "model.mtp.layers.{}",
     false,
     Model::kWindowed,
     kMimoV2,
     {},
     false,
     false},
    {"MiMoV2ForCausalLM",
     "",
     3,
     "model.mtp.layers.{}",
     false,
     Model::kWindowed,
     kMimoV2,
     {},
     false,
     false},
}};

const Form* FormOf(std::string_view class_name) {
  for (const Form& form : kForms) {
    if (class_name.starts_with(form.class_start)) return &form;
  }
  return nullptr;
}

// What the key says at the root or in the text model's part.
std::optional<int64_t> Stated(const ModelConfig& config, std::string_view key) {
  if (key.empty()) return std::nullopt;
  const ConfigValue* value = config.root.Find(key);
  const ConfigValue* part = config.root.Find("text_config");
  if (value == nullptr && part != nullptr) value = part->Find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  // As many as a configuration may claim without being absurd.
  constexpr int64_t kMost = 64;
  return std::clamp<int64_t>(value->AsInteger().value_or(0), 0, kMost);
}

// "mlp.gate.weight" of "model.layers.#.mlp.gate.weight"; empty outside the
// text model's layers.
std::string_view InLayer(const TensorGroup& group) {
  const std::string_view name = group.name;
  constexpr std::array<std::string_view, 4> kLayers = {
      "model.layers.#.", "model.language_model.layers.#.",
      "language_model.model.layers.#.", "layers.#."};
  for (const std::string_view start : kLayers) {
    if (name.starts_with(start)) return name.substr(start.size());
  }
  return {};
}

struct Run {
  int64_t first = 0;
  int64_t last = 0;
};

// The first index's runs: 0-2 and 4 of "0-2,4 x 0-63"; none of another form.
std::vector<Run> RunsOf(const TensorGroup& group) {
  std::vector<Run> out;
  std::string_view rest = group.indices;
  const size_t inner = rest.find(" x ");
  if (inner != std::string_view::npos) rest = rest.substr(0, inner);
  while (!rest.empty()) {
    Run run;
    const char* end = rest.data() + rest.size();
    auto [at, error] = std::from_chars(rest.data(), end, run.first);
    if (error != std::errc()) return out;
    run.last = run.first;
    if (at < end && *at == '-') {
      const auto [stop, bad] = std::from_chars(at + 1, end, run.last);
      if (bad != std::errc()) return out;
      at = stop;
    }
    out.push_back(run);
    if (at < end && *at == ',') ++at;
    rest = std::string_view(at, static_cast<size_t>(end - at));
  }
  return out;
}

int64_t RunLength(const TensorGroup& group) {
  int64_t sum = 0;
  for (const Run& run : RunsOf(group)) sum += run.last - run.first + 1;
  return sum;
}

bool IsAttention(std::string_view name) {
  return name.starts_with("self_attn.");
}

// The last layer that has a tensor whose name is of a kind.
template <class Is>
int64_t LastThat(Is is, const ParameterAnalysis& parameters, int64_t layers) {
  for (int64_t layer = layers - 1; layer >= 0; --layer) {
    for (const TensorGroup& group : parameters.tensors) {
      if (is(InLayer(group)) && HasLayer(group, layer)) return layer;
    }
  }
  return layers - 1;
}

// The layers that one of the further ones is made of, by Nemotron's pattern:
// attention and then experts. No other pattern is published.
bool HasOtherPattern(const ModelConfig& config, Model model) {
  if (model != Model::kBoth) return false;
  const ConfigValue* pattern = config.root.Find("mtp_hybrid_override_pattern");
  const auto text = pattern == nullptr ? std::nullopt : pattern->AsString();
  return !text || *text != "*E";
}

// The layer that a tensor of this name is copied from.
int64_t SourceOf(const Form& form, std::string_view name, int64_t layers,
                 int64_t last_attention) {
  switch (form.model) {
    case Model::kLast:
    case Model::kBoth:
      return layers - 1;
    case Model::kAttention:
      return last_attention;
    case Model::kWindowed:
      break;
  }
  if (name.starts_with("mlp.")) return 0;
  return layers >= 2 ? layers - 2 : layers - 1;
}

// The layer's tensors below `place`; a list of experts keeps its own index.
void CopyLayer(const Form& form, const ParameterAnalysis& parameters,
               int64_t layers, const std::string& place,
               std::vector<TensorGroup>& out) {
  const int64_t last_attention = LastThat(IsAttention, parameters, layers);
  const auto attends = [](std::string_view name) {
    return name.find("q_proj") != std::string_view::npos;
  };
  const auto chooses = [](std::string_view name) {
    return name.find("experts") != std::string_view::npos;
  };
  const bool is_both = form.model == Model::kBoth;
  const std::array<int64_t, 2> both = {
      is_both ? LastThat(attends, parameters, layers) : 0,
      is_both ? LastThat(chooses, parameters, layers) : 0};
  std::vector<TensorGroup> held = parameters.tensors;
  std::ranges::copy_if(parameters.buffers, std::back_inserter(held),
                       &TensorGroup::persistent);
  for (const TensorGroup& group : held) {
    const std::string_view name = InLayer(group);
    if (name.empty()) continue;
    const int64_t source = SourceOf(form, name, layers, last_attention);
    const int64_t times =
        is_both ? std::ranges::count_if(
                      both, [&](int64_t at) { return HasLayer(group, at); })
                : static_cast<int64_t>(HasLayer(group, source));
    if (times == 0) continue;
    TensorGroup copy = group;
    copy.name = fmt::format("{}.{}", place, name);
    const size_t inner = group.indices.find(" x ");
    const bool nests = inner != std::string::npos;
    copy.indices = nests ? group.indices.substr(inner + 3) : std::string();
    copy.count = times;
    if (nests) {
      copy.count = times * group.count / std::max<int64_t>(RunLength(group), 1);
    }
    out.push_back(std::move(copy));
  }
}

const TensorGroup* Table(const ParameterAnalysis& parameters) {
  for (const TensorGroup& group : parameters.tensors) {
    const std::string_view name = group.name;
    const bool is_table = name.ends_with("embed_tokens.weight") ||
                          name == "model.embeddings.weight";
    if (is_table && group.shape.rank() == 2) {
      return &group;
    }
  }
  return nullptr;
}

void AddParts(std::span<const Part> parts, const std::string& below,
              const TensorGroup& table, std::vector<TensorGroup>& out) {
  const int64_t hidden = table.shape[1];
  for (const Part& part : parts) {
    TensorGroup group;
    group.name = fmt::format("{}{}.weight", below, part.name);
    group.shape = part.width == Width::kJoin ? Shape({hidden, 2 * hidden})
                                             : Shape({hidden});
    group.dtype = table.dtype;
    group.part =
        part.width == Width::kJoin ? RegionKind::kLinear : RegionKind::kNorm;
    out.push_back(std::move(group));
  }
}

TensorGroup CopyOf(const TensorGroup& table, std::string name,
                   RegionKind part) {
  TensorGroup group;
  group.name = std::move(name);
  group.shape = table.shape;
  group.dtype = table.dtype;
  group.part = part;
  return group;
}

}  // namespace

bool HasLayer(const TensorGroup& group, int64_t layer) {
  return std::ranges::any_of(RunsOf(group), [layer](const Run& run) {
    return layer >= run.first && layer <= run.last;
  });
}

int64_t LayersNamed(const ParameterAnalysis& parameters) {
  int64_t layers = 0;
  for (const TensorGroup& group : parameters.tensors) {
    if (InLayer(group).empty()) continue;
    for (const Run& run : RunsOf(group)) {
      layers = std::max(layers, run.last + 1);
    }
  }
  return layers;
}

NextTokenLayers NextTokenLayersOf(const ModelConfig& config,
                                  std::string_view class_name,
                                  const ParameterAnalysis& parameters) {
  NextTokenLayers out;
  const Form* form = FormOf(class_name);
  const TensorGroup* table = Table(parameters);
  if (form == nullptr || table == nullptr) return out;
  if (HasOtherPattern(config, form->model)) return out;
  const int64_t layers = LayersNamed(parameters);
  if (layers == 0) return out;
  const auto stated = Stated(config, form->key);
  out.is_stated = stated.has_value();
  out.count = stated.value_or(form->otherwise);
  for (int64_t i = 0; i < out.count; ++i) {
    const std::string place = fmt::format(fmt::runtime(form->place),
                                          form->counts_on ? layers + i : i);
    if (i == 0) out.place = place;
    CopyLayer(*form, parameters, layers, place, out.tensors);
    AddParts(form->each, place + ".", *table, out.tensors);
    if (!form->has_copies) continue;
    out.copies.push_back(
        CopyOf(*table, place + ".embed_tokens.weight", RegionKind::kEmbedding));
    out.copies.push_back(
        CopyOf(*table, place + ".shared_head.head.weight", RegionKind::kHead));
  }
  if (out.count > 0) AddParts(form->once, "", *table, out.tensors);
  out.copies_usual = form->copies_usual;
  return out;
}

}  // namespace foretell
