// NonMaxSuppressionV4, NonMaxSuppressionV5, CombinedNonMaxSuppression.
// Of equal scores the box with the lower number is first.
// Source: TF 2.15 non_max_suppression_op.cc.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"

namespace estimator {
namespace {

struct BoxCandidate {
  float score = 0;
  int32_t box = 0;
  int32_t compared = 0;  // with so many of the chosen boxes
  int32_t label = 0;     // its class
};

// What boxes are chosen from: those of one image and one class.
struct BoxScores {
  const float* boxes = nullptr;
  const float* scores = nullptr;
  int64_t count = 0;
  int64_t box_stride = 4;
  int64_t score_stride = 1;
};

struct BoxLimits {
  int64_t max_chosen = 0;
  float iou_threshold = 0;
  float score_threshold = 0;
  float sigma = 0;  // above 0: overlapping boxes get a lower score

  absl::Status Check() const {
    if (iou_threshold >= 0 && iou_threshold <= 1) return absl::OkStatus();
    return InvalidArgument("iou_threshold is ", iou_threshold, ", must be in [0, 1]");
  }
};

// The area of the intersection by that of the union.
float Overlap(const float* a, const float* b) {
  const auto low = [](const float* box, int i) { return std::min(box[i], box[i + 2]); };
  const auto high = [](const float* box, int i) { return std::max(box[i], box[i + 2]); };
  const auto area = [&](const float* box) {
    return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
  };
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const auto common = [&](int i) {
    return std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.0F);
  };
  const float both = common(0) * common(1);
  return both / (area_a + area_b - both);
}

bool IsWorse(const BoxCandidate& a, const BoxCandidate& b) {
  return a.score < b.score || (a.score == b.score && a.box > b.box);
}

// Writes the chosen boxes, the best first, and returns their number.
//   heap: memory for all boxes.
int64_t Choose(const BoxScores& from, const BoxLimits& limits, BoxCandidate* heap,
               BoxCandidate* chosen) {
  int64_t size = 0, count = 0;
  for (int64_t i = 0; i < from.count; ++i) {
    const float score = from.scores[i * from.score_stride];
    if (score > limits.score_threshold) heap[size++] = {score, static_cast<int32_t>(i)};
  }
  std::make_heap(heap, heap + size, IsWorse);
  while (count < limits.max_chosen && size > 0) {
    std::pop_heap(heap, heap + size, IsWorse);
    BoxCandidate next = heap[--size];
    const float score = next.score;
    bool suppressed = false;
    for (int64_t i = count - 1; i >= next.compared && !suppressed; --i) {
      const float overlap = Overlap(from.boxes + next.box * from.box_stride,
                                    from.boxes + chosen[i].box * from.box_stride);
      if (limits.sigma > 0) {
        next.score *= std::exp(-0.5F / limits.sigma * overlap * overlap);
        suppressed = next.score <= limits.score_threshold;
      } else {
        suppressed = overlap > limits.iou_threshold;
      }
    }
    next.compared = static_cast<int32_t>(count);
    if (suppressed) continue;
    if (next.score == score) {
      chosen[count++] = next;
    } else {  // another box may be better now
      heap[size++] = next;
      std::push_heap(heap, heap + size, IsWorse);
    }
  }
  return count;
}

size_t CandidateBytes(int64_t count) {
  return static_cast<size_t>(std::max<int64_t>(1, count)) * sizeof(BoxCandidate);
}

KernelPlan NonMaxSuppression(const KernelSpec& spec) {
  const bool scores = spec.outputs.size() == 3;
  const int64_t n = spec.inputs[0].shape[0], max_chosen = spec.outputs[0].shape[0];
  return MakeKernel(
      [=](const KernelArgs& args) {
        const BoxLimits limits{max_chosen, args.in<float>(3)[0], args.in<float>(4)[0],
                               scores ? args.in<float>(5)[0] : 0};
        EST_RETURN_IF_ERROR(limits.Check());
        auto* const heap = static_cast<BoxCandidate*>(args.scratch);
        BoxCandidate* const chosen = heap + n;
        const int64_t count =
            Choose({args.in<float>(0), args.in<float>(1), n}, limits, heap, chosen);
        for (int64_t i = 0; i < max_chosen; ++i) {
          args.out<int32_t>(0)[i] = i < count ? chosen[i].box : 0;
          if (scores) args.out<float>(1)[i] = i < count ? chosen[i].score : 0;
        }
        args.out<int32_t>(scores ? 2 : 1)[0] = static_cast<int32_t>(count);
        return absl::OkStatus();
      },
      CandidateBytes(n + max_chosen));
}

KernelPlan Combined(const KernelSpec& spec) {
  const Shape &boxes = spec.inputs[0].shape, &scores = spec.inputs[1].shape;
  const int64_t n = boxes[1], q = boxes[2], classes = scores[2], total = spec.outputs[1].shape[1];
  if (!spec.constants[2].has_value()) return nullptr;
  // No class has more boxes than there are.
  const int64_t of_class = std::min(n, static_cast<int64_t>(spec.constants[2]->AsDouble(0)));
  const bool clip = spec.attrs.b("clip_boxes");
  return MakeKernel(
      [=, images = boxes[0]](const KernelArgs& args) {
        const BoxLimits limits{of_class, args.in<float>(4)[0], args.in<float>(5)[0]};
        EST_RETURN_IF_ERROR(limits.Check());
        auto* const heap = static_cast<BoxCandidate*>(args.scratch);
        BoxCandidate* const chosen = heap + n;
        for (int64_t image = 0; image < images; ++image) {
          const float* const corners = args.in<float>(0) + image * n * q * 4;
          int64_t count = 0;
          for (int64_t label = 0; label < classes; ++label) {
            BoxCandidate* const first = chosen + count;
            const int64_t added =
                Choose({corners + (q > 1 ? label * 4 : 0),
                        args.in<float>(1) + image * n * classes + label, n, q * 4, classes},
                       limits, heap, first);
            for (int64_t i = 0; i < added; ++i) first[i].label = static_cast<int32_t>(label);
            count += added;
          }
          // Of equal scores, the lower class comes first.
          std::sort(chosen, chosen + count, [](const BoxCandidate& a, const BoxCandidate& b) {
            if (a.score != b.score) return a.score > b.score;
            return a.label != b.label ? a.label < b.label : a.box < b.box;
          });
          count = std::min(count, total);
          for (int64_t i = 0; i < total; ++i) {
            const int64_t at = image * total + i;
            const bool valid = i < count;
            for (int64_t k = 0; k < 4; ++k) {
              const float corner =
                  valid ? corners[chosen[i].box * q * 4 + (q > 1 ? chosen[i].label * 4 : 0) + k]
                        : 0;
              args.out<float>(0)[at * 4 + k] = clip ? std::clamp(corner, 0.0F, 1.0F) : corner;
            }
            args.out<float>(1)[at] = valid ? chosen[i].score : 0;
            args.out<float>(2)[at] = valid ? static_cast<float>(chosen[i].label) : 0;
          }
          args.out<int32_t>(3)[image] = static_cast<int32_t>(count);
        }
        return absl::OkStatus();
      },
      CandidateBytes(n + classes * of_class));
}

EST_REGISTER_KERNEL("NonMaxSuppressionV4", KernelTier::kReference, NonMaxSuppression);
EST_REGISTER_KERNEL("NonMaxSuppressionV5", KernelTier::kReference, NonMaxSuppression);
EST_REGISTER_KERNEL("CombinedNonMaxSuppression", KernelTier::kReference, Combined);

}  // namespace
}  // namespace estimator
