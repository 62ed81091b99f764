#include "models/layers/rwkv_block.h"

#include <utility>

#include "graph/ops/activations.h"
#include "graph/ops/creation.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/in_place.h"
#include "graph/ops/indexing.h"
#include "graph/ops/powers.h"
#include "graph/ops/views.h"
#include "graph/view_write.h"

namespace foretell {
namespace {

// Each token's place takes the one before it, which for the first token is the
// last that the state has seen.
Tensor Shift(const Module& time_shift, const Tensor& hidden, const Tensor& last,
             int64_t layer) {
  const auto pad = [&] {
    const Scope scope = time_shift.Enter();
    return ConstantPad(hidden, Shape{0, 0, 1, -1}, 0);
  };
  Tensor shifted = pad();
  if (!last.empty()) {
    const Tensor before = Select(last, 2, layer);
    CopyInto(Select(shifted, 1, 0), before);
  }
  return shifted;
}

// hidden * mix + shifted * (1 - mix)
Tensor Mix(const Tensor& hidden, const Tensor& shifted, const Tensor& mix) {
  const Tensor own = Mul(hidden, mix);
  return Add(own, Mul(shifted, RsubScalar(mix, 1)));
}

// sigmoid(receptance(mixed)), whose argument has its name until then.
Tensor Open(const Linear& receptance, const Tensor& mixed) {
  return Sigmoid(receptance.Forward(mixed));
}

// state[:, :, layer] = value
void Keep(const Tensor& state, int64_t layer, const Tensor& value) {
  CopyInto(Select(state, 2, layer), value);
}

struct Sums {
  Tensor numerator;
  Tensor denominator;
  Tensor largest;
};

// rwkv_linear_attention_cpu: gives the output; `sums` are those of the tokens
// before and become those of all.
Tensor WeighedSum(const Tensor& decay_parameter, const Tensor& first,
                  const Tensor& key, const Tensor& value, Sums& sums) {
  Builder& builder = key.builder();
  Tensor output = ZerosLike(key);
  if (sums.numerator.empty()) {
    const auto zeros = [&] {
      return ZerosLike(Select(key, 1, 0), DType::kFloat32);
    };
    sums.numerator = zeros();
    sums.denominator = zeros();
    sums.largest = SubScalar(zeros(), 1e38);
  }
  const Tensor decay = Neg(Exp(decay_parameter));
  // Python's names outlive each turn of the loop.
  Tensor now;
  Tensor brought;
  Tensor most;
  Tensor old_share;
  Tensor new_share;
  Tensor numerator;
  Tensor denominator;
  Tensor most_kept;
  const auto sum = [&](const Tensor& kept, const Tensor& added) {
    const Tensor old = Mul(old_share, kept);
    return Add(old, Mul(new_share, added));
  };
  const auto count = [&] {
    return Add(Mul(old_share, sums.denominator), new_share);
  };
  const int64_t tokens = key.size(1);
  for (int64_t i = 0; i < tokens; ++i) {
    now = To(Select(key, 1, i), DType::kFloat32);
    brought = Select(value, 1, i);
    most = Maximum(sums.largest, Add(now, first));
    old_share = Exp(Sub(sums.largest, most));
    new_share = Exp(Sub(Add(now, first), most));
    numerator = sum(sums.numerator, brought);
    denominator = count();
    {
      const Tensor written = To(Div(numerator, denominator), output.dtype());
      output = WriteThrough(output, Select(output, 1, i), [&](Tensor view) {
                 return CopyInto(std::move(view), written);
               }).base;
    }
    most_kept = Maximum(Add(sums.largest, decay), now);
    old_share = Exp(Sub(Add(sums.largest, decay), most_kept));
    new_share = Exp(Sub(now, most_kept));
    sums.numerator = sum(sums.numerator, brought);
    sums.denominator = count();
    sums.largest = most_kept;
    if (!builder.failure().empty()) break;
  }
  return output;
}

}  // namespace

RwkvAttention::RwkvAttention(const Module& at, const RwkvConfig& config,
                             int64_t index)
    : module(at),
      layer(index),
      time_decay(at.Parameter("time_decay", {config.attention})),
      time_first(at.Parameter("time_first", {config.attention})),
      mix_key(at.Parameter("time_mix_key", {1, 1, config.hidden})),
      mix_value(at.Parameter("time_mix_value", {1, 1, config.hidden})),
      mix_receptance(
          at.Parameter("time_mix_receptance", {1, 1, config.hidden})),
      time_shift(at.Child("time_shift")),
      key(at.Child("key", RegionKind::kLinear), config.hidden, config.attention,
          false),
      value(at.Child("value", RegionKind::kLinear), config.hidden,
            config.attention, false),
      receptance(at.Child("receptance", RegionKind::kLinear), config.hidden,
                 config.attention, false),
      output(at.Child("output", RegionKind::kLinear), config.attention,
             config.hidden, false) {}

Tensor RwkvAttention::Forward(const Tensor& hidden, RwkvState* state) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  Tensor receptances;
  Tensor keys;
  Tensor values;
  const auto extract = [&] {
    const Tensor shifted = Shift(
        time_shift, hidden, state != nullptr ? (*state)[1] : Tensor(), layer);
    keys = Mix(hidden, shifted, builder.Read(mix_key));
    values = Mix(hidden, shifted, builder.Read(mix_value));
    receptances = Mix(hidden, shifted, builder.Read(mix_receptance));
    keys = key.Forward(keys);
    values = value.Forward(values);
    receptances = Open(receptance, receptances);
    if (state != nullptr) Keep((*state)[1], layer, Select(hidden, 1, -1));
  };
  extract();
  Sums sums;
  if (state != nullptr) {
    sums.numerator = Select((*state)[2], 2, layer);
    sums.denominator = Select((*state)[3], 2, layer);
    sums.largest = Select((*state)[4], 2, layer);
  }
  const auto weigh = [&] {
    Sums running = sums;
    Tensor out = WeighedSum(builder.Read(time_decay), builder.Read(time_first),
                            keys, values, running);
    if (state != nullptr) sums = std::move(running);
    return out;
  };
  const Tensor weighed = weigh();
  if (state != nullptr) {
    Keep((*state)[2], layer, sums.numerator);
    Keep((*state)[3], layer, sums.denominator);
    Keep((*state)[4], layer, sums.largest);
  }
  return output.Forward(Mul(receptances, weighed));
}

