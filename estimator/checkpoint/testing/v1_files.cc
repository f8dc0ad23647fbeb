#include "estimator/checkpoint/testing/v1_files.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/proto/saved_tensor_slice.pb.h"

namespace estimator {
namespace {

void SetSlice(const std::vector<SliceExtent>& extents, proto::TensorSliceProto* out) {
  for (const SliceExtent& extent : extents) {
    auto* const axis = out->add_extent();
    axis->set_start(extent.start);
    if (extent.length != SliceExtent::kWholeAxis) axis->set_length(extent.length);
  }
}

absl::Status SetValues(const Array& value, proto::TensorProto* out) {
  if (value.dtype() == DType::kFloat32) {
    for (const float x : value.values<float>()) out->add_float_val(x);
  } else if (value.dtype() == DType::kInt64) {
    for (const int64_t x : value.values<int64_t>()) out->add_int64_val(x);
  } else if (value.dtype() == DType::kString) {
    for (const std::string& x : value.values<std::string>()) out->add_string_val(x);
  } else {
    return absl::UnimplementedError(
        absl::StrCat("WriteV1File does not support ", value.TypeString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteV1File(absl::string_view path, const std::vector<V1Slice>& slices) {
  std::map<std::string, std::string> table;
  std::map<std::string, proto::SavedSliceMeta> tensors;
  for (const V1Slice& slice : slices) {
    const Shape& whole = slice.extents.empty() ? slice.value.shape() : slice.whole;
    std::vector<SliceExtent> extents = slice.extents;
    extents.resize(static_cast<size_t>(whole.rank()));
    proto::SavedSliceMeta& tensor = tensors[slice.name];
    tensor.set_name(slice.name);
    tensor.set_type(static_cast<proto::DataType>(slice.value.dtype()));
    if (tensor.slice().empty()) {
      for (const int64_t dim : whole.dims()) tensor.mutable_shape()->add_dim()->set_size(dim);
    }
    SetSlice(extents, tensor.add_slice());
    proto::SavedTensorSlices message;
    message.mutable_data()->set_name(slice.name);
    SetSlice(extents, message.mutable_data()->mutable_slice());
    if (absl::Status status = SetValues(slice.value, message.mutable_data()->mutable_data());
        !status.ok()) {
      return status;
    }
    message.SerializeToString(&table[SliceKey(slice.name, extents)]);
  }
  proto::SavedTensorSlices first;
  first.mutable_meta()->mutable_versions()->set_producer(1);
  for (const auto& [name, tensor] : tensors) *first.mutable_meta()->add_tensor() = tensor;
  first.SerializeToString(&table[""]);
  return WriteIndexTable(path, table);
}

}  // namespace estimator
