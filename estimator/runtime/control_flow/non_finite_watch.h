// NonFiniteWatch: finds the ops inside of loops and branches whose results are not finite. A search
// among the tensors of the graph (training/model/first_non_finite.h) cannot see these.
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_NON_FINITE_WATCH_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_NON_FINITE_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/runtime/ir.h"

namespace estimator {

// The index of the first NaN; if there is none, of the first infinite element.
//   value: of a floating dtype.
std::optional<int64_t> FindNonFinite(const Array& value);

// While it exists, the bodies that run on its thread look at each result, which takes as long as
// computing it. Without one it costs a read of a thread-local pointer for each trip.
class NonFiniteWatch {
 public:
  NonFiniteWatch();
  ~NonFiniteWatch();
  NonFiniteWatch(const NonFiniteWatch&) = delete;
  NonFiniteWatch& operator=(const NonFiniteWatch&) = delete;
  // The one of this thread; null if there is none.
  static NonFiniteWatch* Current();

  // For the kernels of loops: trip `trip` begins, or ends.
  void EnterTrip(int64_t trip) { trips_.push_back(trip); }
  void LeaveTrip() { trips_.pop_back(); }
  // For bodies: an op has computed `outputs`.
  void Look(const ir::Node& node, absl::Span<void* const> outputs);

  // Of the ops inside of the loop or branch with this name, the first that gave a NaN, else the
  // first that gave an infinite number: "while/Log (f32 [4]) is NaN at trip 3".
  std::optional<std::string> FirstInside(absl::string_view name) const;

 private:
  struct Found {
    std::string op;
    std::string text;
    bool is_nan;
  };
  // Later ones follow from the first ones.
  static constexpr size_t kMostFound = 10'000;
  std::vector<int64_t> trips_;  // of all loops around, outermost first
  std::vector<Found> found_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_NON_FINITE_WATCH_H_