RwkvFeedForward::RwkvFeedForward(const Module& at, const RwkvConfig& config,
                                 int64_t index)
    : module(at),
      layer(index),
      time_shift(at.Child("time_shift")),
      mix_key(at.Parameter("time_mix_key", {1, 1, config.hidden})),
      mix_receptance(
          at.Parameter("time_mix_receptance", {1, 1, config.hidden})),
      key(at.Child("key", RegionKind::kLinear), config.hidden,
          config.intermediate, false),
      receptance(at.Child("receptance", RegionKind::kLinear), config.hidden,
                 config.hidden, false),
      value(at.Child("value", RegionKind::kLinear), config.intermediate,
            config.hidden, false) {}

Tensor RwkvFeedForward::Forward(const Tensor& hidden, RwkvState* state) const {
  const Scope scope = module.Enter();
  Builder& builder = module.builder();
  const Tensor shifted = Shift(
      time_shift, hidden, state != nullptr ? (*state)[0] : Tensor(), layer);
  Tensor keys = Mix(hidden, shifted, builder.Read(mix_key));
  Tensor receptances = Mix(hidden, shifted, builder.Read(mix_receptance));
  const auto square = [&] {
    const auto raise = [&] { return Relu(key.Forward(keys)); };
    return PowScalar(raise(), 2);
  };
  keys = square();
  const Tensor values = value.Forward(keys);
  receptances = Open(receptance, receptances);
  if (state != nullptr) Keep((*state)[0], layer, Select(hidden, 1, -1));
  return Mul(receptances, values);
}

RwkvBlock::RwkvBlock(const Module& at, const RwkvConfig& config, int64_t layer)
    : module(at),
      pre_ln(layer == 0
                 ? std::optional<LayerNorm>(
                       std::in_place, at.Child("pre_ln", RegionKind::kNorm),
                       config.hidden, config.norm_epsilon)
                 : std::nullopt),
      ln1(at.Child("ln1", RegionKind::kNorm), config.hidden,
          config.norm_epsilon),
      ln2(at.Child("ln2", RegionKind::kNorm), config.hidden,
          config.norm_epsilon),
      attention(at.Child("attention", RegionKind::kMixer), config, layer),
      feed_forward(at.Child("feed_forward", RegionKind::kMlp), config, layer) {}

Tensor RwkvBlock::Forward(const Tensor& input, RwkvState* state) const {
  const CheckpointScope checkpoint(module.builder(), {input});
  const Scope scope = module.Enter();
  Tensor hidden = input;
  if (pre_ln) hidden = pre_ln->Forward(hidden);
  const Tensor attended = [&] {
    const Tensor normed = ln1.Forward(hidden);
    return attention.Forward(normed, state);
  }();
  hidden = Add(hidden, attended);
  const Tensor fed = [&] {
    const Tensor normed = ln2.Forward(hidden);
    return feed_forward.Forward(normed, state);
  }();
  hidden = Add(hidden, fed);
  return hidden;
}

}  // namespace foretell
