// Writes and reads checkpoints for the check against TensorFlow (tools/verify_interop.sh).
//
//   bundle_tool write PREFIX   writes a checkpoint with every dtype, scalars, empty tensors and a
//                              partitioned variable
//   bundle_tool print PREFIX   prints the name and type of each variable, and the sum of its
//   numbers
//                              or its text
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "estimator/array/array.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/load.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

absl::Status Write(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix));
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUint8, DType::kInt16, DType::kInt8,
        DType::kInt64, DType::kBool, DType::kBfloat16, DType::kFloat16}) {
    const Array value = Array::Of<float>({2, 3}, {0, 1, 2, 3, 4, 5}).Cast(dtype);
    EST_RETURN_IF_ERROR(writer->Add(DTypeName(dtype), value));
  }
  EST_RETURN_IF_ERROR(writer->Add("scalar", Array::Scalar<float>(3.5f)));
  EST_RETURN_IF_ERROR(writer->Add("empty", Array(DType::kFloat32, {0, 4})));
  EST_RETURN_IF_ERROR(
      writer->Add("string", Array::Of<std::string>({3}, {"", "hello", std::string(200, 'x')})));
  EST_RETURN_IF_ERROR(
      writer->AddSlice("part", {3, 2}, {{0, 2}, {}}, Array::Of<float>({2, 2}, {0, 1, 2, 3})));
  EST_RETURN_IF_ERROR(
      writer->AddSlice("part", {3, 2}, {{2, 1}, {}}, Array::Of<float>({1, 2}, {4, 5})));
  return writer->Finish();
}

absl::Status Print(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(prefix));
  for (const auto& [name, spec] : reader->specs()) {
    const auto value = reader->Read(name);
    std::cout << name << '\t';
    if (absl::IsUnimplemented(value.status())) {
      std::cout << "unsupported\n";
      continue;
    }
    EST_RETURN_IF_ERROR(value.status());
    std::cout << DTypeName(spec.dtype) << '\t' << spec.shape << '\t';
    if (spec.dtype == DType::kString) {
      size_t length = 0;
      for (const std::string& text : value->values<std::string>()) length += text.size();
      std::cout << length << '\n';
      continue;
    }
    double sum = 0;
    for (int64_t i = 0; i < value->num_elements(); ++i) {
      sum += static_cast<double>(i + 1) * value->AsDouble(i);
    }
    std::cout << absl::StrFormat("%.6g", sum) << '\n';
  }
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments[0] == "write") return Write(arguments[1]);
  if (arguments[0] == "print") return Print(arguments[1]);
  return InvalidArgument("neither write nor print: ", arguments[0]);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "bundle_tool write|print PREFIX", estimator::Run);
}
