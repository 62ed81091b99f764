// The initializers of an ONNX model: names, element types, shapes and where
// their bytes lie, in the file itself or in a file beside it.
//
// In: a source of bytes, walked field by field; what is not needed (nodes,
// weights) is passed over without being read. Out: initializers in the file's
// order, the names of files beside it, and the model's properties. Constants
// inside nodes and the bodies of loops are not listed.
//
// The wire format is read here and not by protobuf's library: that parses a
// message as a whole, weights included, and its streams count to 2^31, while
// this needs two of its four kinds of field, with the place of what is wrong.
// Source: onnx 1.23, onnx/onnx.proto (ModelProto, GraphProto, TensorProto);
// protobuf's encoding, protobuf.dev/programming-guides/encoding.
//
// Throws InputErrors with the byte or the tensor.
#ifndef FORETELL_INPUT_CHECKPOINT_ONNX_H_
#define FORETELL_INPUT_CHECKPOINT_ONNX_H_

#include <string>
#include <vector>

#include "input/byte_source.h"
#include "spec/checkpoint.h"

namespace foretell {

struct OnnxHeader {
  // `file` is 0 for the file itself, else 1 more than the index in `beside`.
  std::vector<StoredTensor> tensors;
  std::vector<std::string> beside;  // relative paths, as the file has them
  std::vector<CheckpointEntry> metadata;
};

OnnxHeader ReadOnnxHeader(ByteSource& source);

}  // namespace foretell

#endif  // FORETELL_INPUT_CHECKPOINT_ONNX_H_
