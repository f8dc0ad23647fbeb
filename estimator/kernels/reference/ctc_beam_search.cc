// CTCBeamSearchDecoder: label sequences with the most probable paths, of which the best beam_width
// are kept after each step.
// Source: Graves 2012, chapter 7.5; TF 2.15 ctc_beam_search.h.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/types/span.h"
#include "estimator/base/status.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"

namespace estimator {
namespace {

constexpr double kNoPath = -std::numeric_limits<double>::infinity();

double LogAddPaths(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNoPath ? a : a + std::log1p(std::exp(b - a));
}

// A label sequence is a node of a tree: that of its parent, and one label more.
struct BeamNode {
  int32_t parent = -1;
  int32_t label = -1;
  int32_t first_child = -1, next_child = -1;  // of this node; of its parent
  int32_t beam = -1;                          // its place among the beams of the last step
  bool kept = false;                          // it is still among those of this step
};
// Logarithms of the probability of the paths of a sequence, which end with a blank, or not.
struct Beam {
  int32_t node = -1;  // -1: a new sequence, of parent and label
  int32_t parent = -1, label = -1;
  double blank = kNoPath, no_blank = kNoPath, total = kNoPath;
  bool extends = true;
};
bool IsLikelier(const Beam& a, const Beam& b) { return a.total > b.total; }

struct BeamSearchSizes {
  int64_t steps = 0, batch = 0, classes = 0, width = 0, paths = 0;
  bool merge_repeated = false;

  // At most `width` sequences are new in each step.
  int64_t max_nodes() const { return 1 + steps * width; }
  size_t nodes_bytes() const {
    return AlignedBytes(static_cast<size_t>(max_nodes()) * sizeof(BeamNode));
  }
  size_t beams_bytes() const { return AlignedBytes(static_cast<size_t>(width) * sizeof(Beam)); }
  size_t bytes() const {
    return nodes_bytes() + 2 * beams_bytes() +
           AlignedBytes(static_cast<size_t>(classes) * (sizeof(double) + sizeof(bool)));
  }
};

// The search for one example.
class BeamSearch {
 public:
  BeamSearch(const BeamSearchSizes& sizes, char* memory)
      : sizes_(sizes),
        nodes_(reinterpret_cast<BeamNode*>(memory)),
        beams_(reinterpret_cast<Beam*>(memory + sizes.nodes_bytes())),
        next_(reinterpret_cast<Beam*>(memory + sizes.nodes_bytes() + sizes.beams_bytes())),
        log_y_(reinterpret_cast<double*>(memory + sizes.nodes_bytes() + 2 * sizes.beams_bytes())),
        is_beam_(reinterpret_cast<bool*>(log_y_ + sizes.classes)) {
    nodes_[0] = {};
    beams_[0] = {.node = 0, .blank = 0, .total = 0};
  }

  template <typename T>
  void Step(const T* logits) {
    Normalize(logits);
    num_next_ = 0;
    Sorted();
    for (int64_t i = 0; i < num_beams_; ++i) nodes_[beams_[i].node].beam = static_cast<int32_t>(i);
    for (int64_t i = 0; i < num_beams_; ++i) {
      nodes_[beams_[i].node].kept = true;
      Push(Continued(beams_[i]));
    }
    for (int64_t i = 0; i < num_beams_; ++i) Extend(beams_[i]);
    for (int64_t i = 0; i < num_beams_; ++i) nodes_[beams_[i].node].beam = -1;
    for (int64_t i = 0; i < num_next_; ++i)
      if (next_[i].node < 0) next_[i].node = NodeOf(next_[i]);
    std::swap(beams_, next_);
    num_beams_ = num_next_;
  }

  // Sorts the beams, the best first, and returns them.
  absl::Span<const Beam> Sorted() {
    std::stable_sort(beams_, beams_ + num_beams_, IsLikelier);
    return {beams_, static_cast<size_t>(num_beams_)};
  }
  const BeamNode& node(int32_t i) const { return nodes_[i]; }

 private:
  template <typename T>
  void Normalize(const T* logits) {
    const int64_t n = sizes_.classes;
    const double maximum = static_cast<double>(*std::max_element(logits, logits + n));
    double sum = 0;
    for (int64_t c = 0; c < n; ++c) {
      log_y_[c] = static_cast<double>(logits[c]) - maximum;
      sum += std::exp(log_y_[c]);
    }
    for (int64_t c = 0; c < n; ++c) log_y_[c] -= std::log(sum);
  }

