#include "models/layers/module.h"

namespace foretell {

Module Module::Child(std::string_view name, RegionKind kind) const {
  if (name.empty()) return *this;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    return {*builder_, builder_->AddRegion(region_, name, kind)};
  }
  const Module outer = {
      *builder_,
      builder_->AddRegion(region_, name.substr(0, dot), RegionKind::kOther)};
  return outer.Child(name.substr(dot + 1), kind);
}

Module Module::Child(int64_t index, RegionKind kind) const {
  return Child(std::to_string(index), kind);
}

ParameterId Module::Parameter(std::string_view name, const Shape& shape) const {
  return builder_->AddParameter(region_, name, shape);
}

void Module::Buffer(std::string_view name, const Shape& shape, DType dtype,
                    bool persistent) const {
  builder_->AddBuffer(region_, name, shape, dtype, persistent);
}

void Module::MarkInputEmbeddings() const {
  builder_->graph().input_embeddings.push_back(region_);
}

void Module::MarkOutputEmbeddings() const {
  builder_->graph().output_embeddings = region_;
}

}  // namespace foretell
