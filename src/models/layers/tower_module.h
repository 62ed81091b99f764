// A part of a model by its parameters alone, with no forward: of a tower beside
// the text model, since images and sounds enter no text step, and of classes
// whose code comes with their weights.
//
// Source: torch 2.15, torch/nn/modules/{linear,normalization,conv,sparse}.py
// for the shapes; each tower names its own source.
#ifndef FORETELL_MODELS_LAYERS_TOWER_MODULE_H_
#define FORETELL_MODELS_LAYERS_TOWER_MODULE_H_

#include <cstdint>
#include <string_view>

#include "base/shape.h"
#include "models/layers/module.h"
#include "spec/config_view.h"

namespace foretell {

class TowerModule {
 public:
  explicit TowerModule(const Module& at) : at_(at) {}

  TowerModule Child(std::string_view name,
                    RegionKind kind = RegionKind::kOther) const {
    return TowerModule(at_.Child(name, kind));
  }
  TowerModule Child(int64_t index) const {
    return TowerModule(at_.Child(index, RegionKind::kBlock));
  }
  // [out, in], and [out].
  void Linear(std::string_view name, int64_t in, int64_t out, bool bias) const;
  // One product of an expert, of which `per_token` of `experts` serve a token.
  void ExpertLinear(std::string_view name, int64_t in, int64_t out,
                    int64_t experts, int64_t per_token) const;
  // [width] twice, or once.
  void LayerNorm(std::string_view name, int64_t width) const;
  void RmsNorm(std::string_view name, int64_t width) const;
  void Embedding(std::string_view name, int64_t rows, int64_t width) const;
  // Of its weight's first dim is the bias.
  void Convolution(std::string_view name, const Shape& weight, bool bias) const;
  void Parameter(std::string_view name, const Shape& shape) const;
  // A rotary embedding's buffers, `pairs` each.
  void Angles(std::string_view name, int64_t pairs) const;
  void PositionIds(int64_t positions) const;

  const Module& module() const { return at_; }

 private:
  Module at_;
};

// A size that is one number or a list with one for each axis.
struct Sides {
  int64_t first = 0;
  int64_t second = 0;
};
Sides ReadSides(const ConfigView& config, std::string_view key,
                int64_t otherwise);

// How many patches an image is cut into; a problem where a patch is larger
// than the image.
int64_t PatchesOf(const ConfigView& config, const Sides& image,
                  const Sides& patch);

// a * b of sizes that a configuration states, at most the largest size.
int64_t ProductOf(const ConfigView& config, std::string_view key, int64_t a,
                  int64_t b);

// Keys of a tower that no parameter's shape depends on.
void IgnoreTowerKeys(const ConfigView& config);

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_TOWER_MODULE_H_
