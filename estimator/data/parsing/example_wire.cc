#include "estimator/data/parsing/example_wire.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace estimator {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5 };

// The first byte of field 1 in a list of values.
constexpr char kDelimited1 = 0x0a, kFixed32Of1 = 0x0d, kVarintOf1 = 0x08;

// Reads a varint from the beginning of `bytes`, of which bits above 64 are dropped.
bool TakeVarint(absl::string_view* bytes, uint64_t* value) {
  constexpr size_t kMostBytes = 10;
  uint64_t result = 0;
  const size_t size = std::min(bytes->size(), kMostBytes);
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>((*bytes)[i]);
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

// Reads a length, of which TensorFlow uses 32 bits.
bool TakeLength(absl::string_view* bytes, size_t* length) {
  uint64_t value = 0;
  if (!TakeVarint(bytes, &value)) return false;
  *length = static_cast<uint32_t>(value);
  return true;
}

// Reads a length and that number of bytes.
bool TakeBytes(absl::string_view* bytes, absl::string_view* value) {
  size_t size = 0;
  if (!TakeLength(bytes, &size) || size > bytes->size()) return false;
  *value = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

// As TakeBytes, but a length that is too large means all bytes, as in TensorFlow's parser.
bool TakeMessage(absl::string_view* bytes, absl::string_view* value) {
  size_t size = 0;
  if (!TakeLength(bytes, &size)) return false;
  *value = bytes->substr(0, size);
  bytes->remove_prefix(value->size());
  return true;
}

bool TakeTag(absl::string_view* bytes, char tag) {
  if (bytes->empty() || bytes->front() != tag) return false;
  bytes->remove_prefix(1);
  return true;
}

bool SkipField(absl::string_view* bytes, uint64_t tag) {
  uint64_t varint = 0;
  absl::string_view skipped;
  switch (tag & 7) {
    case kVarint:
      return TakeVarint(bytes, &varint);
    case kDelimited:
      return TakeMessage(bytes, &skipped);
    case kFixed32:
    case kFixed64: {
      const size_t size = (tag & 7) == kFixed32 ? 4 : 8;
      if (bytes->size() < size) return false;
      bytes->remove_prefix(size);
      return true;
    }
    default:
      return false;
  }
}

// The list inside a feature.
bool ListOf(absl::string_view feature, absl::string_view* list) {
  feature.remove_prefix(1);  // the tag
  return TakeMessage(&feature, list);
}

// Calls sink(value) for each value of an Int64List. Returns their number, or -1.
template <typename Sink>
int64_t ForEachInt(absl::string_view feature, Sink&& sink) {
  absl::string_view list;
  if (!ListOf(feature, &list)) return -1;
  int64_t count = 0;
  uint64_t value = 0;
  if (TakeTag(&list, kDelimited1)) {  // packed
    absl::string_view packed;
    if (!TakeMessage(&list, &packed)) return -1;
    list = packed;
    for (; !list.empty(); ++count) {
      if (static_cast<unsigned char>(list.front()) < 0x80) {  // most values are small
        value = static_cast<unsigned char>(list.front());
        list.remove_prefix(1);
      } else if (!TakeVarint(&list, &value)) {
        return -1;
      }
      sink(count, static_cast<int64_t>(value));
    }
    return count;
  }
  for (; !list.empty(); ++count) {
    if (!TakeTag(&list, kVarintOf1) || !TakeVarint(&list, &value)) return -1;
    sink(count, static_cast<int64_t>(value));
  }
  return count;
}

template <typename Sink>
int64_t ForEachString(absl::string_view feature, Sink&& sink) {
  absl::string_view list, value;
  if (!ListOf(feature, &list)) return -1;
  int64_t count = 0;
  for (; !list.empty(); ++count) {
    if (!TakeTag(&list, kDelimited1) || !TakeBytes(&list, &value)) return -1;
    sink(count, value);
  }
  return count;
}

}  // namespace

WireFeature::Kind WireFeature::kind() const {
  if (bytes_.empty()) return Kind::kNone;
  switch (bytes_.front()) {
    case 0x0a:  // bytes_list = 1
      return Kind::kBytes;
    case 0x12:  // float_list = 2
      return Kind::kFloat;
    case 0x1a:  // int64_list = 3
      return Kind::kInt64;
    default:
      return Kind::kUnknown;
  }
}

int64_t WireFeature::Values(absl::Span<std::string> out) const {
  return ForEachString(bytes_, [out](int64_t i, absl::string_view value) {
    const auto at = static_cast<size_t>(i);
    if (at < out.size()) out[at].assign(value.data(), value.size());
  });
}

int64_t WireFeature::Values(absl::Span<float> out) const {
  absl::string_view list;
  if (!ListOf(bytes_, &list)) return -1;
  if (TakeTag(&list, kDelimited1)) {  // packed
    size_t size = 0;
    if (!TakeLength(&list, &size)) return -1;
    const size_t count = size / sizeof(float);  // bytes after the last whole value are ignored
    if (count > list.size() / sizeof(float)) return -1;
    const size_t copied = std::min(count, out.size());
    if (copied > 0) std::memcpy(out.data(), list.data(), copied * sizeof(float));
    return static_cast<int64_t>(count);
  }
  int64_t count = 0;
  for (; !list.empty(); ++count) {
    if (!TakeTag(&list, kFixed32Of1) || list.size() < sizeof(float)) return -1;
    const auto at = static_cast<size_t>(count);
    if (at < out.size()) std::memcpy(&out[at], list.data(), sizeof(float));
    list.remove_prefix(sizeof(float));
  }
  return count;
}

int64_t WireFeature::Values(absl::Span<int64_t> out) const {
  return ForEachInt(bytes_, [out](int64_t i, int64_t value) {
    const auto at = static_cast<size_t>(i);
    if (at < out.size()) out[at] = value;
  });
}

int64_t WireFeature::Values(absl::Span<int32_t> out, int64_t* unfit) const {
  bool found = false;
  return ForEachInt(bytes_, [&found, out, unfit](int64_t i, int64_t value) {
    const auto at = static_cast<size_t>(i);
    const auto narrow = static_cast<int32_t>(value);
    if (narrow != value && !found) {
      found = true;
      *unfit = value;
    }
    if (at < out.size()) out[at] = narrow;
  });
}

int64_t WireFeature::NumValues() const {
  switch (kind()) {
    case Kind::kBytes:
      return Values(absl::Span<std::string>());
    case Kind::kFloat:
      return Values(absl::Span<float>());
    default:
      return Values(absl::Span<int64_t>());
  }
}

WireMap WireMap::OfExample(absl::string_view example) { return WireMap(example, 1); }
WireMap WireMap::OfContext(absl::string_view example) { return WireMap(example, 1); }
WireMap WireMap::OfFeatureLists(absl::string_view example) { return WireMap(example, 2); }

bool WireMap::Next(absl::string_view* key, absl::string_view* value) {
  // The next map of the message, if one is at its end.
  while (map_.empty()) {
    if (message_.empty()) return false;
    uint64_t tag = 0;
    ok_ = TakeVarint(&message_, &tag);
    if (ok_) ok_ = tag == tag_ ? TakeMessage(&message_, &map_) : SkipField(&message_, tag);
    if (!ok_) return false;
  }
  absl::string_view entry;
  ok_ = TakeTag(&map_, kDelimited1) && TakeMessage(&map_, &entry);
  if (!ok_) return false;
  *key = *value = absl::string_view();
  // The key and the value, in any order.
  for (int i = 0; i < 2 && ok_; ++i) {
    constexpr char kKeyTag = 0x0a, kValueTag = 0x12;
    if (TakeTag(&entry, kKeyTag)) {
      ok_ = TakeBytes(&entry, key);
    } else {
      ok_ = TakeTag(&entry, kValueTag) && TakeBytes(&entry, value);
    }
  }
  ok_ = ok_ && entry.empty();
  return ok_;
}

bool WireFeatureList::Next(WireFeature* feature) {
  if (bytes_.empty()) return false;
  absl::string_view bytes;
  ok_ = TakeTag(&bytes_, kDelimited1) && TakeBytes(&bytes_, &bytes);
  *feature = WireFeature(bytes);
  return ok_;
}

}  // namespace estimator
