#include "estimator/checkpoint/v1/v1_values.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/string_tensor.h"
#include "estimator/checkpoint/table/varint.h"

namespace estimator {
namespace {

constexpr int64_t kMarkElements = 64 << 10;
constexpr int64_t kVarintWindowBytes = 64 << 10;  // decoded, these are at most eight times as many
constexpr int64_t kMaxVarintBytes = 10;

absl::Status TooFew(int64_t there, int64_t wanted) {
  return DataLoss("it holds ", there, " of ", wanted, " elements");
}

int64_t VarintSize(uint64_t value) {
  std::string bytes;
  AppendVarint(value, &bytes);
  return static_cast<int64_t>(bytes.size());
}

// Calls fn(begin, end) for each string of a TensorProto.
template <typename Fn>
absl::Status ForEachString(const ReadAt& read_at, const SavedValues& values, const Fn& fn) {
  FieldWalker walker(read_at, values.begin, values.end);
  for (;;) {
    EST_ASSIGN_OR_RETURN(const bool more, walker.Next());
    if (!more) return absl::OkStatus();
    if (walker.number() != kStringField || !walker.has_length()) continue;
    EST_RETURN_IF_ERROR(fn(walker.begin(), walker.end()));
  }
}

}  // namespace

std::string V1Values::Path(int shard) const { return file(shard).path(); }

absl::StatusOr<int64_t> V1Values::SizeOf(int shard, const Place& place) const {
  const int64_t size = place.values.end - place.values.begin;
  const int64_t element_bytes = place.encoding.element_bytes;
  switch (place.encoding.kind) {
    case SavedEncoding::Kind::kBytes:
      if (size == place.num_elements * element_bytes) return size;
      if (size % element_bytes == 0) return TooFew(size / element_bytes, place.num_elements);
      return DataLoss("it holds ", size, " bytes, but ", place.num_elements, " elements have ",
                      place.num_elements * element_bytes);
    case SavedEncoding::Kind::kVarints:
      // A varint has at least one byte. Only decoding shows whether there are too many.
      if (size >= place.num_elements) return place.num_elements * element_bytes;
      return TooFew(size, place.num_elements);
    case SavedEncoding::Kind::kStrings:
      break;
  }
  // TensorBundle stores the lengths as varints, then a crc32c of them, then the strings.
  int64_t num_strings = 0, bytes = sizeof(uint32_t);
  EST_RETURN_IF_ERROR(
      ForEachString(file(shard).Reader(), place.values, [&](int64_t begin, int64_t end) {
        ++num_strings;
        bytes += VarintSize(static_cast<uint64_t>(end - begin)) + (end - begin);
        return absl::OkStatus();
      }));
  if (num_strings != place.num_elements) return TooFew(num_strings, place.num_elements);
  return bytes;
}

absl::StatusOr<int64_t> V1Values::Add(int shard, int64_t offset, const Place& place) {
  EST_ASSIGN_OR_RETURN(const int64_t size, SizeOf(shard, place));
  Stored stored{.place = place,
                .marks = {place.values.begin},
                .next_element = 0,
                .next_position = place.values.begin};
  if (stored_.emplace(std::pair(shard, offset), std::move(stored)).second) return size;
  return DataLoss("two slices have the same offset ", offset);
}

V1Values::Stored& V1Values::Find(const BundleEntry& entry) const {
  return stored_.at({entry.shard, entry.offset});
}

absl::Status V1Values::VerifyBlockOf(const BundleEntry& entry, const Place& place) const {
  const std::pair<int, size_t> key(entry.shard, place.block);
  const TableFile& table = file(entry.shard);
  absl::Status status;
  bool is_known = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(key);
    is_known = found != blocks_.end();
    if (is_known) status = found->second;
  }
  if (!is_known) {
    // Without the lock, which would keep other threads from reading. Two threads may verify one
    // block.
    status = table.VerifyBlock(place.block);
    if (!status.ok() && !absl::IsDataLoss(status)) return status;  // the next read may succeed
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_[key] = status;
  }
  if (!absl::IsDataLoss(status)) return status;
  return Corrupt(entry, absl::StripPrefix(status.message(), absl::StrCat(table.path(), ": ")));
}

