#include "input/checkpoint_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "input/checkpoint_limits.h"

namespace foretell {
namespace {

constexpr std::array<std::string_view, 7> kEndings = {
    ".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt", ".onnx"};

// What transformers' and Accelerate's trainers save beside a model, and
// llama.cpp's projectors of images.
constexpr std::array<std::string_view, 9> kNoModel = {
    "training_args.bin", "optimizer.", "scheduler.", "rng_state", "scaler.",
    "random_states_",    "sampler.",   "mmproj",     "imatrix"};

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

struct SetName {
  std::string stem;
  int count = 0;
  std::string ending;
};

// "STEM-00002-of-00003.gguf"
std::optional<SetName> ParseSetName(std::string_view name) {
  constexpr size_t kDigits = 5;
  constexpr std::string_view kOf = "-of-";
  const size_t dot = name.rfind('.');
  constexpr size_t kTail = 1 + kDigits + kOf.size() + kDigits;
  if (dot == std::string_view::npos || dot < kTail) return std::nullopt;
  const std::string_view tail = name.substr(dot - kTail, kTail);
  if (tail[0] != '-' || !IsDigits(tail.substr(1, kDigits)) ||
      tail.substr(1 + kDigits, kOf.size()) != kOf ||
      !IsDigits(tail.substr(kTail - kDigits))) {
    return std::nullopt;
  }
  SetName out;
  out.stem = name.substr(0, dot - kTail);
  for (const char c : tail.substr(kTail - kDigits)) {
    out.count = out.count * 10 + (c - '0');
  }
  out.ending = name.substr(dot);
  if (out.count < 1 || out.count > kMostFiles) return std::nullopt;
  return out;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  std::string out = fmt::format(
      "{}", fmt::join(names.begin(),
                      names.begin() +
                          static_cast<int64_t>(std::min(names.size(), kMost)),
                      ", "));
  if (names.size() > kMost) {
    out += fmt::format(" and {} more", names.size() - kMost);
  }
  return out;
}

}  // namespace

std::vector<std::string> SetOf(const std::string& file) {
  const auto set = ParseSetName(file);
  if (!set) return {file};
  std::vector<std::string> out;
  for (int i = 1; i <= set->count; ++i) {
    out.push_back(fmt::format("{}-{:05}-of-{:05}{}", set->stem, i, set->count,
                              set->ending));
  }
  return out;
}

bool IsWeightsName(std::string_view name) {
  for (const std::string_view other : kNoModel) {
    if (name.starts_with(other)) return false;
  }
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return name.ends_with(ending) && name.size() > ending.size();
  });
}

WeightsChoice ChooseWeights(const std::vector<std::string>& names) {
  static constexpr std::array<std::string_view, 4> kFirst = {
      "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
      "pytorch_model.bin.index.json"};
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const std::string_view name : kFirst) {
    if (has(name)) return {std::string(name), "", ""};
  }
  // The first file of each set; of sets with an index, the index.
  std::set<std::string> sets;
  for (const std::string& name : names) {
    if (!IsWeightsName(name)) continue;
    const auto set = ParseSetName(name);
    const std::string index =
        set ? set->stem + set->ending + ".index.json" : "";
    sets.insert(!set ? name : has(index) ? index : SetOf(name).front());
  }
  if (sets.empty()) {
    return {"", "holds no weights",
            "pass a folder with safetensors, GGUF, PyTorch or ONNX files"};
  }
  if (sets.size() == 1) return {*sets.begin(), "", ""};
  // One among them in the format that loaders take first.
  std::vector<std::string> safe;
  for (const std::string& name : sets) {
    if (name.find(".safetensors") != std::string::npos) safe.push_back(name);
  }
  if (safe.size() == 1) return {safe.front(), "", ""};
  const std::vector<std::string> all(sets.begin(), sets.end());
  return {"", fmt::format("holds {} checkpoints: {}", all.size(), Listed(all)),
          "pass the file that is meant"};
}

}  // namespace foretell
