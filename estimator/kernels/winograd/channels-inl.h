// Vectors of channels. The last vector of an image may have fewer channels than lanes: nothing
// beyond the last channel is read or written.
//
// Included once for every instruction set (Highway).
#if defined(ESTIMATOR_KERNELS_WINOGRAD_CHANNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_WINOGRAD_CHANNELS_INL_H_
#undef ESTIMATOR_KERNELS_WINOGRAD_CHANNELS_INL_H_
#else
#define ESTIMATOR_KERNELS_WINOGRAD_CHANNELS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "estimator/kernels/winograd/transforms-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using ByteTag = hn::Rebind<uint8_t, D>;  // a byte for each float of a vector
using Bytes = hn::Vec<ByteTag>;

// The number of channels of whole vectors that hold `channels`.
constexpr int64_t WholeVectors(int64_t channels) {
  return (channels + kLanes - 1) / kLanes * kLanes;
}

// How vectors are read and written that have a channel in every lane.
struct AllLanes {
  HWY_INLINE V Load(const float* from) const { return hn::LoadU(D(), from); }
  HWY_INLINE Bytes Load(const uint8_t* from) const { return hn::LoadU(ByteTag(), from); }
  // Lane i is from[i * stride].
  HWY_INLINE V Gather(const float* from, int64_t stride) const {
    const hn::RebindToSigned<D> di;
    const auto index = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(stride)));
    return hn::GatherIndex(D(), from, index);
  }
  HWY_INLINE void Store(V v, float* to) const { hn::StoreU(v, D(), to); }
  HWY_INLINE void Store(Bytes v, uint8_t* to) const { hn::StoreU(v, ByteTag(), to); }
};

// The same for vectors with fewer channels than lanes. The other lanes are read as 0, and not
// written.
class FirstLanes {
 public:
  //   channels: 1 to kLanes - 1.
  explicit FirstLanes(int64_t channels) : count_(static_cast<size_t>(channels)) {}

  HWY_INLINE V Load(const float* from) const {
    return hn::MaskedLoad(hn::FirstN(D(), count_), D(), from);
  }
  HWY_INLINE Bytes Load(const uint8_t* from) const {
    if constexpr (kMasksBytes)
      return hn::MaskedLoad(hn::FirstN(ByteTag(), count_), ByteTag(), from);
    uint64_t bytes = 0;
    ForParts([&](auto part, size_t at) HWY_ATTR {
      std::memcpy(&part, from + at, sizeof(part));
      bytes |= uint64_t{part} << (8 * at);
    });
    return hn::BitCast(ByteTag(), hn::Set(EightBytes(), bytes));
  }
  // The other lanes read what the last channel reads, and drop it.
  HWY_INLINE V Gather(const float* from, int64_t stride) const {
    const hn::RebindToSigned<D> di;
    const auto lane = hn::Min(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(count_) - 1));
    const auto index = hn::Mul(lane, hn::Set(di, static_cast<int32_t>(stride)));
    return hn::IfThenElseZero(hn::FirstN(D(), count_), hn::GatherIndex(D(), from, index));
  }
  HWY_INLINE void Store(V v, float* to) const {
    hn::BlendedStore(v, hn::FirstN(D(), count_), D(), to);
  }
  HWY_INLINE void Store(Bytes v, uint8_t* to) const {
    if constexpr (kMasksBytes) {
      hn::BlendedStore(v, hn::FirstN(ByteTag(), count_), ByteTag(), to);
    } else {
      const uint64_t bytes = hn::GetLane(hn::BitCast(EightBytes(), v));
      ForParts([&](auto part, size_t at) HWY_ATTR {
        part = static_cast<decltype(part)>(bytes >> (8 * at));
        std::memcpy(to + at, &part, sizeof(part));
      });
    }
  }

 private:
  // AVX2 has masks for floats only. Its vectors have up to eight bytes: they are read and written
  // in parts of 4, 2 and 1.
  static constexpr bool kMasksBytes = kLanes >= 16;
  using EightBytes = hn::Repartition<uint64_t, ByteTag>;

  // Calls function(an integer of the part's size, its first byte) for each part.
  template <class Function>
  HWY_INLINE void ForParts(const Function& function) const {
    size_t at = 0;
    if ((count_ & 4) != 0) {
      function(uint32_t{0}, at);
      at += 4;
    }
    if ((count_ & 2) != 0) {
      function(uint16_t{0}, at);
      at += 2;
    }
    if ((count_ & 1) != 0) function(uint8_t{0}, at);
  }

  size_t count_;
};

// Calls function(lanes) for the vector that has the first of `channels` channels.
template <class Function>
HWY_INLINE void WithLanes(int64_t channels, const Function& function) {
  if (channels >= kLanes) return function(AllLanes());
  function(FirstLanes(channels));
}

// How kVectors vectors are read and written, of which only the last one may have fewer channels
// than lanes.
template <int kVectors, class Lanes>
struct Vectors {
  //   n: the number of the vector that is at `from`.
  template <class T>
  HWY_INLINE auto Load(int n, const T* from) const {
    return n < kVectors - 1 ? AllLanes().Load(from) : last.Load(from);
  }
  template <class Vector, class T>
  HWY_INLINE void Store(int n, Vector v, T* to) const {
    if (n < kVectors - 1) return AllLanes().Store(v, to);
    last.Store(v, to);
  }

  Lanes last;
};

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#endif  // the toggle of each instruction set