  // A path gives the same sequence with one more blank, or with one more of its last label; and so
  // does a path of the parent with this label.
  Beam Continued(const Beam& beam) const {
    Beam result{.node = beam.node, .blank = beam.total + log_y_[sizes_.classes - 1]};
    const BeamNode& own = nodes_[beam.node];
    if (own.parent >= 0) {
      result.no_blank = beam.no_blank;
      const BeamNode& parent = nodes_[own.parent];
      if (parent.beam >= 0)
        result.no_blank =
            LogAddPaths(result.no_blank, Before(beams_[parent.beam], parent.label, own.label));
      result.no_blank += log_y_[own.label];
    }
    result.total = LogAddPaths(result.blank, result.no_blank);
    return result;
  }

  // Of the paths of `parent`, those that `label` makes longer: it differs from the last label, or
  // a blank is between them.
  static double Before(const Beam& parent, int32_t last, int32_t label) {
    return last == label ? parent.blank : parent.total;
  }

  // The sequences with one more label that are not among the beams. As in TensorFlow, a beam that
  // this step dropped is not extended either, if its parent comes after that and before it.
  void Extend(const Beam& beam) {
    if (!beam.extends || !Fits(beam)) return;
    const auto labels = static_cast<int32_t>(sizes_.classes - 1);
    std::fill_n(is_beam_, labels, false);
    for (int32_t c = nodes_[beam.node].first_child; c >= 0; c = nodes_[c].next_child) {
      if (nodes_[c].beam < 0) continue;
      is_beam_[nodes_[c].label] = true;
      if (!nodes_[c].kept) beams_[nodes_[c].beam].extends = false;
    }
    for (int32_t label = 0; label < labels; ++label) {
      if (is_beam_[label]) continue;
      const double p = Before(beam, nodes_[beam.node].label, label) + log_y_[label];
      if (p > kNoPath) Push({.parent = beam.node, .label = label, .no_blank = p, .total = p});
    }
  }

  bool Fits(const Beam& beam) const {
    return num_next_ < sizes_.width || IsLikelier(beam, next_[0]);
  }
  // Keeps the best `width`: a heap with the worst one on top.
  void Push(const Beam& beam) {
    if (!Fits(beam)) return;
    if (num_next_ == sizes_.width) {
      std::pop_heap(next_, next_ + num_next_--, IsLikelier);
      if (next_[num_next_].node >= 0) nodes_[next_[num_next_].node].kept = false;
    }
    next_[num_next_++] = beam;
    std::push_heap(next_, next_ + num_next_, IsLikelier);
  }

  // The node of a new beam. A sequence that was a beam before has one, and perhaps longer ones too.
  int32_t NodeOf(const Beam& beam) {
    for (int32_t c = nodes_[beam.parent].first_child; c >= 0; c = nodes_[c].next_child)
      if (nodes_[c].label == beam.label) return c;
    nodes_[num_nodes_] = {
        .parent = beam.parent, .label = beam.label, .next_child = nodes_[beam.parent].first_child};
    nodes_[beam.parent].first_child = num_nodes_;
    return num_nodes_++;
  }

