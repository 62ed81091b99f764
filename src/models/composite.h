// A class of several parts: a text model of a family of its own beside towers
// for images or sounds, under the names of the class that holds them.
//
// In: the whole configuration, or the part of it that a view names, how the
// class holds its text model, and what adds its towers. Out: a model with the
// parameters of all parts, which states the text model's layers, context and
// what generation keeps. Its forward is
// that of text alone, where a family says how the class runs its text model;
// the towers' is not modelled.
// Source: transformers 5.23; the families name their files.
#ifndef FORETELL_MODELS_COMPOSITE_H_
#define FORETELL_MODELS_COMPOSITE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "models/layers/module.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

// What a class does of itself with text alone.
struct TextRun {
  // Its forward takes no use_cache.
  bool fills_cache = false;
  // The table of embeddings is given a copy of the ids, in which those of
  // images and films are zero.
  bool copies_ids = false;
  // The class's own loss of the scores of all tokens, of which it always makes
  // all; null: that of the text model's class.
  Tensor (*loss)(const Tensor& logits, const Tensor& labels) = nullptr;
};

struct CompositeForm {
  // The class of the text model with a head; empty: the one that its
  // model_type loads.
  std::string_view text_class = {};
  std::string_view text_type = {};  // of an absent model_type
  std::string_view text_key = "text_config";
  std::string_view text_name = "language_model";
  std::string_view base_name = "model";  // empty: parts lie at the root
  // The text model lies there with its head, not the head at the root.
  bool holds_head = false;
  // Its class is the whole although its name ends in "Model".
  bool is_whole = false;
  // tie_word_embeddings of the whole where it is not stated.
  bool ties = false;
  // The text model's own flag ties them, too.
  bool text_ties_too = false;
  // It alone does, and the whole's does not: the text model ties itself.
  bool text_alone_ties = false;
  // The class ties nothing, whatever is stated.
  bool never_ties = false;
  // Without a text_config, its keys stand at the root.
  bool may_be_flat = false;
  int64_t hidden = 4096;  // of a text_config that does not state it
  // Defaults of the whole's own text configuration, where they are not those of
  // the family: a key and a number or flag as JSON writes it.
  std::span<const std::pair<std::string_view, std::string_view>> text_defaults =
      {};
  // Builds the text model, where the class has one of its own that differs
  // from the family's of `text_class`.
  std::function<std::unique_ptr<Model>(
      const ConfigView& config, const Module& at, std::string_view class_name)>
      build_text = {};
  // Without it the forward is not modelled.
  std::optional<TextRun> run = std::nullopt;
};

// Adds a tower and what joins it to the text model of that width.
using AddPart = std::function<void(const Module& base, int64_t hidden)>;

// `before` and `after` stand on the two sides of the text model in the order
// of registration; either may be empty.
std::unique_ptr<Model> MakeComposite(const ConfigView& config,
                                     const Module& root,
                                     std::string_view class_name,
                                     const CompositeForm& form,
                                     const AddPart& before,
                                     const AddPart& after = {});

}  // namespace foretell

#endif  // FORETELL_MODELS_COMPOSITE_H_
