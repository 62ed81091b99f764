#include "models/composite.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/views.h"
#include "models/family.h"

namespace foretell {
namespace {

class CompositeModel : public Model {
 public:
  CompositeModel(const Module& root, std::unique_ptr<Model> text,
                 std::string_view text_class, std::optional<TextRun> run)
      : root_(root),
        text_(std::move(text)),
        text_class_(text_class),
        run_(run) {
    stacks = text_->stacks;
    states = text_->states;
    context_length = text_->context_length;
  }

  Tensor Forward(const ForwardInputs& inputs) override {
    if (!run_) {
      root_.builder().Fail(fmt::format(
          "the operations of a class of several parts are not modelled; "
          "--class {} reads its text model alone",
          text_class_));
      return inputs.input_ids;
    }
    ForwardInputs own = inputs;
    own.fills_cache = run_->fills_cache;
    if (run_->loss != nullptr) return RunWithOwnLoss(own);
    if (!run_->copies_ids) return text_->Forward(own);
    const auto copy = [&] {
      const Tensor& ids = inputs.input_ids;
      const Tensor is_other = BitwiseOr(EqScalar(ids, 0), EqScalar(ids, 1));
      return FillWhere(CloneContiguous(ids), is_other, 0);
    };
    own.input_ids = copy();
    return text_->Forward(own);
  }

 private:
  // The class hands nothing on that says how many scores are wanted.
  Tensor RunWithOwnLoss(ForwardInputs& inputs) {
    if (!inputs.attention_mask.empty()) {
      root_.builder().Fail("which scores a mask leaves depends on the data");
    }
    inputs.fills_cache = inputs.fills_cache || inputs.prefill;
    inputs.prefill = false;
    const Tensor labels = inputs.labels;
    inputs.labels = Tensor();
    const Tensor logits = text_->Forward(inputs);
    return labels.empty() ? logits : run_->loss(logits, labels);
  }

  Module root_;
  std::unique_ptr<Model> text_;
  std::string text_class_;
  std::optional<TextRun> run_;
};

// Never built: what is wrong stands in the log.
class NoModel : public Model {
 public:
  Tensor Forward(const ForwardInputs& inputs) override {
    return inputs.input_ids;
  }
};

struct TextClass {
  const Family* family = nullptr;
  std::string_view with_head;
  std::string_view base;
};

std::optional<TextClass> ChooseText(const ConfigView& text,
                                    const CompositeForm& form) {
  TextClass out;
  if (!form.text_class.empty()) {
    text.Ignore({"model_type", "architectures"});
    out.family = FamilyOfClass(form.text_class);
    out.with_head = form.text_class;
  } else {
    const std::string type = text.Text({"model_type"}, form.text_type);
    text.Ignore({"architectures"});
    out.family = FamilyOfModelType(type);
    if (out.family == nullptr) {
      text.Problem("model_type",
                   fmt::format("names no family that is known here: \"{}\"",
                               type.substr(0, 60)),
                   "foretell models lists classes that are known");
      return std::nullopt;
    }
    out.with_head = out.family->classes.front();
  }
  for (const std::string_view name : out.family->classes) {
    if (name.ends_with("Model")) out.base = name;
    if (!out.base.empty()) break;
  }
  return out;
}

ConfigValue ValueOf(std::string_view json) {
  if (json == "true" || json == "false") {
    return ConfigValue::Bool(json == "true");
  }
  return ConfigValue::Number(std::string(json));
}

// The keys on the way to a view's own object: of "thinker_config.", one.
std::vector<std::string> StepsTo(const ConfigView& config) {
  std::vector<std::string> out;
  const std::string path = config.PathOf("");
  size_t from = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos;
       dot = path.find('.', from)) {
    out.push_back(path.substr(from, dot - from));
    from = dot + 1;
  }
  return out;
}

// The object that a view reads, in a copy of the configuration; made where it
// is missing.
ConfigValue* ObjectOf(const ConfigView& config, ModelConfig& copy) {
  ConfigValue* at = &copy.root;
  for (const std::string& step : StepsTo(config)) {
    if (at->Find(step) == nullptr) at->Set(step, ConfigValue::Object());
    at = at->Find(step);
    if (!at->is_object()) break;  // a problem that the view has told
  }
  return at;
}

// The text part's configuration with the tie that the whole decides, and with
// the defaults that are its own.
ModelConfig WithWhole(const ConfigView& config, const CompositeForm& form,
                      bool is_flat) {
  ModelConfig out = config.config();
  ConfigValue* holder = ObjectOf(config, out);
  ConfigValue* text =
      is_flat ? holder : holder->Find(std::string(form.text_key));
  const bool whole = config.Flag({"tie_word_embeddings"}, form.ties);
  const ConfigValue* own =
      text != nullptr ? text->Find("tie_word_embeddings") : nullptr;
  const bool own_ties = own != nullptr && own->AsBool().value_or(false);
  const bool ties = form.text_alone_ties
                        ? own_ties
                        : whole || (form.text_ties_too && own_ties);
  if (text == nullptr && holder->is_object()) {
    holder->Set(std::string(form.text_key), ConfigValue::Object());
    text = holder->Find(std::string(form.text_key));
  }
  if (text == nullptr || !text->is_object()) return out;
  text->Set("tie_word_embeddings", ConfigValue::Bool(ties && !form.never_ties));
  for (const auto& [key, json] : form.text_defaults) {
    if (text->Find(key) == nullptr) text->Set(key, ValueOf(json));
  }
  return out;
}

// The base model, built below the root for its head's sake, as a part of the
// whole's: names are told by the regions' chain. A family may have entered it
// more than once.
void MoveBase(Builder& builder, size_t first_new, RegionId root, RegionId whole,
              std::string_view name) {
  std::vector<Region>& regions = builder.graph().regions;
  std::string base;
  for (size_t i = first_new; i < regions.size(); ++i) {
    if (regions[i].parent != root) continue;
    if (base.empty()) base = regions[i].name;
    if (regions[i].name != base) continue;
    regions[i].parent = whole;
    regions[i].name = name;
  }
}

}  // namespace

