// Where a question about serving asks for what lies outside it: launch lines
// read as a version reads them, what a version knows, cards, other models.
//
// Implemented by input/serving_source over the embedded data; answers get it
// with the request, so that they stay free of files.
#ifndef FORETELL_SPEC_SERVING_SOURCE_H_
#define FORETELL_SPEC_SERVING_SOURCE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/device.h"
#include "spec/engine_facts.h"
#include "spec/model_config.h"
#include "spec/serving.h"
#include "spec/timed_device.h"

namespace foretell {

class ServingSource {
 public:
  ServingSource() = default;
  ServingSource(const ServingSource&) = delete;
  ServingSource& operator=(const ServingSource&) = delete;
  virtual ~ServingSource() = default;

  // Of the described version that is nearest below `version`, else the oldest.
  // The reference lives as long as the source.
  virtual const EngineFacts& Facts(ServingEngine engine,
                                   const EngineVersion& version) const = 0;
  // Every described version, oldest first.
  virtual std::vector<EngineVersion> Versions(ServingEngine engine) const = 0;
  // The engine's arguments as `facts` reads them.
  virtual Launch Read(const EngineFacts& facts,
                      const LaunchLine& line) const = 0;
  // A model by its id or path; null where nothing is known of it.
  virtual std::shared_ptr<const ModelConfig> Model(
      std::string_view name) const = 0;
  // By the name that people write; nothing where there is none.
  virtual std::optional<ServingCard> Card(std::string_view name) const = 0;
  // The same with its kernels' times; null where no card, or several, have
  // the name.
  virtual std::shared_ptr<const TimedDevice> Timed(
      std::string_view name) const = 0;
};

// The engine's arguments as words without places, as a shell hands them over.
LaunchLine LineOfArguments(ServingEngine engine,
                           const std::vector<std::string>& arguments);

// A card of the catalogue as an engine meets it.
ServingCard CardOf(const Device& device);

}  // namespace foretell

#endif  // FORETELL_SPEC_SERVING_SOURCE_H_
