#include "analysis/timing/closed_load.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace foretell {
namespace {

// Requests that are followed at most: a larger load is at rest after fewer
// waves.
constexpr int64_t kFollowed = 6000;

// Clients that are followed at most. Far more than run at once wait in line,
// and each further one makes the wait longer by as much as the last.
constexpr int64_t kMostClients = 4096;
constexpr int64_t kHalfClients = kMostClients / 2;

// Two irrational steps: fractions of their multiples are spread evenly, and
// not along one line.
constexpr double kPromptStride = 0.7548776662466927;
constexpr double kAnswerStride = 0.5698402909980532;

double Drawn(double most, double shortest, double stride, size_t index) {
  double whole = 0;
  const double share =
      std::modf(static_cast<double>(index + 1) * stride, &whole);
  return std::max(std::floor(most * (shortest + (1 - shortest) * share)), 1.0);
}

struct Request {
  double arrived = 0;
  double prompt = 1;  // tokens that are still to be read
  double answer = 1;
};

struct Running {
  double left = 0;  // tokens
};

class Following {
 public:
  Following(const StepCosts& costs, const ClosedLoad& load)
      : costs_(costs), clients_(std::max<int64_t>(load.clients, 1)) {
    const int64_t waves =
        load.waves <= 1
            ? 1
            : std::clamp<int64_t>(kFollowed / clients_, 2, load.waves);
    requests_.resize(static_cast<size_t>(clients_ * waves));
    for (size_t i = 0; i < requests_.size(); ++i) {
      requests_[i].prompt = Drawn(load.prompt, load.shortest, kPromptStride, i);
      requests_[i].answer = Drawn(load.answer, load.shortest, kAnswerStride, i);
    }
    sent_ = static_cast<size_t>(clients_);
  }

  double Mean() {
    while (done_ < requests_.size()) Step();
    return waited_ / static_cast<double>(requests_.size());
  }

 private:
  void Step() {
    if (since_ >= costs_.poll || running_.empty()) {
      seen_ = sent_;
      since_ = 0;
    }
    ++since_;
    const size_t begin = next_;
    const double read = ReadPrompts();
    const bool decodes = !running_.empty() && (costs_.is_mixed || read == 0);
    double seconds = decodes ? Decode(running_.size()) : 0;
    if (read > 0) seconds += costs_.prompt_token * read + costs_.prompt_step;
    const double steps = decodes && read == 0 ? Uneventful() : 1;
    now_ += seconds * steps;
    since_ += static_cast<int64_t>(steps) - 1;
    if (decodes) Answer(steps);
    for (size_t i = begin; i < next_; ++i) {
      waited_ += now_ - requests_[i].arrived;
      if (requests_[i].answer <= 1) {
        Finish();
      } else {
        running_.push_back({requests_[i].answer - 1});
      }
    }
  }

  // Tokens of prompts in this step; those read to their end are passed.
  double ReadPrompts() {
    double room = costs_.budget;
    if (costs_.is_mixed) room -= static_cast<double>(running_.size());
    double read = 0;
    const auto most = static_cast<size_t>(std::max<int64_t>(costs_.room, 1));
    size_t begun = running_.size();
    while (next_ < seen_ && room > 0 && begun < most) {
      Request& request = requests_[next_];
      const double part = std::min(request.prompt, room);
      request.prompt -= part;
      read += part;
      room -= part;
      if (request.prompt > 0) break;
      ++next_;
      ++begun;
    }
    return read;
  }

  double Decode(size_t batch) const {
    if (costs_.decode.size() < 2) {
      return costs_.decode.empty() ? 0 : costs_.decode[0];
    }
    const double at = std::log2(static_cast<double>(batch));
    const size_t below =
        std::min(static_cast<size_t>(at), costs_.decode.size() - 2);
    const double share = std::min(at - static_cast<double>(below), 1.0);
    return costs_.decode[below] * (1 - share) +
           costs_.decode[below + 1] * share;
  }

  // Steps until a request ends, or the engine looks for new ones.
  double Uneventful() const {
    double steps = running_.front().left;
    for (const Running& one : running_) steps = std::min(steps, one.left);
    if (seen_ < sent_) {
      steps = std::min(steps, static_cast<double>(costs_.poll - since_ + 1));
    }
    return std::max(steps, 1.0);
  }

  void Answer(double steps) {
    size_t kept = 0;
    for (Running& one : running_) {
      one.left -= steps;
      if (one.left > 0) {
        running_[kept++] = one;
      } else {
        Finish();
      }
    }
    running_.resize(kept);
  }

  // One is answered, and its client sends the next.
  void Finish() {
    ++done_;
    if (sent_ < requests_.size()) requests_[sent_++].arrived = now_;
  }

  const StepCosts& costs_;
  int64_t clients_;
  std::vector<Request> requests_;
  std::vector<Running> running_;
  size_t sent_ = 0;
  size_t seen_ = 0;
  size_t next_ = 0;  // whose prompt is read next
  size_t done_ = 0;
  int64_t since_ = 0;
  double now_ = 0;
  double waited_ = 0;
};

}  // namespace

double MeanFirstToken(const StepCosts& costs, const ClosedLoad& load) {
  if (load.clients <= kMostClients) return Following(costs, load).Mean();
  ClosedLoad fewer = load;
  fewer.clients = kHalfClients;
  const double half = Following(costs, fewer).Mean();
  fewer.clients = kMostClients;
  const double most = Following(costs, fewer).Mean();
  const double each =
      (most - half) / static_cast<double>(kMostClients - kHalfClients);
  return most +
         std::max(each, 0.0) * static_cast<double>(load.clients - kMostClients);
}

}  // namespace foretell