std::unique_ptr<Model> MakeComposite(
    const ConfigView& config, const Module& root, std::string_view class_name,
    const CompositeForm& form, const AddPart& before, const AddPart& after) {
  const bool is_flat = form.may_be_flat && !config.Has(form.text_key);
  const ModelConfig changed = WithWhole(config, form, is_flat);
  ConfigView whole(changed, config.log());
  for (const std::string& step : StepsTo(config)) whole = whole.Nested(step);
  const ConfigView text = is_flat ? whole : whole.Nested(form.text_key);
  const auto chosen = ChooseText(text, form);
  if (!chosen) return std::make_unique<NoModel>();
  text.Ignore({"torch_dtype", "dtype", "_name_or_path", "use_cache",
               "quantization_config"});

  const bool is_base = class_name.ends_with("Model") && !form.is_whole;
  const Module base = is_base ? root : root.Child(form.base_name);
  const int64_t hidden = text.Size({"hidden_size"}, form.hidden);
  if (before) before(base, hidden);
  const auto build = [&](const Module& at, std::string_view name) {
    return form.build_text ? form.build_text(text, at, name)
                           : chosen->family->build(text, at, name);
  };
  Builder& builder = root.builder();
  std::unique_ptr<Model> model;
  if (is_base || form.holds_head) {
    const std::string_view name = is_base ? chosen->base : chosen->with_head;
    model = build(base.Child(form.text_name), name);
  } else {
    const size_t first_new = builder.graph().regions.size();
    model = build(root, chosen->with_head);
    MoveBase(builder, first_new, root.region(), base.region(), form.text_name);
  }
  if (after) after(base, hidden);
  std::optional<TextRun> run = form.run;
  if (run && !text.Flag({"use_cache"}, true)) run->fills_cache = false;
  return std::make_unique<CompositeModel>(root, std::move(model),
                                          chosen->with_head, run);
}

}  // namespace foretell
