#include "graph/gradient.h"

#include <string>
#include <variant>

#include "base/check.h"

namespace foretell {

Gradient::Gradient(Builder& builder, OperationId operation,
                   std::span<const Tensor> grads, std::span<const Tensor> kept)
    : builder_(&builder),
      operation_(operation),
      grads_(grads),
      kept_(kept),
      gradients_(this->operation().input_count) {}

const Operation& Gradient::operation() const {
  return builder_->graph().operations[operation_.index];
}

bool Gradient::Needs(size_t input) const {
  const auto inputs = builder_->graph().InputsOf(operation());
  return builder_->ValueOf(inputs[input]).requires_grad;
}

const Tensor& Gradient::Kept(size_t operand) const {
  const auto saved = builder_->graph().SavedOf(operation());
  for (size_t i = 0; i < saved.size(); ++i) {
    if (saved[i].operand == operand) return kept_[i];
  }
  FORETELL_CHECK(false, std::string(operation().row->name) +
                            " does not keep operand " +
                            std::to_string(operand));
  return kept_[0];
}

bool Gradient::Keeps(size_t input) const {
  for (const Saved& saved : builder_->graph().SavedOf(operation())) {
    if (saved.operand == input) return true;
  }
  return false;
}

Tensor Gradient::Attached(size_t index) const {
  return builder_->Read(builder_->graph().InputsOf(operation())[index]);
}

const Tensor& Gradient::input(size_t index) const { return Kept(index); }

const Tensor& Gradient::output(size_t index) const {
  return Kept(operation().input_count + index);
}

Value Gradient::InputFacts(size_t index) const {
  return builder_->ValueOf(builder_->graph().InputsOf(operation())[index]);
}

Value Gradient::OutputFacts(size_t index) const {
  return builder_->ValueOf(builder_->graph().OutputsOf(operation())[index]);
}

const Attribute& Gradient::At(size_t attribute) const {
  return builder_->graph().AttributesOf(operation())[attribute];
}

size_t Gradient::attribute_count() const { return operation().attribute_count; }

int64_t Gradient::Integer(size_t attribute) const {
  return std::get<int64_t>(At(attribute));
}

double Gradient::Real(size_t attribute) const {
  return std::get<double>(At(attribute));
}

bool Gradient::Flag(size_t attribute) const {
  return std::get<bool>(At(attribute));
}

DType Gradient::Type(size_t attribute) const {
  return std::get<DType>(At(attribute));
}

Shape Gradient::Sizes(size_t attribute) const {
  return std::get<Shape>(At(attribute));
}

void Gradient::Give(size_t input, Tensor gradient) {
  gradients_[input] = std::move(gradient);
}

}  // namespace foretell
