#include "input/device_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/input_error.h"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct NameCase {
  const char* name;
  const char* id;
};

class DeviceNames : public ::testing::TestWithParam<NameCase> {};

TEST_P(DeviceNames, AreFound) {
  EXPECT_EQ(FindDevice(GetParam().name).id, GetParam().id);
}

INSTANTIATE_TEST_SUITE_P(
    AsPeopleWriteThem, DeviceNames,
    ::testing::Values(
        NameCase{"h100", "h100-sxm"}, NameCase{"H100-80GB", "h100-sxm"},
        NameCase{"NVIDIA H100 80GB HBM3", "h100-sxm"},
        NameCase{"rtx-4090", "rtx-4090"},
        NameCase{"NVIDIA GeForce RTX 4090", "rtx-4090"},
        NameCase{"RTX 4090 24GB", "rtx-4090"}, NameCase{"L40S-48GB", "l40s"},
        NameCase{"l4", "l4"}, NameCase{"a100-40gb", "a100-sxm-40gb"},
        NameCase{"A100-80GB", "a100-sxm-80gb"}, NameCase{"t4", "t4"},
        NameCase{"b200", "b200"}, NameCase{"MI300X", "mi300x"},
        NameCase{"Tesla P40", "p40"}));

std::string ErrorOf(const std::string& name) {
  try {
    FindDevice(name);
  } catch (const InputErrors& errors) {
    return ToString(errors.errors().front());
  }
  return "";
}

TEST(DeviceCatalogue, NamesNearOnesWhereNoneFits) {
  EXPECT_THAT(ErrorOf("rtx-4091"), HasSubstr("rtx-4090"));
  EXPECT_THAT(ErrorOf(""), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("-"), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf(std::string(100000, 'x')), Not(IsEmpty()));
  // A card of another size is not taken silently.
  EXPECT_THAT(ErrorOf("h100-40gb"), Not(IsEmpty()));
  EXPECT_THAT(ErrorOf("rtx 4090 48gb"), Not(IsEmpty()));
}

TEST(DeviceCatalogue, EveryRowReads) {
  const std::vector<Device> devices = AllDevices();
  EXPECT_GE(devices.size(), 200U);
  std::set<std::string> ids;
  for (const Device& device : devices) {
    EXPECT_TRUE(ids.insert(device.id).second) << device.id;
    EXPECT_FALSE(device.sources.empty()) << device.id;
    EXPECT_FALSE(device.total.is_exact()) << device.id;
    EXPECT_EQ(FindDevice(device.id).id, device.id);
  }
}

TEST(DeviceCatalogue, TotalsAreWhatRuntimesReport) {
  const Device h100 = FindDevice("h100");
  EXPECT_EQ(h100.total.provenance(), Provenance::kMeasured);
  EXPECT_NEAR(h100.total.any().value().value_or(0) / 1073741824, 79.18, 0.01);
  const Device pcie = FindDevice("h100-pcie");
  EXPECT_EQ(pcie.total.provenance(), Provenance::kEstimated);
  EXPECT_EQ(h100.capability, 90);
}

}  // namespace
}  // namespace foretell
