// A recorded trace: gzip over JSON lines, as tools/pytorch/record_traces.py
// writes it.
//
// In: the bytes of NAME.jsonl.gz. The first line is the case's result, every
// other line an operator: {"i", "phase", "module", "op", "in", "out"} and,
// where there are any, "flops". A tensor is "STORAGE:DTYPE[EXTENTS]". Out: the
// case and its operators in order, with what comparisons need.
// "freed_before" lists storages.
//
// Limits: kTraceTextBytes once unpacked, a million operators.
// Does not model: keyword arguments, numbers among the inputs.
// Throws InputErrors, at most twenty, each with its line.
#ifndef FORETELL_INPUT_TRACE_H_
#define FORETELL_INPUT_TRACE_H_

#include <cstdint>
#include <string>

#include "spec/trace.h"

namespace foretell {

// Past the known traces (the largest unpacks to 4 MB) by far.
inline constexpr int64_t kTraceTextBytes = int64_t{256} << 20;

Trace LoadTrace(const std::string& path);

// A pure function of the bytes.
Trace ParseTrace(const std::string& gzip_bytes, const std::string& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_TRACE_H_
