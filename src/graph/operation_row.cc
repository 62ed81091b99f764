#include "graph/operation_row.h"

#include <algorithm>

#include "base/check.h"
#include "graph/ops/activations.h"
#include "graph/ops/attention.h"
#include "graph/ops/compare.h"
#include "graph/ops/complex.h"
#include "graph/ops/convolution.h"
#include "graph/ops/creation.h"
#include "graph/ops/deviation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/foreach.h"
#include "graph/ops/fused.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/loss.h"
#include "graph/ops/matmul.h"
#include "graph/ops/optimizer.h"
#include "graph/ops/powers.h"
#include "graph/ops/reduction.h"
#include "graph/ops/sorting.h"
#include "graph/ops/views.h"

namespace foretell {

const Value& OperationArguments::input(size_t index) const {
  FORETELL_CHECK(index < inputs_.size(), "an operation lacks an input");
  return *inputs_[index];
}

int64_t OperationArguments::Integer(size_t index) const {
  FORETELL_CHECK(index < attributes_.size(), "an operation lacks an attribute");
  return std::get<int64_t>(attributes_[index]);
}

bool OperationArguments::Flag(size_t index) const {
  FORETELL_CHECK(index < attributes_.size(), "an operation lacks an attribute");
  return std::get<bool>(attributes_[index]);
}

DType OperationArguments::Type(size_t index) const {
  FORETELL_CHECK(index < attributes_.size(), "an operation lacks an attribute");
  return std::get<DType>(attributes_[index]);
}

const Shape& OperationArguments::Sizes(size_t index) const {
  FORETELL_CHECK(index < attributes_.size(), "an operation lacks an attribute");
  return std::get<Shape>(attributes_[index]);
}

std::span<const OperationRow* const> AllOperations() {
  static const std::vector<const OperationRow*>* const table = [] {
    auto* rows = new std::vector<const OperationRow*>();
    for (const auto kind :
         {ViewOperations(), ComplexOperations(), ElementwiseOperations(),
          MatmulOperations(), ReductionOperations(), IndexingOperations(),
          CreationOperations(), AttentionOperations(), LossOperations(),
          ActivationOperations(), FusedOperations(), InPlaceOperations(),
          SortingOperations(), ConvolutionOperations(), ForeachOperations(),
          OptimizerOperations(), CompareOperations(), PowerOperations(),
          DeviationOperations()}) {
      rows->insert(rows->end(), kind.begin(), kind.end());
    }
    std::ranges::sort(*rows, {}, &OperationRow::name);
    return rows;
  }();
  return *table;
}

const OperationRow* FindOperation(std::string_view name) {
  for (const OperationRow* row : AllOperations()) {
    if (row->name == name) return row;
  }
  return nullptr;
}

}  // namespace foretell
