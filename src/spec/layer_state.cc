#include "spec/layer_state.h"

#include "base/check.h"

namespace foretell {

std::string_view NameOf(LayerState::Kind kind) {
  switch (kind) {
    case LayerState::Kind::kNone:
      return "none";
    case LayerState::Kind::kFull:
      return "full";
    case LayerState::Kind::kSliding:
      return "sliding";
    case LayerState::Kind::kLatent:
      return "latent";
    case LayerState::Kind::kCross:
      return "cross";
    case LayerState::Kind::kRecurrent:
      return "recurrent";
    case LayerState::Kind::kUnknown:
      return "unknown";
  }
  FailCheck(__FILE__, __LINE__, "kind", "layer state without a name");
}

}  // namespace foretell
