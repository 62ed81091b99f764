#include "report/present_model.h"

#include <utility>

#include "report/checkpoint_section.h"
#include "report/findings_section.h"

namespace foretell {
namespace {

void AddTensors(Document& document, std::string_view path,
                const std::vector<TensorGroup>& groups) {
  document.Touch(path);
  for (const TensorGroup& group : groups) {
    document.AddRow(path, {group.name, group.shape.ToString(),
                           NameOf(group.dtype), group.count,
                           group.indices.empty() ? Cell() : Cell(group.indices),
                           Count::Exact(group.Elements())});
  }
}

void AddCounts(Document& document, const ModelAnswer& answer, bool equation) {
  const ParameterAnalysis& parameters = answer.parameters;
  document.Set("parameters.total", parameters.total);
  document.Set("parameters.proof", answer.proof);
  document.Set("parameters.trainable", parameters.trainable);
  document.Set("parameters.active", parameters.active);
  document.Set("parameters.active_rule", answer.active_rule);
  document.Set("parameters.embedding", parameters.embedding);
  if (answer.published) {
    const auto total = static_cast<double>(answer.published->parameters);
    document.Set(
        "parameters.published",
        Parameters::Measured(total, total, total, answer.published->where));
  }
  for (const PartTotal& part : parameters.parts) {
    document.AddRow("parameters.parts", {NameOf(part.part), part.parameters});
  }
  if (!parameters.ties.empty()) {
    std::vector<std::string> ties;
    for (const TiedName& tie : parameters.ties) {
      ties.push_back(tie.name + " is " + tie.target);
    }
    document.Set("parameters.ties", std::move(ties));
  }
  if (equation) document.Set("parameters.equation", answer.equation);
}

void AddBesides(Document& document, const ModelAnswer& answer) {
  for (const SurplusItem& item : answer.besides) {
    document.AddRow("checkpoint.besides",
                    {item.what, item.Elements(), NameOf(item.presence)});
  }
}

void AddLayers(Document& document, const ModelAnswer& answer) {
  for (const LayerStack& stack : answer.stacks) {
    document.AddRow("layers.stacks", {stack.name, stack.layers});
  }
  if (answer.context.tokens) {
    document.Set("layers.context", Tokens::Exact(*answer.context.tokens));
  }
  document.Set("layers.context_source", answer.context.where);
}

void AddBytes(Document& document, const ModelAnswer& answer) {
  document.Set("bytes.weights", answer.stored);
  for (const auto& [dtype, bytes] : answer.weights) {
    document.AddRow("bytes.by_dtype", {NameOf(dtype), bytes});
  }
  document.Set("bytes.buffers", answer.parameters.buffer_bytes);
}

void AddQuantized(Document& document, const ModelAnswer& answer) {
  for (const QuantizedWeights& one : answer.quantized) {
    const double bits = BitsPerWeight(one);
    document.AddRow("quantized.formats", {one.name, one.file, one.memory,
                                          bits > 0 ? Cell(bits) : Cell()});
    for (const TypeBytes& type : one.types) {
      document.AddRow("quantized.types", {one.name, type.type, type.bytes});
    }
    for (const std::string& name : one.kept) {
      document.AddRow("quantized.kept", {one.name, name});
    }
    for (const std::string& text : one.assumed) {
      document.AddRow("quantized.assumed", {one.name, text});
    }
  }
}

void AddCache(Document& document, const ModelAnswer& answer) {
  document.Set("cache.dtype", NameOf(answer.cache_dtype));
  document.Set("cache.per_token", answer.cache.per_token);
  bool sliding = false;
  bool cross = false;
  bool recurrent = false;
  for (const StateGroup& group : answer.cache.groups) {
    const LayerState& state = group.state;
    const bool is_sliding = state.kind == LayerState::Kind::kSliding;
    sliding = sliding || is_sliding;
    cross = cross || state.kind == LayerState::Kind::kCross;
    recurrent = recurrent || state.kind == LayerState::Kind::kRecurrent;
    document.AddRow(
        "cache.groups",
        {NameOf(state.kind), group.layers, state.heads, state.key_dim,
         state.value_dim, is_sliding ? Cell(state.window) : Cell(),
         group.per_token});
  }
  if (sliding) {
    document.Set("cache.past_windows", answer.cache.per_token_past_windows);
  }
  if (cross) {
    document.Set("cache.per_encoder_token", answer.cache.per_encoder_token);
  }
  if (recurrent) document.Set("cache.recurrent", answer.cache.recurrent);
}

// What only a configuration tells.
void AddModel(Document& document, const ModelAnswer& answer,
              const ModelView& view) {
  document.Set("class", answer.class_name);
  document.Set("class_source", answer.class_source);
  if (!answer.part.empty()) document.Set("part", answer.part);
  document.Set("library", answer.library);
  document.Set("family", answer.family + ": " + answer.family_doc);
  document.Set("dtype", NameOf(answer.dtype));
  document.Set("dtype_source", answer.dtype_source);
  AddCounts(document, answer, view.equation);
  AddBesides(document, answer);
  AddLayers(document, answer);
  AddBytes(document, answer);
  AddQuantized(document, answer);
  AddCache(document, answer);
  if (view.tensors) {
    AddTensors(document, "tensors", answer.parameters.tensors);
    AddTensors(document, "buffers", answer.parameters.buffers);
  }
  for (const auto& [key, value] : answer.defaults) {
    document.AddRow("assumed", {key, value});
  }
}

}  // namespace

Document PresentModel(const ModelAnswer& answer, const ModelView& view) {
  Document document(ModelShape());
  document.Set("name", answer.name);
  document.Set("origin", answer.origin);
  if (!answer.class_name.empty()) AddModel(document, answer, view);
  if (answer.checkpoint) {
    SetCheckpoint(document, *answer.checkpoint,
                  answer.class_name.empty() ? Parameters::Unknown("the class")
                                            : answer.parameters.total,
                  view.most_differences);
  }
  std::vector<RuleNotRun> not_run;
  for (const auto& [rule, reason] : answer.rules_not_run) {
    not_run.push_back({rule, reason});
  }
  SetFindings(document, answer.findings, answer.rules_ran, not_run);
  return document;
}

}  // namespace foretell