  const BeamSearchSizes& sizes_;
  BeamNode* const nodes_;
  Beam *beams_, *next_;
  double* const log_y_;  // [classes]
  bool* const is_beam_;  // [classes]
  int32_t num_nodes_ = 1;
  int64_t num_beams_ = 1, num_next_ = 0;
};

// Searches for the labels of example b and writes them to rows b * steps, ... of its outputs.
// Returns the number of label sequences that there are, at most sizes.paths.
template <typename T>
int64_t DecodeExample(const BeamSearchSizes& sizes, int64_t b, char* memory,
                      const KernelArgs& args) {
  BeamSearch search(sizes, memory);
  for (int64_t t = 0; t < args.in<int32_t>(1)[b]; ++t)
    search.Step(args.in<T>(0) + (t * sizes.batch + b) * sizes.classes);
  const absl::Span<const Beam> beams = search.Sorted();
  const int64_t found = std::min(sizes.paths, static_cast<int64_t>(beams.size()));
  for (int64_t p = 0; p < found; ++p) {
    const Beam& beam = beams[static_cast<size_t>(p)];
    const auto output = static_cast<int>(p), paths = static_cast<int>(sizes.paths);
    int64_t* const indices = args.out<int64_t>(output) + 2 * b * sizes.steps;
    int64_t* const values = args.out<int64_t>(paths + output) + b * sizes.steps;
    std::fill_n(indices, 2 * sizes.steps, 0);
    std::fill_n(values, sizes.steps, -1);
    int64_t length = 0;
    int32_t last = -1;  // from the end, as in TensorFlow
    for (int32_t i = beam.node; search.node(i).parent >= 0; i = search.node(i).parent) {
      const int32_t label = search.node(i).label;
      if (!sizes.merge_repeated || label != last) values[length++] = label;
      last = label;
    }
    std::reverse(values, values + length);
    for (int64_t i = 0; i < length; ++i) {
      indices[2 * i] = b;
      indices[2 * i + 1] = i;
    }
    args.out<T>(3 * paths)[b * sizes.paths + p] = static_cast<T>(beam.total);
  }
  return found;
}

template <typename T>
KernelPlan MakeBeamSearch(const KernelSpec& spec) {
  const Shape& logits = spec.inputs[0].shape;
  const BeamSearchSizes sizes{logits[0],
                              logits[1],
                              logits[2],
                              spec.attrs.i("beam_width"),
                              spec.attrs.i("top_paths"),
                              spec.attrs.b("merge_repeated")};
  const fused::Chunks chunks =
      fused::MakeChunks(sizes.batch, sizes.steps * sizes.width * (sizes.classes + 100));
  const size_t of_threads = static_cast<size_t>(chunks.count) * sizes.bytes();
  return MakeKernel(
      [sizes, chunks, of_threads](const KernelArgs& args) {
        auto* const memory = static_cast<char*>(args.scratch);
        auto* const found = reinterpret_cast<int64_t*>(memory + of_threads);
        const auto example_text = [&](int64_t b) {
          return PositionText("example ", b, sizes.batch, args.step);
        };
        for (int64_t b = 0; b < sizes.batch; ++b) {
          const int32_t length = args.in<int32_t>(1)[b];
          if (length < 0 || length > sizes.steps)
            return InvalidArgument(example_text(b), " has sequence_length ", length,
                                   ", but the inputs have ", sizes.steps,
                                   " steps: lengths must be in [0, ", sizes.steps, "]");
        }
        fused::ForEachItem(chunks, [&](int chunk, int64_t b) {
          found[b] =
              DecodeExample<T>(sizes, b, memory + static_cast<size_t>(chunk) * sizes.bytes(), args);
        });
        for (int64_t b = 0; b < sizes.batch; ++b) {
          if (found[b] < sizes.paths)
            return InvalidArgument(example_text(b), " has only ", found[b],
                                   " label sequences, fewer than top_paths = ", sizes.paths,
                                   "; it has ", args.in<int32_t>(1)[b], " steps");
        }
        for (int64_t p = 0; p < sizes.paths; ++p) {
          const auto paths = static_cast<int>(sizes.paths), output = static_cast<int>(p);
          int64_t* const shape = args.out<int64_t>(2 * paths + output);
          shape[0] = sizes.batch;
          shape[1] = 0;
          const int64_t* const values = args.out<int64_t>(paths + output);
          for (int64_t i = 0; i < sizes.batch * sizes.steps; ++i)
            if (values[i] >= 0) shape[1] = std::max(shape[1], i % sizes.steps + 1);
        }
        return absl::OkStatus();
      },
      of_threads + AlignedBytes(static_cast<size_t>(sizes.batch) * sizeof(int64_t)));
}

EST_REGISTER_KERNEL("CTCBeamSearchDecoder", KernelTier::kReference,
                    [](const KernelSpec& spec) -> KernelPlan {
                      if (spec.inputs[0].dtype == DType::kFloat32)
                        return MakeBeamSearch<float>(spec);
                      if (spec.inputs[0].dtype == DType::kFloat64)
                        return MakeBeamSearch<double>(spec);
                      return nullptr;
                    });

}  // namespace
}  // namespace estimator
