// Writing in place through a view of a tensor, where autograd records: x[:, 0]
// = y and the like.
//
// The write changes the whole tensor, so the whole tensor has a new place in
// autograd, and the view is seen anew from it. The node of the write gets the
// tensor's gradient, copies it, sees in the copy what was written, and writes
// there what is left for the view before the write. Names of the tensor and of
// the view are assigned what comes back:
//
//   auto written = WriteThrough(keys, Slice(keys, 3, 0, 128),
//                               [&](Tensor view) { return CopyInto(view, k);
//                               });
//   keys = written.base;
//
// Source of the rules: torch 2.15, torch/csrc/autograd/variable.cpp
// (VariableHooks::rebase_history, grad_fn) and functions/tensor.cpp
// (CopySlices::apply_impl), with view functions, as under a tensor mode.
#ifndef FORETELL_GRAPH_VIEW_WRITE_H_
#define FORETELL_GRAPH_VIEW_WRITE_H_

#include <functional>
#include <span>

#include "graph/builder.h"

namespace foretell {

struct ViewWrite {
  Tensor base;
  Tensor view;
};

// `view` comes from `base` through operations of one output each; `write` is
// one operation in place (graph/ops/in_place.h), whose result it returns.
ViewWrite WriteThrough(Tensor base, Tensor view,
                       const std::function<Tensor(Tensor)>& write);

// Sees in another tensor what `views` saw in theirs.
Tensor SeeAgain(Tensor base, std::span<const OperationId> views);

}  // namespace foretell

#endif  // FORETELL_GRAPH_VIEW_WRITE_H_