absl::Status V1Values::ReadBytes(int shard, int64_t begin, int64_t end, const Sink& sink) const {
  const TableFile& bytes = file(shard);
  std::string piece;
  for (; begin < end; begin += static_cast<int64_t>(piece.size())) {
    piece.resize(std::min(kPieceBytes, static_cast<size_t>(end - begin)));
    EST_RETURN_IF_ERROR(bytes.ReadExactly(begin, piece.size(), piece.data()));
    EST_RETURN_IF_ERROR(sink(piece));
  }
  return absl::OkStatus();
}

absl::Status V1Values::ReadVarints(int shard, Stored& stored, int64_t first, int64_t count,
                                   const Sink& sink) const {
  const TableFile& bytes = file(shard);
  const auto [position_end, element_bytes] =
      std::make_pair(stored.place.values.end, stored.place.encoding.element_bytes);
  int64_t element = 0, position = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto mark = std::min(static_cast<size_t>(first / kMarkElements), stored.marks.size() - 1);
    element = static_cast<int64_t>(mark) * kMarkElements;
    position = stored.marks[mark];
    // When reads go forward, the end of the last one is nearer than a mark.
    if (stored.next_element > element && stored.next_element <= first) {
      element = stored.next_element;
      position = stored.next_position;
    }
  }
  // Decoding starts at the nearest known position before `first`, and marks are added on the way.
  std::string window, elements;
  while (element < first + count) {
    // A short read reads no more bytes than its elements can have.
    window.resize(static_cast<size_t>(std::min({kVarintWindowBytes, position_end - position,
                                                kMaxVarintBytes * (first + count - element)})));
    EST_RETURN_IF_ERROR(bytes.ReadExactly(position, window.size(), window.data()));
    elements.clear();
    size_t at = 0;
    while (element < first + count) {
      size_t next = at;
      uint64_t value = 0;
      // The window may end within a number, with which the next window begins.
      if (!ReadVarint(window, &next, &value)) break;
      at = next;
      // TensorFlow casts the number to the dtype. On a little-endian machine those are its first
      // bytes.
      if (element >= first) {
        elements.append(reinterpret_cast<const char*>(&value), static_cast<size_t>(element_bytes));
      }
      if (++element % kMarkElements != 0) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stored.marks.size() == static_cast<size_t>(element / kMarkElements)) {
        stored.marks.push_back(position + static_cast<int64_t>(at));
      }
    }
    if (at == 0 && position == position_end) return TooFew(element, stored.place.num_elements);
    if (at == 0) return DataLoss("offset ", position, ": not a number");
    position += static_cast<int64_t>(at);
    if (!elements.empty()) EST_RETURN_IF_ERROR(sink(elements));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stored.next_element = element;
    stored.next_position = position;
  }
  // A read up to the last element must end where the values end.
  const bool all = first + count == stored.place.num_elements;
  if (!all || position == position_end) return absl::OkStatus();
  return DataLoss("offset ", position, ": it holds more than ", stored.place.num_elements,
                  " elements");
}

absl::Status V1Values::ReadStrings(int shard, const Place& place, const Sink& sink) const {
  // The fields are read twice, because all lengths come before the first string.
  const ReadAt reader = file(shard).Reader();
  std::string lengths;
  uint32_t crc = 0;
  EST_RETURN_IF_ERROR(
      ForEachString(reader, place.values, [&](int64_t begin, int64_t end) -> absl::Status {
        const auto length = static_cast<uint64_t>(end - begin);
        AppendVarint(length, &lengths);
        crc = ExtendCrc32cByLength(crc, length);
        // 16 bytes leave room for one more length and for the checksum.
        if (lengths.size() + 16 < kPieceBytes) return absl::OkStatus();
        EST_RETURN_IF_ERROR(sink(lengths));
        lengths.clear();
        return absl::OkStatus();
      }));
  const uint32_t masked = MaskCrc32c(crc);
  lengths.append(reinterpret_cast<const char*>(&masked), sizeof(masked));
  EST_RETURN_IF_ERROR(sink(lengths));
  std::string text;  // collects many strings, because a sink is slow with short pieces
  EST_RETURN_IF_ERROR(
      ForEachString(reader, place.values, [&](int64_t begin, int64_t end) -> absl::Status {
        return ReadBytes(shard, begin, end, [&](absl::string_view piece) -> absl::Status {
          if (text.size() + piece.size() > kPieceBytes) {
            EST_RETURN_IF_ERROR(sink(text));
            text.clear();
          }
          text.append(piece.data(), piece.size());
          return absl::OkStatus();
        });
      }));
  return text.empty() ? absl::OkStatus() : sink(text);
}

