#include "estimator/data/pipeline/rows.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_spec.h"

namespace estimator {
namespace {

// Keeps the memory of large batches that were freed, and reuses it. Thread-safe.
class BatchMemory {
 public:
  static constexpr size_t kLargeBytes = 64 << 10;  // malloc is as fast for smaller blocks
  static constexpr size_t kKeptBytes = 256 << 20;  // the most bytes kept; more is freed

  static BatchMemory& Get() {
    static auto* const memory = new BatchMemory;  // never deleted, so it outlives every batch
    return *memory;
  }

  std::shared_ptr<void> Take(size_t bytes) {
    void* block = nullptr;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::vector<void*>& blocks = free_[bytes];
      if (!blocks.empty()) {
        block = blocks.back();
        blocks.pop_back();
        kept_bytes_ -= bytes;
      }
    }
    if (block == nullptr) {
      if (::posix_memalign(&block, Array::kAlignment, bytes) != 0) throw std::bad_alloc();
    }
    return std::shared_ptr<void>(block, [this, bytes](void* dropped) { Drop(dropped, bytes); });
  }

 private:
  void Drop(void* block, size_t bytes) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (kept_bytes_ + bytes <= kKeptBytes) {
        free_[bytes].push_back(block);
        kept_bytes_ += bytes;
        return;
      }
    }
    std::free(block);
  }

  std::mutex mutex_;
  std::unordered_map<size_t, std::vector<void*>> free_;
  size_t kept_bytes_ = 0;
};

constexpr ArrayMap Element::*kMaps[] = {&Element::features, &Element::labels};

Shape RowShape(const Shape& shape) { return Shape(absl::MakeConstSpan(shape.dims()).subspan(1)); }

void CopyRowOf(const Array& row, int64_t index, Array& column) {
  const auto elements = static_cast<size_t>(row.num_elements());
  const size_t begin = static_cast<size_t>(index) * elements;
  if (row.dtype() == DType::kString) {
    for (size_t i = 0; i < elements; ++i) {
      column.data<std::string>()[begin + i] = row.data<std::string>()[i];
    }
  } else if (row.num_bytes() > 0) {
    std::memcpy(static_cast<char*>(column.raw()) + begin * DTypeSize(row.dtype()), row.raw(),
                row.num_bytes());
  }
}

Array GatherArray(const Array& column, absl::Span<const int64_t> indices) {
  const Shape row = RowShape(column.shape());
  Array out = BatchArray(column.dtype(), WithAxis(static_cast<int64_t>(indices.size()), row));
  const auto elements = static_cast<size_t>(row.num_elements());
  if (column.dtype() == DType::kString) {
    const std::string* from = column.data<std::string>();
    std::string* to = out.data<std::string>();
    for (const int64_t index : indices) {
      for (size_t i = 0; i < elements; ++i) {
        *to++ = from[static_cast<size_t>(index) * elements + i];
      }
    }
    return out;
  }
  const size_t bytes = elements * DTypeSize(column.dtype());
  if (bytes == 0) return out;
  const char* from = static_cast<const char*>(column.raw());
  char* to = static_cast<char*>(out.raw());
  for (const int64_t index : indices) {
    std::memcpy(to, from + static_cast<size_t>(index) * bytes, bytes);
    to += bytes;
  }
  return out;
}

absl::Status StackMap(absl::Span<const Element> rows, ArrayMap Element::*member,
                      const std::function<std::string(size_t)>& where, ArrayMap* out) {
  const ArrayMap& first = rows[0].*member;
  for (const auto& [name, array] : first) {
    (*out)[name] =
        BatchArray(array.dtype(), WithAxis(static_cast<int64_t>(rows.size()), array.shape()));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const ArrayMap& row = rows[i].*member;
    for (const auto& [name, array] : row) {
      const auto expected = first.find(name);
      if (expected == first.end()) {
        return InvalidArgument("Batch: ", where(i), " has ", QuotedArray(member, name), ", but ",
                               where(0),
                               " in the same batch does not; every element needs the same names");
      }
      if (array.dtype() != expected->second.dtype() || array.shape() != expected->second.shape()) {
        return InvalidArgument(
            "Batch: ", QuotedArray(member, name), " differs within a batch: ", array.TypeString(),
            " in ", where(i), " (element ", i, " of the batch), ", expected->second.TypeString(),
            " in ", where(0), " (element 0); make them equal in Map, or use PaddedBatch");
      }
      CopyRowOf(array, static_cast<int64_t>(i), (*out)[name]);
    }
    if (row.size() == first.size()) continue;
    for (const auto& [name, array] : first) {
      if (row.count(name) > 0) continue;
      return InvalidArgument("Batch: ", where(i), " does not have ", QuotedArray(member, name),
                             ", but ", where(0),
                             " in the same batch does; every element needs the same names");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string QuotedArray(ArrayMap Element::*member, absl::string_view name) {
  return QuotedComponent(member == &Element::labels ? "labels" : "features", name);
}

Array BatchArray(DType dtype, const Shape& shape) {
  const size_t bytes = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
  if (bytes < BatchMemory::kLargeBytes) return Array(dtype, shape);
  std::shared_ptr<void> block = BatchMemory::Get().Take(bytes);
  void* const address = block.get();
  return Array::Wrap(dtype, shape, address, std::move(block));
}

absl::StatusOr<Element> StackRows(absl::Span<const Element> rows,
                                  const std::function<std::string(size_t)>& where) {
  Element out;
  for (const auto map : kMaps) EST_RETURN_IF_ERROR(StackMap(rows, map, where, &(out.*map)));
  return out;
}

Element GatherRows(const Element& columns, absl::Span<const int64_t> indices) {
  Element out;
  for (const auto map : kMaps) {
    for (const auto& [name, column] : columns.*map) {
      (out.*map)[name] = GatherArray(column, indices);
    }
  }
  return out;
}

Element RowOf(const Element& columns, int64_t index) {
  Element out;
  for (const auto map : kMaps) {
    for (const auto& [name, column] : columns.*map) (out.*map)[name] = column.Row(index);
  }
  return out;
}

bool IsRowOf(const Element& row, const Element& columns) {
  for (const auto map : kMaps) {
    if ((row.*map).size() != (columns.*map).size()) return false;
    for (const auto& [name, array] : row.*map) {
      const auto column = (columns.*map).find(name);
      if (column == (columns.*map).end() || array.dtype() != column->second.dtype()) return false;
      const std::vector<int64_t>& dims = array.shape().dims();
      const std::vector<int64_t>& all = column->second.shape().dims();
      // Compares in place, because this runs for every row of a batch.
      if (!std::equal(dims.begin(), dims.end(), all.begin() + 1, all.end())) return false;
    }
  }
  return true;
}

void CopyRow(const Element& row, int64_t index, Element& columns) {
  for (const auto map : kMaps) {
    for (const auto& [name, array] : row.*map) CopyRowOf(array, index, (columns.*map).at(name));
  }
}

}  // namespace estimator
