// The set `gguf_bytes`: how large a GGUF file's tensors are.
//
// Rows are those of `llamacpp_memory` that state a file's size as llama.cpp
// prints it: the bytes of its tensors, without the header, in GiB with two or
// three decimals. The recipe named by `quant` decides them. Mixes that their
// makers choose per model (unsloth's UD-…) and the types of the fork
// ik_llama.cpp are no recipes of llama.cpp: such rows are left out. A file that
// is said to be MXFP4 is llama.cpp's MXFP4_MOE.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "answers/quantized_model.h"
#include "answers/score/score_sets.h"

namespace foretell {
namespace {

constexpr char kFile[] = "file";
constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// "4.58" was rounded to hundredths: 0.005.
double HalfOfLastDigit(std::string_view spelling) {
  const size_t dot = spelling.find('.');
  if (dot == std::string_view::npos) return 0.5;
  double half = 0.5;
  for (size_t i = dot + 1; i < spelling.size(); ++i) half /= 10;
  return half;
}

}  // namespace

Prediction PredictGgufBytes(const ScoreInput& input) {
  if (input.config == nullptr) return LeftOut{input.no_config};
  auto quant = input.settings.Text("quant");
  if (!quant) return LeftOut{"its quantization is not stated"};
  if (*quant == "MXFP4") quant = "MXFP4_MOE";
  if (FindGgufFileType(*quant) == nullptr) {
    return LeftOut{"its quantization is no recipe of llama.cpp"};
  }
  // A file's own name may say that its maker chose the mix.
  if (input.settings.Text("model").value_or("").find("-UD-") !=
      std::string::npos) {
    return LeftOut{"its quantization is no recipe of llama.cpp"};
  }
  const auto read = ReadModelOf(*input.config, {});
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    return std::vector<Predicted>{
        {kFile, AnyFigure::Unknown(Unit::kBytes, refusal->errors[0].what)}};
  }
  const auto weights =
      QuantizeModel(*input.config, std::get<ReadModel>(read), *quant);
  return std::vector<Predicted>{{kFile, weights->tensors.any()}};
}

std::vector<Measured> MeasureGgufBytes(const ConfigValue& row) {
  const ConfigValue* size = FieldAt(row, "file_size_gib");
  const auto number = size == nullptr ? std::nullopt : size->AsReal();
  if (!number || *number <= 0) return {};
  std::vector<std::string> groups;
  if (const ConfigValue* quant = FieldAt(row, "quant")) {
    groups.push_back("by_quant." + std::string(quant->AsString().value_or("")));
  }
  Measured out = MeasuredNumber(kFile, *number * kGiB, std::move(groups));
  const double half = HalfOfLastDigit(size->spelling()) * kGiB;
  out.low = out.value - half;
  out.high = out.value + half;
  return {out};
}

}  // namespace foretell
