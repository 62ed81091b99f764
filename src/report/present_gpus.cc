#include "report/present_gpus.h"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace foretell {
namespace {

// "9.0"; nothing where the card has none.
Cell CapabilityCell(const Device& device) {
  if (device.capability == 0) return {};
  return fmt::format("{}.{}", device.capability / 10, device.capability % 10);
}

Cell CellOf(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

Cell RateOf(const Device& device, const char* dtype) {
  const auto at = device.dense_tflops.find(dtype);
  return at == device.dense_tflops.end() ? Cell() : Cell(at->second);
}

template <typename Value>
void SetIf(Document& document, std::string_view path, const Value& value) {
  if (value) document.Set(path, *value);
}

void SetIf(Document& document, std::string_view path, const std::string& text) {
  if (!text.empty()) document.Set(path, text);
}

}  // namespace

const DocumentShape& GpusShape() {
  static const DocumentShape shape = {
      .name = "gpus",
      .title = "Accelerators of the catalogue",
      .doc =
          "Which accelerators are known by name, with what their makers say "
          "of them.",
      .sections = {
          {.rows = {
               FieldRow("found", "Found", CellType::kInteger,
                        "How many match."),
               FieldRow("measured", "Of these measured", CellType::kInteger,
                        "For how many of them kernel times were measured."),
               TableRow(
                   "gpus", "Accelerators", "Those that match, by id.",
                   {{"id", "Id", CellType::kText, "The name for --gpu."},
                    {"arch", "Architecture", CellType::kText,
                     "The maker's name of its generation."},
                    {"memory_gb", "GB", CellType::kReal,
                     "The memory's size as it is sold.", true},
                    {"bandwidth_gbs", "GB/s", CellType::kReal,
                     "The memory's bandwidth, 1e9 bytes a second.", true},
                    {"bf16_tflops", "bf16", CellType::kReal,
                     "Dense peak of bfloat16, 1e12 operations a second.", true},
                    {"fp8_tflops", "fp8", CellType::kReal, "The same of fp8.",
                     true},
                    {"power_w", "W", CellType::kReal,
                     "The board's power limit.", true},
                    {"measured", "Measured", CellType::kFlag,
                     "Whether kernel times of the card were measured."}}),
           }}}};
  return shape;
}

Document PresentGpus(const GpusAnswer& answer) {
  Document document(GpusShape());
  document.Set("found", answer.rows.size());
  document.Set("measured", answer.measured);
  document.Touch("gpus");
  for (const GpusRow& row : answer.rows) {
    const Device& device = row.device;
    document.AddRow("gpus", {device.id, device.arch, CellOf(device.nominal_gb),
                             CellOf(device.bandwidth_gbs),
                             RateOf(device, "bf16"), RateOf(device, "fp8"),
                             CellOf(device.power_w), row.is_measured});
  }
  return document;
}

const DocumentShape& GpuShape() {
  static const DocumentShape shape = {
      .name = "gpu",
      .title = "An accelerator",
      .doc = "All that is known of one accelerator, with its sources.",
      .sections = {
          {.rows = {FieldRow("id", "Id", CellType::kText,
                             "The name for --gpu."),
                    FieldRow("name", "Name", CellType::kText,
                             "What its maker calls it."),
                    Optional(FieldRow("vendor", "Maker", CellType::kText,
                                      "Who makes it.")),
                    Optional(FieldRow("arch", "Architecture", CellType::kText,
                                      "The maker's name of its generation.")),
                    Optional(FieldRow("form", "Form", CellType::kText,
                                      "How it is built.")),
                    Optional(FieldRow("year", "Year", CellType::kText,
                                      "When it came out.")),
                    Optional(FieldRow("capability", "Capability",
                                      CellType::kText,
                                      "CUDA's compute capability.")),
                    Optional(FieldRow(
                        "aliases", "Other names", CellType::kTexts,
                        "Names that are understood too."))}},
          {.name = "memory",
           .title = "Memory",
           .doc = "What it holds, and how fast that is read.",
           .rows = {FieldRow("total", "Total", CellType::kFigure,
                             "What the runtime reports as the card's total."),
                    Optional(FieldRow("nominal_gb", "As sold, GB",
                                      CellType::kReal,
                                      "The size it is sold with.")),
                    Optional(FieldRow("type", "Type", CellType::kText,
                                      "The kind of memory.")),
                    FieldRow("unified", "Shared with the host", CellType::kFlag,
                             "Whether the host uses the same memory."),
                    Optional(FieldRow("bandwidth_gbs", "Bandwidth, GB/s",
                                      CellType::kReal,
                                      "1e9 bytes a second, at most.")),
                    Optional(FieldRow("l2_mb", "Cache before it, MB",
                                      CellType::kReal, "1e6 bytes."))}},
          {.name = "arithmetic",
           .title = "Arithmetic",
           .doc = "How fast it multiplies.",
           .rows = {Optional(FieldRow("multiprocessors", "Multiprocessors",
                                      CellType::kInteger, "How many it has.")),
                    Optional(FieldRow("boost_mhz", "Clock, MHz",
                                      CellType::kReal,
                                      "The clock that the peaks go with.")),
                    TableRow("peaks", "Dense peaks",
                             "1e12 operations a second, without sparsity.",
                             {{"dtype", "Type", CellType::kText,
                               "Of the operands."},
                              {"tflops", "TFLOPS", CellType::kReal,
                               "The peak, or what was reached."},
                              {"basis", "Basis", CellType::kText,
                               "Where the figure is from."}})}},
          {.name = "links",
           .title = "Links and power",
           .doc = "What joins it to others, and what it draws.",
           .rows = {Optional(FieldRow("link", "Between cards", CellType::kText,
                                      "The link's name.")),
                    Optional(FieldRow("link_gbs", "Both directions, GB/s",
                                      CellType::kReal,
                                      "Of one card, all links.")),
                    Optional(FieldRow("pcie", "PCI Express", CellType::kText,
                                      "Generation and lanes.")),
                    Optional(FieldRow("pcie_gbs", "One direction, GB/s",
                                      CellType::kReal, "Of those lanes.")),
                    Optional(FieldRow("per_node", "Cards of a machine",
                                      CellType::kInteger, "In a usual one.")),
                    Optional(FieldRow("power_w", "Power, W", CellType::kReal,
                                      "The board's limit."))}},
          {.name = "cost",
           .title = "Cost",
           .doc = "What it costs.",
           .rows = {Optional(FieldRow("list_price_usd", "List price, USD",
                                      CellType::kReal, "Of the card, about.")),
                    Optional(TableRow(
                        "by_cloud", "An hour by cloud",
                        "The least on-demand price of one card; data/"
                        "cloud_prices.jsonl has machine, region and date.",
                        {{"cloud", "Cloud", CellType::kText, "Who rents it."},
                         {"usd", "USD", CellType::kReal, "An hour."}}))}},
          {.name = "kernels",
           .title = "Measured kernel times",
           .doc = "What was measured on this very card.",
           .rows =
               {FieldRow("measured", "Measured", CellType::kFlag,
                         "Whether times of this card's kernels are known; "
                         "where not, they are told from its specification, "
                         "with wider intervals."),
                Optional(FieldRow("source", "Source", CellType::kText,
                                  "Whose measurements they are.")),
                Optional(FieldRow("date", "Date", CellType::kText,
                                  "When they were read.")),
                Optional(TableRow(
                    "kinds", "By kind",
                    "What was measured, and how far predictions lie from it "
                    "for shapes that the fit did not see.",
                    {{"kind", "Kind", CellType::kText, "Of the kernel."},
                     {"points", "Points", CellType::kInteger,
                      "Measured times."},
                     {"median", "Median", CellType::kReal,
                      "The median relative error."},
                     {"p90", "P90", CellType::kReal,
                      "Nine of ten relative errors are below."}}))}},
          {.name = "sources",
           .title = "Sources",
           .doc = "Where the figures are from.",
           .rows = {FieldRow("list", "Read from", CellType::kTexts,
                             "Where the figures are from, with dates.")}}}};
  return shape;
}

Document PresentGpu(const GpuAnswer& answer) {
  const Device& device = answer.device;
  Document document(GpuShape());
  document.Set("id", device.id);
  document.Set("name", device.name);
  SetIf(document, "vendor", device.vendor);
  SetIf(document, "arch", device.arch);
  SetIf(document, "form", device.form);
  if (device.year) document.Set("year", std::to_string(*device.year));
  const Cell capability = CapabilityCell(device);
  if (!capability.empty()) document.Set("capability", capability);
  if (!device.aliases.empty()) document.Set("aliases", device.aliases);
  document.Set("memory.total", device.total);
  SetIf(document, "memory.nominal_gb", device.nominal_gb);
  SetIf(document, "memory.type", device.memory_type);
  document.Set("memory.unified", device.unified_memory);
  SetIf(document, "memory.bandwidth_gbs", device.bandwidth_gbs);
  SetIf(document, "memory.l2_mb", device.l2_mb);
  SetIf(document, "arithmetic.multiprocessors", device.multiprocessors);
  SetIf(document, "arithmetic.boost_mhz", device.boost_mhz);
  document.Touch("arithmetic.peaks");
  for (const auto& [dtype, tflops] : device.dense_tflops) {
    document.AddRow(
        "arithmetic.peaks",
        {dtype, tflops,
         device.dense_basis.empty() ? "as described" : device.dense_basis});
  }
  for (const auto& [rate, tflops] : device.other_tflops) {
    document.AddRow("arithmetic.peaks", {rate, tflops, "another rate"});
  }
  for (const MeasuredRate& rate : device.measured_tflops) {
    document.AddRow("arithmetic.peaks",
                    {rate.dtype, rate.tflops, "measured: " + rate.source});
  }
  SetIf(document, "links.link", device.link);
  SetIf(document, "links.link_gbs", device.link_gbs);
  SetIf(document, "links.pcie", device.pcie);
  SetIf(document, "links.pcie_gbs", device.pcie_gbs);
  SetIf(document, "links.per_node", device.per_node);
  SetIf(document, "links.power_w", device.power_w);
  SetIf(document, "cost.list_price_usd", device.list_price_usd);
  for (const auto& [cloud, usd] : device.price_usd_per_hour) {
    document.AddRow("cost.by_cloud", {cloud, usd});
  }
  document.Set("kernels.measured", !answer.kinds.empty());
  SetIf(document, "kernels.source", answer.kernels_source);
  SetIf(document, "kernels.date", answer.kernels_date);
  for (const MeasuredKind& kind : answer.kinds) {
    document.AddRow("kernels.kinds", {kind.kind, kind.points, kind.median_error,
                                      kind.p90_error});
  }
  document.Set("sources.list", device.sources);
  return document;
}

}  // namespace foretell
