// BERT's configuration: its keys and what the class refuses; and how the
// families that share its keys differ.
//
// Source: transformers 5.23, models/bert/configuration_bert.py and the
// constructors of modeling_bert.py.
#ifndef FORETELL_MODELS_LAYERS_READ_BERT_H_
#define FORETELL_MODELS_LAYERS_READ_BERT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/layers/bert_layer.h"
#include "models/layers/classification.h"
#include "models/model.h"
#include "spec/config_view.h"

namespace foretell {

// What the class's head reads beside the base model's keys.
struct BertNeeds {
  bool activation = false;  // outside the layers
  bool labels = false;
  bool classifier_dropout = false;
};

// What the configuration classes with BERT's keys set differently.
struct BertDialect {
  int64_t vocabulary = 30522;
  int64_t padding = 0;
  bool pads_positions = false;  // that table has a row of padding too
  int64_t hidden = 768;
  int64_t layers = 12;
  int64_t heads = 12;
  int64_t intermediate = 3072;
  std::string_view activation = "gelu";
  double dropout = 0.1;  // both of the layers'
  // Of embedding_size, where the class has tables of a width of their own.
  std::optional<int64_t> embedding = std::nullopt;
  int64_t positions = 512;
  bool checks_heads = true;    // that they divide the width
  bool has_types = true;       // else nothing tells segments apart
  bool pads_by_number = true;  // else by `padding`, whatever the file says
  bool decodes = true;         // is_decoder and add_cross_attention are heeded
  // What a head's dropout is called, and its default where the layers' is not.
  std::string_view classifier_dropout = "classifier_dropout";
  std::optional<double> classifier_chance = std::nullopt;
};

struct BertConfig {
  BertLayerConfig layer;
  int64_t embedding = 0;  // the tables' width
  int64_t vocabulary = 0;
  int64_t positions = 0;
  int64_t types = 0;
  std::optional<int64_t> padding;  // as written: it may count from the end
  int64_t layers = 0;
  double classifier_dropout = 0;
  bool tie_embeddings = true;
  LabelConfig labels;
};

BertConfig ReadBert(const ConfigView& config, const BertNeeds& needs,
                    const BertDialect& dialect = {});

// Warns of a class for the next token whose attention looks ahead, and of one
// for gaps whose attention does not, as the library does.
void CheckDirection(const ConfigView& config, std::string_view class_name,
                    bool predicts_next, bool fills_gaps);

// What each layer keeps, and the stack.
void StateBertLayers(const BertConfig& config, Model& model);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_READ_BERT_H_
