#include "answers/train_fits.h"

#include <algorithm>
#include <optional>

#include "answers/read_model.h"
#include "answers/step_checks.h"
#include "answers/train_text.h"

namespace foretell {
namespace {

constexpr int64_t kLargestBatch = 64;
constexpr int64_t kRank = 16;
constexpr int64_t kCards = 8;  // of one server

struct Method {
  std::string name;
  std::string option;
  TrainingJob job;
};

std::vector<Method> MethodsOf(TrainingJob job) {
  job.step.batch = 1;
  std::vector<Method> out;
  const auto add = [&](std::string name, std::string option) {
    out.push_back({std::move(name), std::move(option), job});
  };
  add("full", "--method full");
  job.step.checkpoint = true;
  job.loss = LossKind::kChunked;
  add("full, recomputed, chunked loss", "--checkpoint full --loss chunked");
  job.step.optimizer = "none";
  job.optimizer = "adamw_8bit";
  add("the same, 8-bit AdamW",
      "--checkpoint full --loss chunked --optimizer adamw_8bit");
  TrainingJob divided = job;
  divided.step.optimizer = "adamw_fused";
  divided.optimizer.clear();
  divided.sharding = Sharding::kFsdp2;
  divided.gpus = kCards;
  LoraSettings lora;
  lora.rank = kRank;
  lora.alpha = 2 * kRank;
  lora.targets = {"all-linear"};
  job.step.lora = lora;
  job.step.optimizer = "adamw_fused";
  job.optimizer.clear();
  add("LoRA, recomputed, chunked loss",
      "--method lora --checkpoint full --loss chunked");
  job.weights = WeightFormat::kNf4;
  add("QLoRA, recomputed, chunked loss",
      "--method qlora --checkpoint full --loss chunked");
  job = divided;
  add("full, FSDP 2 over 8 cards, recomputed, chunked loss",
      "--fsdp 2 --gpus 8 --checkpoint full --loss chunked");
  return out;
}

}  // namespace

std::variant<FitsAnswer, Refusal> AnswerFits(TrainRequest request,
                                             const std::vector<Device>& cards) {
  auto read = ReadWhole(request.config, request.build);
  if (auto* refusal = std::get_if<Refusal>(&read)) return std::move(*refusal);
  const ReadModel& whole = std::get<ReadModel>(read);
  request.job.step.dtype = whole.built.dtype;
  auto errors = CheckStep(whole, request.build, request.job.step);
  if (!errors.empty()) return Refusal{std::move(errors)};
  FitsAnswer out;
  out.name = request.config.catalogue ? request.config.catalogue->id
                                      : request.config.source;
  out.class_name = whole.built.class_name;
  out.setting = SettingOfFits(request.job);
  out.assumptions = AssumptionsOf(request.job);
  for (const Device& card : cards) out.cards.push_back(card.id);
  TrainModel model(request.config, request.build, whole.built);
  for (Method& method : MethodsOf(request.job)) {
    MethodRow row;
    row.method = std::move(method.name);
    row.option = std::move(method.option);
    row.cards.resize(cards.size());
    bool any = true;
    for (int64_t batch = 1; any && batch <= kLargestBatch; batch *= 2) {
      method.job.step.batch = batch;
      const auto memory = model.MemoryOf(method.job);
      if (const auto* refusal = std::get_if<Refusal>(&memory)) {
        if (batch == 1) return *refusal;
        break;
      }
      const TrainMemory& found = std::get<TrainMemory>(memory);
      any = false;
      for (size_t i = 0; i < cards.size(); ++i) {
        const FitVerdict verdict = JudgeFit(found, cards[i]);
        if (batch == 1) {
          row.needed = verdict.needed;
          row.cards[i].is_certain = verdict.fit != Fit::kCannotTell;
        }
        if (verdict.likely) row.cards[i].batch = batch;
        any = any || verdict.likely;
      }
    }
    out.methods.push_back(std::move(row));
  }
  return out;
}

}  // namespace foretell
