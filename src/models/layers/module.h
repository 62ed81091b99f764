// A module under construction: where a layer registers its parameters, buffers
// and children, under the names that the model's own source gives them.
//
// Layers are small structs. Their constructor is the module's `__init__`: it
// registers, in the source's order. Their `Forward` is the module's `forward`.
//
//   struct Mlp {
//     explicit Mlp(const Module& at, int64_t width)
//         : up_proj(at.Child("up_proj", RegionKind::kLinear), width, 4 * width,
//                   false) {}
//     Linear up_proj;
//   };
#ifndef FORETELL_MODELS_LAYERS_MODULE_H_
#define FORETELL_MODELS_LAYERS_MODULE_H_

#include <string>
#include <string_view>

#include "graph/builder.h"

namespace foretell {

class Module {
 public:
  explicit Module(Builder& builder)
      : builder_(&builder), region_(builder.root()) {}

  // A registered submodule. A dotted name ("encoder.layer") makes one level
  // per part; an empty name is this module itself.
  Module Child(std::string_view name,
               RegionKind kind = RegionKind::kOther) const;
  // The submodule of that index in a ModuleList.
  Module Child(int64_t index, RegionKind kind = RegionKind::kOther) const;

  ParameterId Parameter(std::string_view name, const Shape& shape) const;
  void Buffer(std::string_view name, const Shape& shape, DType dtype,
              bool persistent) const;

  // What get_input_embeddings() and get_output_embeddings() of the model, or
  // of one that it holds, give.
  void MarkInputEmbeddings() const;
  void MarkOutputEmbeddings() const;

  Builder& builder() const { return *builder_; }
  RegionId region() const { return region_; }
  Scope Enter() const { return Scope(*builder_, region_); }

 private:
  Module(Builder& builder, RegionId region)
      : builder_(&builder), region_(region) {}

  Builder* builder_;
  RegionId region_;
};

}  // namespace foretell

#endif  // FORETELL_MODELS_LAYERS_MODULE_H_
