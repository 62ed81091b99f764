#include "report/checkpoint_section.h"

#include <algorithm>
#include <array>
#include <utility>

namespace foretell {
namespace {

double BitsOf(const AnyFigure& bytes, const AnyFigure& elements) {
  return 8.0 * bytes.value().value_or(0) /
         std::max(elements.value().value_or(0), 1.0);
}

void SetAgainst(Document& document, const AgainstAnswer& against, size_t most) {
  if (!against.cannot_tell.empty()) {
    document.Set("against.cannot_tell", against.cannot_tell);
    return;
  }
  document.Set("against.names", against.names);
  document.Set("against.derived", against.derived);
  document.Set("against.stored", against.stored);
  document.Set("against.equal", against.equal);
  if (against.packed > 0) document.Set("against.packed", against.packed);
  document.Touch("against.kinds");
  for (const DifferenceKind kind :
       {DifferenceKind::kMissing, DifferenceKind::kSurplus,
        DifferenceKind::kShape, DifferenceKind::kDtype}) {
    document.AddRow("against.kinds", {NameOf(kind), against.CountOf(kind)});
  }
  for (const ExplainedTensors& item : against.explained) {
    document.AddRow("against.explained",
                    {item.what, item.count, Bytes::Exact(item.bytes)});
  }
  const size_t shown = std::min(most, against.differences.size());
  for (size_t i = 0; i < shown; ++i) {
    const TensorDifference& item = against.differences[i];
    const auto text = [](const std::string& value) {
      return value.empty() ? Cell() : Cell(value);
    };
    document.AddRow("against.differences",
                    {NameOf(item.kind), item.name, text(item.indices),
                     item.count, text(item.derived), text(item.stored)});
  }
  const size_t left = against.differences.size() - shown;
  if (left > 0) {
    document.Set("against.differences_left_out", static_cast<int64_t>(left));
  }
}

}  // namespace

SectionShape CheckpointSection() {
  return {
      .name = "stored",
      .title = "Stored",
      .doc = "What the headers of the files say; weights are not read.",
      .rows = {
          Optional(FieldRow("source", "Read from", CellType::kText,
                            "The folder or file.")),
          Optional(FieldRow("format", "Format", CellType::kText,
                            "safetensors, GGUF, PyTorch or ONNX.")),
          Optional(FieldRow("files", "Files", CellType::kInteger,
                            "How many files hold it.")),
          Optional(FieldRow("tensors", "Tensors", CellType::kInteger,
                            "How many tensors the files hold.")),
          Optional(FieldRow("file_bytes", "In the files", CellType::kFigure,
                            "Bytes of whole files, headers and padding "
                            "included.")),
          Optional(FieldRow("tensor_bytes", "Of tensors", CellType::kFigure,
                            "Bytes of the tensors as they are packed.")),
          Optional(FieldRow("stated_bytes", "Stated", CellType::kFigure,
                            "The total that the index states.")),
          Optional(FieldRow("elements", "Elements", CellType::kFigure,
                            "Stored elements; a word that packs several "
                            "counts once.")),
          Optional(FieldRow("bits_per_parameter", "Bits per parameter",
                            CellType::kReal,
                            "Bits of all tensors for each parameter of the "
                            "model.")),
          Optional(KeyedRow(
              "types", "By type", "One row an element type.",
              {{"type", "Type", CellType::kText,
                "The element type as the format names it."},
               {"tensors", "Tensors", CellType::kInteger,
                "How many tensors have it."},
               {"elements", "Elements", CellType::kFigure,
                "Stored elements of it."},
               {"bytes", "Bytes", CellType::kFigure, "Their bytes."},
               {"bits", "Bits each", CellType::kReal,
                "Bits of an element, scales within blocks included."}})),
          Optional(KeyedRow(
              "loading", "Host memory while loading",
              "What a loader's own copies of weights take.",
              {{"loader", "Loader", CellType::kText, "What loads it."},
               {"held", "Held", CellType::kFigure,
                "Bytes that the system cannot take back."},
               {"mapped", "Mapped", CellType::kFigure,
                "Bytes of files mapped, which it can."},
               {"rule", "As", CellType::kText, "What it does, and where."}})),
      }};
}

SectionShape AgainstSection() {
  return {
      .name = "against",
      .title = "Against the checkpoint",
      .doc = "Derived tensors beside stored ones, name by name.",
      .rows = {
          Optional(FieldRow("cannot_tell", "Not compared", CellType::kText,
                            "Why nothing was compared.")),
          Optional(FieldRow("names", "Names", CellType::kText,
                            "How names were compared.")),
          Optional(FieldRow("derived", "Derived", CellType::kInteger,
                            "Tensors of the model, ties once.")),
          Optional(FieldRow("stored", "Stored", CellType::kInteger,
                            "Tensors of the checkpoint.")),
          Optional(FieldRow("equal", "Equal", CellType::kInteger,
                            "Stored tensors that are as derived.")),
          Optional(FieldRow("packed", "Packed", CellType::kInteger,
                            "Weights that are stored packed, their bits "
                            "adding up.")),
          Optional(MapRow(
              "kinds", "Differences", "How many tensors differ.",
              {"kind", "Kind", CellType::kText,
               "missing, surplus, shape or dtype."},
              {"tensors", "Tensors", CellType::kInteger, "How many tensors."})),
          Optional(TableRow(
              "explained", "Beyond the class",
              "Stored tensors that are no parameter, and why they are there.",
              {{"what", "What", CellType::kText, "What they are."},
               {"tensors", "Tensors", CellType::kInteger, "How many."},
               {"bytes", "Bytes", CellType::kFigure, "Their bytes."}})),
          Optional(TableRow(
              "differences", "Which", "Tensors that differ alike are one row.",
              {{"kind", "Kind", CellType::kText,
                "missing, surplus, shape or dtype."},
               {"name", "Name", CellType::kText,
                "As stored; # stands for an index."},
               {"indices", "Indices", CellType::kText, "What # ranges over.",
                true},
               {"tensors", "Tensors", CellType::kInteger, "How many."},
               {"derived", "Derived", CellType::kText,
                "Shape and element type as derived.", true},
               {"stored", "Stored", CellType::kText,
                "Shape and element type as stored.", true}})),
          Optional(FieldRow("differences_left_out", "Rows left out",
                            CellType::kInteger,
                            "Rows that --json lists and this text does not.")),
      }};
}

void SetCheckpoint(Document& document, const ModelCheckpoint& checkpoint,
                   const Parameters& parameters, size_t most) {
  document.Set("stored.source", checkpoint.source);
  document.Set("stored.format", checkpoint.format);
  document.Set("stored.files", checkpoint.files);
  document.Set("stored.tensors", checkpoint.tensors);
  const CheckpointBytes& bytes = checkpoint.bytes;
  document.Set("stored.file_bytes", bytes.files);
  document.Set("stored.tensor_bytes", bytes.tensors);
  document.Set("stored.elements", bytes.elements);
  if (checkpoint.stated_bytes) {
    const auto stated = static_cast<double>(*checkpoint.stated_bytes);
    document.Set("stored.stated_bytes",
                 Bytes::Measured(stated, stated, stated, checkpoint.index));
  }
  if (parameters.is_exact() && bytes.tensors.is_exact()) {
    document.Set("stored.bits_per_parameter",
                 BitsOf(bytes.tensors.any(), parameters.any()));
  }
  for (const StoredType& type : bytes.types) {
    document.AddRow("stored.types",
                    {type.dtype, type.tensors, type.elements, type.bytes,
                     BitsOf(type.bytes.any(), type.elements.any())});
  }
  for (const LoaderMemory& loader : bytes.loaders) {
    document.AddRow("stored.loading",
                    {loader.loader, loader.held, loader.mapped, loader.rule});
  }
  if (checkpoint.against) SetAgainst(document, *checkpoint.against, most);
}

}  // namespace foretell
