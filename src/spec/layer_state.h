// What generation keeps, per layer, and how far positions reach: stated by a
// family, read by cache analyses and engines.
//
// Plain data; heads and dims are per layer, before any splitting over devices.
#ifndef FORETELL_SPEC_LAYER_STATE_H_
#define FORETELL_SPEC_LAYER_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace foretell {

// What one layer keeps for each token, or once, while text is generated.
// Engines' caches are computed from this, not from operations.
struct LayerState {
  enum class Kind : uint8_t {
    kNone,     // an encoder's layer keeps nothing
    kFull,     // keys and values of every token
    kSliding,  // keys and values of the last `window` tokens
    // One narrow row of every token, from which keys and values are widened
    // (key_dim), and the turned part of its key (value_dim).
    kLatent,
    kCross,  // keys and values of the encoder's output, made once
    // A state of one size, whatever the length, in float32: heads x key_dim x
    // value_dim; and the last inputs of a short convolution.
    kRecurrent,
    kUnknown,  // something that is not modelled
  };
  Kind kind = Kind::kNone;
  int64_t heads = 0;          // key and value heads
  int64_t key_dim = 0;        // per head
  int64_t value_dim = 0;      // per head
  int64_t window = 0;         // tokens; of kSliding
  int64_t index_dim = 0;      // of kLatent: of an indexer's key, if it has one
  int64_t conv_channels = 0;  // of kRecurrent
  int64_t conv_tokens = 0;
  friend bool operator==(const LayerState&, const LayerState&) = default;
};

std::string_view NameOf(LayerState::Kind kind);  // "full", "sliding", …

// A stack of equal or similar blocks: "decoder", 36 layers.
struct LayerStack {
  std::string name;
  int64_t layers = 0;
};

struct ContextLength {
  std::optional<int64_t> tokens;  // nothing where positions are unbounded
  std::string where;  // "max_position_embeddings (rope yarn, factor 4)"
};

}  // namespace foretell

#endif  // FORETELL_SPEC_LAYER_STATE_H_
