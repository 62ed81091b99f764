#include "analysis/checkpoint_surplus.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "analysis/next_token_layers.h"

namespace foretell {
namespace {

using Items = std::vector<SurplusItem>;

void AddPersistentBuffers(const ParameterAnalysis& parameters, Items& out) {
  SurplusItem item;
  item.what = "buffers of the class";
  item.presence = SurplusPresence::kAlways;
  // The Hub counts no tensor without a dimension (huggingface.js,
  // parse-safetensors-metadata.ts), and other counts may.
  SurplusItem single;
  single.what = "buffers of one number each, where a count includes them";
  for (const TensorGroup& buffer : parameters.buffers) {
    if (!buffer.persistent) continue;
    (buffer.shape.rank() == 0 ? single : item).tensors.push_back(buffer);
  }
  for (SurplusItem* found : {&item, &single}) {
    if (!found->tensors.empty()) out.push_back(std::move(*found));
  }
}

// Gemma 3n's and 4's layers that read others' keys and values: the published
// files hold projections of their own, which the class skips as it loads
// (Gemma4TextModel, _keys_to_ignore_on_load_unexpected).
void AddUnreadKeys(std::string_view class_name,
                   const ParameterAnalysis& parameters, Items& out) {
  if (!class_name.starts_with("Gemma4") && !class_name.starts_with("Gemma3n")) {
    return;
  }
  constexpr std::string_view kQuery = "self_attn.q_norm.weight";
  constexpr std::string_view kKey = "self_attn.k_norm.weight";
  SurplusItem item;
  item.what = "keys and values of layers that read others'";
  item.presence = SurplusPresence::kUsual;
  for (const TensorGroup& query : parameters.tensors) {
    if (!query.name.ends_with(kQuery)) continue;
    const auto key =
        std::ranges::find_if(parameters.tensors, [&](const TensorGroup& group) {
          return group.name.ends_with(kKey) && group.shape == query.shape;
        });
    if (key == parameters.tensors.end() || key->count >= query.count) continue;
    for (const TensorGroup& group : parameters.tensors) {
      const std::string_view name = group.name;
      const bool is_key = name.ends_with(kKey) ||
                          name.ends_with("self_attn.k_proj.weight") ||
                          name.ends_with("self_attn.v_proj.weight");
      if (!is_key || group.indices != key->indices) continue;
      item.tensors.push_back(group);
      item.tensors.back().count = query.count - key->count;
      item.tensors.back().indices.clear();
    }
  }
  if (!item.tensors.empty()) out.push_back(std::move(item));
}

void AddNextTokenLayers(const ModelConfig& config, std::string_view class_name,
                        const ParameterAnalysis& parameters, Items& out) {
  NextTokenLayers layers = NextTokenLayersOf(config, class_name, parameters);
  if (layers.count == 0) return;
  SurplusItem item;
  item.what = fmt::format("{} layer{} that predict{} further tokens, {}",
                          layers.count, layers.count == 1 ? "" : "s",
                          layers.count == 1 ? "s" : "", layers.place);
  item.tensors = std::move(layers.tensors);
  item.presence =
      layers.is_stated ? SurplusPresence::kAlways : SurplusPresence::kUsual;
  out.push_back(std::move(item));
  if (layers.copies.empty()) return;
  SurplusItem copies;
  copies.what = "their own copies of the embeddings and of the head";
  copies.tensors = std::move(layers.copies);
  copies.presence = layers.copies_usual ? SurplusPresence::kUsual
                                        : SurplusPresence::kSometimes;
  out.push_back(std::move(copies));
}

std::optional<int64_t> RowsOf(const ParameterAnalysis& parameters,
                              std::string_view ending) {
  for (const TensorGroup& group : parameters.tensors) {
    if (group.name.ends_with(ending) && group.shape.rank() == 2) {
      return group.shape[0];
    }
  }
  return std::nullopt;
}

// A tensor per layer beside `beside`, which is per layer too.
std::optional<TensorGroup> PerLayer(const ParameterAnalysis& parameters,
                                    std::string_view beside,
                                    std::string_view name, Shape shape,
                                    DType dtype) {
  for (const TensorGroup& group : parameters.tensors) {
    if (!group.name.ends_with(beside)) continue;
    TensorGroup out;
    out.name = group.name.substr(0, group.name.size() - beside.size());
    out.name += name;
    out.indices = group.indices;
    out.count = group.count;
    out.shape = shape;
    out.dtype = dtype;
    return out;
  }
  return std::nullopt;
}

void AddOne(std::string what, std::optional<TensorGroup> group,
            SurplusPresence presence, Items& out) {
  if (!group) return;
  SurplusItem item;
  item.what = std::move(what);
  item.tensors.push_back(*std::move(group));
  item.presence = presence;
  out.push_back(std::move(item));
}

// Whether the configuration was saved by a release before 4.`minor`.
bool IsSavedBefore(const ModelConfig& config, int64_t minor) {
  const ConfigValue* value = config.root.Find("transformers_version");
  const auto text = value == nullptr ? std::nullopt : value->AsString();
  if (!text) return false;
  if (!text->starts_with("4.")) return text->starts_with("3.");
  int64_t stated = 0;
  std::from_chars(text->data() + 2, text->data() + text->size(), stated);
  return stated < minor;
}

// GPT-NeoX saved its masks and angles until transformers 4.31 made those
// buffers non-persistent (models/gpt_neox/modeling_gpt_neox.py, _init_bias).
SurplusPresence OldNeoX(const ModelConfig& config) {
  return IsSavedBefore(config, 31) ? SurplusPresence::kUsual
                                   : SurplusPresence::kSometimes;
}

// Causal masks that older releases of the library saved with the weights.
void AddMasks(const ModelConfig& config, std::string_view class_name,
              const ParameterAnalysis& parameters, Items& out) {
  const auto add = [&](std::string_view beside, std::string_view name,
                       std::optional<int64_t> side, SurplusPresence presence) {
    if (!side) return;
    AddOne("masks of an older release, one a layer",
           PerLayer(parameters, beside, name, Shape({1, 1, *side, *side}),
                    DType::kBool),
           presence, out);
  };
  const ConfigValue* positions = config.root.Find("max_position_embeddings");
  const auto stated = positions ? positions->AsInteger() : std::nullopt;
  const auto one = [&](std::string_view beside, std::string_view name) {
    AddOne("the masks' value of an older release, one a layer",
           PerLayer(parameters, beside, name, Shape(), DType::kFloat32),
           SurplusPresence::kSometimes, out);
  };
  if (class_name.starts_with("GPT2")) {
    add("attn.c_attn.weight", "attn.bias", RowsOf(parameters, "wpe.weight"),
        SurplusPresence::kUsual);
    one("attn.c_attn.weight", "attn.masked_bias");
  } else if (class_name.starts_with("GPTNeoX")) {
    add("attention.query_key_value.weight", "attention.bias", stated,
        OldNeoX(config));
    one("attention.query_key_value.weight", "attention.masked_bias");
  } else if (class_name.starts_with("GPTJ") ||
             class_name.starts_with("CodeGen")) {
    one("attn.out_proj.weight", "attn.masked_bias");
  }
}

// Angles that were a buffer of every layer before the model had one for all.
void AddAngles(const ModelConfig& config, const ParameterAnalysis& parameters,
               Items& out) {
  for (const TensorGroup& buffer : parameters.buffers) {
    const std::string_view name = buffer.name;
    if (!name.ends_with("rotary_emb.inv_freq") &&
        !name.ends_with("rotary_pos_emb.inv_freq")) {
      continue;
    }
    AddOne("the angles of positions, once", buffer, SurplusPresence::kSometimes,
           out);
    constexpr std::string_view kRotary = "self_attn.rotary_emb.inv_freq";
    const auto attention = PerLayer(parameters, "self_attn.o_proj.weight",
                                    kRotary, buffer.shape, DType::kFloat32);
    AddOne("the angles of positions, in each layer", attention,
           SurplusPresence::kSometimes, out);
    AddOne("the angles of positions, in each layer",
           PerLayer(parameters, "attention.query_key_value.weight",
                    "attention.rotary_emb.inv_freq", buffer.shape,
                    DType::kFloat32),
           OldNeoX(config), out);
    return;
  }
}

// Buffers that the class no longer saves and older releases did.
void AddOldBuffers(const ParameterAnalysis& parameters, Items& out) {
  for (const TensorGroup& buffer : parameters.buffers) {
    if (buffer.persistent) continue;
    if (buffer.name.ends_with("position_ids")) {
      AddOne("the numbers of positions, a buffer of older releases", buffer,
             SurplusPresence::kSometimes, out);
    } else if (buffer.name.ends_with("attn.attention.bias")) {
      // GPT-Neo: layers with a window made theirs as they ran.
      TensorGroup half = buffer;
      half.count = buffer.count / 2;
      half.indices.clear();
      AddOne("masks of an older release, in each layer over all tokens", half,
             SurplusPresence::kSometimes, out);
    }
  }
}

// T5 saved by transformers 4 with tie_word_embeddings off holds a head of its
// own, which from release 5 on the class ties whatever the file says
// (models/t5/configuration_t5.py).
bool IsOldUntiedT5(const ModelConfig& config, std::string_view class_name) {
  const bool is_t5 = class_name.starts_with("T5") ||
                     class_name.starts_with("MT5") ||
                     class_name.starts_with("UMT5");
  if (!is_t5) return false;
  const ConfigValue* ties = config.root.Find("tie_word_embeddings");
  const bool is_off = ties != nullptr && !ties->AsBool().value_or(true);
  constexpr int64_t kAnyOfFour = 1000;
  return is_off && IsSavedBefore(config, kAnyOfFour);
}

// The publisher's converter wrote the table a second time, as the head
// (transformers, models/gemma4/convert_gemma4_weights.py, convert). Its files
// of the sizes without inputs per layer hold it; those for devices do not.
bool IsConvertedGemma4(const ModelConfig& config, std::string_view class_name) {
  if (!class_name.starts_with("Gemma4For")) return false;
  const ConfigValue* text = config.root.Find("text_config");
  const ConfigValue* inputs = (text == nullptr ? config.root : *text)
                                  .Find("hidden_size_per_layer_input");
  return inputs != nullptr && inputs->AsInteger() == 0;
}

// Whether the publisher's checkpoints hold a head that the class ties.
bool HoldsHeadApart(const ModelConfig& config, std::string_view class_name,
                    std::string_view name) {
  if (name != "lm_head.weight") return false;
  // Falcon's were written by code of its own that tied nothing: the index of
  // tiiuae/falcon-40b states 83,671,941,120 bytes, which is with the head.
  return class_name == "FalconForCausalLM" ||
         IsOldUntiedT5(config, class_name) ||
         IsConvertedGemma4(config, class_name);
}

void AddTies(const ModelConfig& config, std::string_view class_name,
             const ParameterAnalysis& parameters, Items& out) {
  // Heads first: of equal tensors the first is taken for the one stored.
  std::vector<TiedName> ties = parameters.ties;
  std::ranges::stable_partition(ties, [](const TiedName& tie) {
    return tie.name.find("head") != std::string::npos;
  });
  for (const TiedName& tie : ties) {
    for (const TensorGroup& group : parameters.tensors) {
      if (group.name != tie.target) continue;
      TensorGroup copy = group;
      copy.name = tie.name;
      const bool apart = HoldsHeadApart(config, class_name, tie.name);
      AddOne(tie.name + " although it is tied", copy,
             apart ? SurplusPresence::kUsual : SurplusPresence::kSometimes,
             out);
    }
  }
}

// The class's own head, where a checkpoint is of the base model.
void AddHeadLeftOut(std::string_view class_name,
                    const ParameterAnalysis& parameters, Items& out) {
  if (parameters.tensors.empty() || class_name.ends_with("Model")) return;
  const std::string& first = parameters.tensors.front().name;
  const size_t dot = first.find('.');
  if (dot == std::string::npos) return;
  const std::string base = first.substr(0, dot + 1);
  SurplusItem item;
  item.what = "the head left out, as a checkpoint of the base model does";
  item.left_out = true;
  for (const TensorGroup& group : parameters.tensors) {
    if (!group.name.starts_with(base)) item.tensors.push_back(group);
  }
  if (item.tensors.empty()) return;
  out.push_back(std::move(item));
}

}  // namespace

std::string_view NameOf(SurplusPresence presence) {
  switch (presence) {
    case SurplusPresence::kAlways:
      return "always";
    case SurplusPresence::kUsual:
      return "usually";
    case SurplusPresence::kSometimes:
      break;
  }
  return "sometimes";
}

int64_t SurplusItem::Elements() const {
  int64_t sum = 0;
  for (const TensorGroup& group : tensors) sum += group.Elements().value_or(0);
  return left_out ? -sum : sum;
}

std::vector<SurplusItem> CheckpointSurplus(
    const ModelConfig& config, std::string_view class_name,
    const ParameterAnalysis& parameters) {
  Items out;
  AddPersistentBuffers(parameters, out);
  AddUnreadKeys(class_name, parameters, out);
  AddNextTokenLayers(config, class_name, parameters, out);
  AddMasks(config, class_name, parameters, out);
  AddTies(config, class_name, parameters, out);
  AddAngles(config, parameters, out);
  AddOldBuffers(parameters, out);
  AddHeadLeftOut(class_name, parameters, out);
  std::ranges::stable_sort(out, {}, &SurplusItem::presence);
  return out;
}

std::optional<int64_t> ExpectedElements(const ParameterAnalysis& parameters,
                                        const std::vector<SurplusItem>& items) {
  if (!parameters.total.is_exact()) return std::nullopt;
  int64_t sum = parameters.total.exact();
  for (const SurplusItem& item : items) {
    if (item.presence != SurplusPresence::kSometimes) sum += item.Elements();
  }
  return sum;
}

std::optional<std::vector<size_t>> ExplainDifference(
    int64_t difference, const std::vector<SurplusItem>& items) {
  // More choices than anyone would follow, and 2^n grows.
  constexpr size_t kMostFree = 12;
  std::vector<size_t> fixed;
  std::vector<size_t> free;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].presence == SurplusPresence::kAlways) {
      fixed.push_back(i);
      difference -= items[i].Elements();
    } else if (free.size() < kMostFree) {
      free.push_back(i);
    }
  }
  std::optional<uint32_t> best;
  for (uint32_t choice = 0; choice < (uint32_t{1} << free.size()); ++choice) {
    int64_t sum = 0;
    for (size_t i = 0; i < free.size(); ++i) {
      if ((choice >> i & 1) != 0) sum += items[free[i]].Elements();
    }
    if (sum != difference) continue;
    if (!best || std::popcount(choice) < std::popcount(*best)) best = choice;
  }
  if (!best) return std::nullopt;
  for (size_t i = 0; i < free.size(); ++i) {
    if ((*best >> i & 1) != 0) fixed.push_back(free[i]);
  }
  std::ranges::sort(fixed);
  return fixed;
}

}  // namespace foretell
