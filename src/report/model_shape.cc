// What `foretell model` may say, in its order.
#include "report/checkpoint_section.h"
#include "report/findings_section.h"
#include "report/present_model.h"

namespace foretell {
namespace {

SectionShape Identity() {
  return {
      .rows = {
          FieldRow("name", "Model", CellType::kText,
                   "The model's id, or the file that was read."),
          FieldRow("origin", "Read from", CellType::kText,
                   "Where the configuration comes from, with its date."),
          Optional(FieldRow("class", "Class", CellType::kText,
                            "The class that the configuration builds.")),
          Optional(FieldRow("class_source", "Class from", CellType::kText,
                            "What told the class.")),
          Optional(FieldRow("part", "Part", CellType::kText,
                            "The nested configuration that alone was read.")),
          Optional(
              FieldRow("library", "Library", CellType::kText,
                       "The library and version whose class is followed.")),
          Optional(FieldRow("family", "Family", CellType::kText,
                            "What the family's layers are.")),
          Optional(FieldRow("dtype", "Dtype", CellType::kText,
                            "The element type of the parameters.")),
          Optional(FieldRow("dtype_source", "Dtype from", CellType::kText,
                            "What told the dtype.")),
      }};
}

SectionShape Counts() {
  return {
      .name = "parameters",
      .title = "Parameters",
      .doc = "How many numbers the model learns, each storage once.",
      .rows = {
          Optional(FieldRow("total", "Total", CellType::kFigure,
                            "All parameters, tied names once.")),
          Optional(FieldRow("proof", "Counted", CellType::kText,
                            "What shows that the total is the model's own: the "
                            "library's class, a published total, or a "
                            "description alone.")),
          Optional(FieldRow("trainable", "Trainable", CellType::kFigure,
                            "Those that take a gradient.")),
          Optional(FieldRow("active", "Active per token", CellType::kFigure,
                            "Those that take part in one token's forward.")),
          Optional(FieldRow("active_rule", "Counted as", CellType::kText,
                            "How the active parameters are counted.")),
          Optional(
              FieldRow("embedding", "Embeddings alone", CellType::kFigure,
                       "Of the total: look-up tables that are not also the "
                       "output head.")),
          Optional(FieldRow("published", "Published", CellType::kFigure,
                            "The total that was published for the "
                            "checkpoint.")),
          Optional(BarsRow(
              "parts", "By part", "The total by what it is for.",
              {"part", "Part", CellType::kText, "What the parameters are for."},
              {"parameters", "Parameters", CellType::kFigure,
               "How many there are."})),
          Optional(FieldRow("ties", "Tied", CellType::kTexts,
                            "Names that are another parameter's storage.")),
          Optional(PreformattedRow("equation", "As a sum",
                                   "The total as a sum of products.")),
      }};
}

SectionShape Besides() {
  return {
      .name = "checkpoint",
      .title = "What a checkpoint holds besides",
      .doc = "Tensors of published checkpoints that the class does not have.",
      .rows = {
          Optional(TableRow(
              "besides", "Beyond the class",
              "What a checkpoint of this class holds or may hold more; below "
              "zero what it may lack.",
              {{"what", "What", CellType::kText, "Which tensors."},
               {"elements", "Elements", CellType::kInteger,
                "In all these tensors, each counted once."},
               {"presence", "Present", CellType::kText,
                "always: the class saves it or the configuration states it; "
                "usually: in its publisher's checkpoint; sometimes: in those "
                "that some release or tool wrote."}})),
      }};
}

SectionShape Layers() {
  return {
      .name = "layers",
      .title = "Layers and context",
      .doc = "How deep the model is and how far its positions reach.",
      .rows = {
          Optional(TableRow(
              "stacks", "Stacks", "The stacks of equal or similar blocks.",
              {{"stack", "Stack", CellType::kText, "Which stack."},
               {"layers", "Layers", CellType::kInteger,
                "How many layers it has."}})),
          Optional(FieldRow("context", "Context", CellType::kFigure,
                            "The longest sequence that positions are made for; "
                            "absent where they are not bounded.")),
          Optional(FieldRow("context_source", "Context from", CellType::kText,
                            "The key that states it, and its scaling.")),
      }};
}

SectionShape QuantizedSection() {
  return {
      .name = "quantized",
      .title = "Quantized",
      .doc = "Bytes of the weights in other formats.",
      .rows = {
          Optional(TableRow(
              "formats", "By format",
              "The configuration's own quantization first, then those asked "
              "for.",
              {{"format", "Format", CellType::kText, "Its name."},
               {"file", "In the file", CellType::kFigure,
                "Bytes of the file, header included."},
               {"memory", "In memory", CellType::kFigure,
                "Bytes that the loaded weights take."},
               {"bits", "Bits a weight", CellType::kReal,
                "Bits of the file's tensors for each element of the class.",
                true}})),
          Optional(TableRow(
              "types", "By element type", "What the tensors are made of.",
              {{"format", "Format", CellType::kText, "Its name."},
               {"type", "Type", CellType::kText,
                "As safetensors or GGUF spells it."},
               {"bytes", "Bytes", CellType::kFigure, "Bytes in the file."}})),
          Optional(TableRow(
              "kept", "Not quantized",
              "Matrices that stay as they are, those of equal layers folded.",
              {{"format", "Format", CellType::kText, "Its name."},
               {"tensor", "Tensor", CellType::kText, "Its name."}})),
          Optional(
              TableRow("assumed", "Assumed", "What was taken for granted.",
                       {{"format", "Format", CellType::kText, "Its name."},
                        {"assumption", "Assumption", CellType::kText,
                         "What holds unless the tool was told otherwise."}})),
      }};
}

SectionShape Memory() {
  return {.name = "bytes",
          .title = "Bytes",
          .doc = "What the weights and buffers take.",
          .rows = {
              Optional(FieldRow(
                  "weights", "Weights", CellType::kFigure,
                  "The parameters in the dtype above; unknown where the file "
                  "is quantized.")),
              Optional(TableRow(
                  "by_dtype", "Weights by dtype",
                  "The plain parameters in each usual dtype.",
                  {{"dtype", "Dtype", CellType::kText, "The element type."},
                   {"bytes", "Bytes", CellType::kFigure,
                    "What all parameters take."}})),
              Optional(FieldRow(
                  "buffers", "Buffers", CellType::kFigure,
                  "Tensors that are no parameters, in their own dtypes.")),
          }};
}

SectionShape Cache() {
  return {.name = "cache",
          .title = "Kept while generating",
          .doc = "Keys and values of one sequence, in the dtype named.",
          .rows = {
              Optional(FieldRow("dtype", "Dtype", CellType::kText,
                                "The element type of keys and values.")),
              Optional(FieldRow(
                  "per_token", "Per token", CellType::kFigure,
                  "What each further token adds, all layers together.")),
              Optional(FieldRow(
                  "past_windows", "Past the windows", CellType::kFigure,
                  "What each further token adds once every sliding "
                  "window is full.")),
              Optional(FieldRow(
                  "per_encoder_token", "Per input token", CellType::kFigure,
                  "Cross-attention's keys and values, per token of "
                  "the encoder's input.")),
              Optional(FieldRow(
                  "recurrent", "Per sequence", CellType::kFigure,
                  "Recurrent states, in float32, and the inputs that their "
                  "convolutions look back on: the same for any length.")),
              Optional(TableRow(
                  "groups", "By layer", "Layers that keep the same state.",
                  {{"kind", "Kind", CellType::kText,
                    "full, sliding or cross attention, or recurrent."},
                   {"layers", "Layers", CellType::kInteger, "How many layers."},
                   {"heads", "Heads", CellType::kInteger,
                    "Key and value heads of a layer; channels or heads of a "
                    "recurrent state."},
                   {"key_dim", "Key dim", CellType::kInteger,
                    "Elements of a head's key, or a state's along it."},
                   {"value_dim", "Value dim", CellType::kInteger,
                    "Elements of a head's value, or a state's along it."},
                   {"window", "Window", CellType::kInteger,
                    "Tokens that a sliding layer keeps.", true},
                   {"per_token", "Per token", CellType::kFigure,
                    "Bytes of one token, all these layers."}})),
          }};
}

SectionShape Tensors() {
  const std::vector<ColumnShape> columns = {
      {"name", "Name", CellType::kText,
       "The name in the state_dict; # stands for an index."},
      {"shape", "Shape", CellType::kText, "The extents."},
      {"dtype", "Dtype", CellType::kText, "The element type."},
      {"count", "Count", CellType::kInteger,
       "How many tensors the name stands for."},
      {"indices", "Indices", CellType::kText, "What # ranges over.", true},
      {"elements", "Elements", CellType::kFigure, "Of all these tensors."}};
  return {
      .rows = {
          Optional(TableRow("tensors", "Parameters by name",
                            "Every parameter, equal layers folded.", columns)),
          Optional(TableRow("buffers", "Buffers by name",
                            "Every buffer, equal layers folded.", columns)),
      }};
}

SectionShape Assumptions() {
  return {.rows = {
              Optional(TableRow(
                  "assumed", "Taken from the class, as the file does not say",
                  "Defaults of the class that were used.",
                  {{"key", "Key", CellType::kText, "The absent key."},
                   {"value", "Value", CellType::kText,
                    "The class's default, as JSON."}})),
          }};
}

}  // namespace

const DocumentShape& ModelShape() {
  static const DocumentShape shape = {
      .name = "model",
      .title = "What the model is made of",
      .doc =
          "A model's parameters, layers, bytes and per-token state, from "
          "its configuration alone, and what the headers of a checkpoint "
          "say beside it.",
      .sections = {Identity(), Counts(), Besides(), Tensors(), Layers(),
                   Memory(), QuantizedSection(), CheckpointSection(),
                   AgainstSection(), Cache(), Assumptions(),
                   FindingsSection()}};
  return shape;
}

}  // namespace foretell
