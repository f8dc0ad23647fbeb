#include "tpu/pjrt/compile_options.h"

#include "glog/logging.h"

namespace estimator::tpu::pjrt {
namespace {

constexpr uint32_t kVarint = 0;
constexpr uint32_t kBytes = 2;

void AddVarint(uint64_t value, std::string& out) {
  for (; value > 127; value >>= 7) out.push_back(static_cast<char>((value & 127) | 128));
  out.push_back(static_cast<char>(value));
}

void AddInt(uint32_t field, uint64_t value, std::string& out) {
  AddVarint(field << 3 | kVarint, out);
  AddVarint(value, out);
}

void AddBytes(uint32_t field, const std::string& bytes, std::string& out) {
  AddVarint(field << 3 | kBytes, out);
  AddVarint(bytes.size(), out);
  out += bytes;
}

}  // namespace

std::string CompileOptionsFor(absl::Span<const int64_t> device_ids) {
  CHECK(!device_ids.empty());
  std::string ids;
  // A repeated number of proto3 is packed: one field has all ids.
  for (const int64_t id : device_ids) AddVarint(static_cast<uint64_t>(id), ids);
  std::string devices;
  AddBytes(1, ids, devices);
  std::string assignment;
  AddInt(1, device_ids.size(), assignment);
  AddInt(2, 1, assignment);
  AddBytes(3, devices, assignment);
  std::string build;
  AddInt(4, device_ids.size(), build);
  AddInt(5, 1, build);
  AddBytes(9, assignment, build);
  std::string options;
  AddBytes(3, build, options);
  return options;
}

c_api::Program ProgramOf(absl::string_view stablehlo) {
  return {
      .code = stablehlo.data(), .code_size = stablehlo.size(), .format = "mlir", .format_size = 4};
}

}  // namespace estimator::tpu::pjrt