absl::Status V1Values::ReadPlace(const BundleEntry& entry, Stored& stored, const Sink& sink) const {
  const Place& place = stored.place;
  switch (place.encoding.kind) {
    case SavedEncoding::Kind::kBytes:
      return ReadBytes(entry.shard, place.values.begin, place.values.end, sink);
    case SavedEncoding::Kind::kVarints:
      return ReadVarints(entry.shard, stored, 0, place.num_elements, sink);
    case SavedEncoding::Kind::kStrings:
      return ReadStrings(entry.shard, place, sink);
  }
  return absl::InternalError("unknown encoding of the values");
}

absl::Status V1Values::Read(const BundleEntry& entry, const Sink& sink) const {
  Stored& stored = Find(entry);
  EST_RETURN_IF_ERROR(VerifyBlockOf(entry, stored.place));
  // An error of the sink is returned as it is: it is not damage of this file.
  absl::Status of_sink;
  const absl::Status status = ReadPlace(entry, stored, [&](absl::string_view piece) {
    if (sink) of_sink = sink(piece);
    return of_sink;
  });
  if (!of_sink.ok() || !absl::IsDataLoss(status)) return status;
  return Corrupt(entry, status.message());
}

absl::Status V1Values::ReadInto(const BundleEntry& entry, char* bytes) const {
  const char* const end = bytes + entry.size;
  return Read(entry, [&](absl::string_view piece) {
    // The file may have changed since its size was computed.
    if (static_cast<int64_t>(piece.size()) > end - bytes)
      return Corrupt(entry, absl::StrCat("it holds more than ", entry.size, " bytes"));
    std::memcpy(bytes, piece.data(), piece.size());
    bytes += piece.size();
    return absl::OkStatus();
  });
}

absl::Status V1Values::ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                                 char* bytes) const {
  if (n == 0) return absl::OkStatus();
  Stored& stored = Find(entry);
  const Place& place = stored.place;
  EST_RETURN_IF_ERROR(VerifyBlockOf(entry, place));
  int64_t position = 0;  // offset of the next piece in the converted values
  const int64_t end = begin + static_cast<int64_t>(n);
  const Sink take = [&](absl::string_view piece) {
    const int64_t from = std::max(begin, position);
    const int64_t to = std::min(end, position + static_cast<int64_t>(piece.size()));
    if (from < to) {
      std::memcpy(bytes + (from - begin), piece.data() + (from - position),
                  static_cast<size_t>(to - from));
    }
    position += static_cast<int64_t>(piece.size());
    return absl::OkStatus();
  };
  absl::Status status;
  const int64_t element_bytes = place.encoding.element_bytes;
  switch (place.encoding.kind) {
    case SavedEncoding::Kind::kBytes:
      status = file(entry.shard).ReadExactly(place.values.begin + begin, n, bytes);
      break;
    case SavedEncoding::Kind::kVarints: {
      const int64_t first = begin / element_bytes;
      position = first * element_bytes;
      status = ReadVarints(entry.shard, stored, first,
                           (end + element_bytes - 1) / element_bytes - first, take);
      break;
    }
    case SavedEncoding::Kind::kStrings:
      status = ReadStrings(entry.shard, place, [&](absl::string_view piece) -> absl::Status {
        EST_RETURN_IF_ERROR(take(piece));
        return position < end ? absl::OkStatus()
                              : absl::CancelledError();  // the rest is not needed
      });
      if (absl::IsCancelled(status)) return absl::OkStatus();
      break;
  }
  return absl::IsDataLoss(status) ? Corrupt(entry, status.message()) : status;
}

}  // namespace estimator
