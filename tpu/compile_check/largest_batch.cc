#include "tpu/compile_check/largest_batch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "glog/logging.h"
#include "tpu/compile_check/hlo_memory.h"

namespace estimator::tpu {
namespace {

using SearchClock = std::chrono::steady_clock;

constexpr int64_t kStep = 8;        // rows come in tiles of 8
constexpr int64_t kMost = 1 << 20;  // rows of one device
constexpr double kBytesOfGiB = 1024.0 * 1024.0 * 1024.0;

// The memory of a device that libtpu leaves to a program, if no message has told it: about 7.5 of
// the 8 GiB of a v2.
double UsableBytes(const CompileTarget& target) { return 0.93 * target.memory_gib * kBytesOfGiB; }

// The bytes that a program needs, if that is known.
std::optional<double> BytesOf(const CompileOutcome& outcome) {
  if (!outcome.status.ok()) {
    const std::optional<MemoryShortage> shortage = ParseMemoryShortage(outcome.status.message());
    if (!shortage.has_value()) return std::nullopt;
    return shortage->needed;
  }
  const HloMemory memory = MemoryOfHlo(outcome.scheduled_hlo);
  const auto bytes = static_cast<double>(memory.arguments + memory.temporaries);
  if (bytes <= 0) return std::nullopt;
  return bytes;
}

// "22.36G" at the start of `text`, in bytes. Sets `end` behind it. Negative: it is no size.
double ParseSize(absl::string_view text, size_t& end) {
  end = std::min(text.find_first_not_of("0123456789."), text.size());
  double value = 0;
  if (!absl::SimpleAtod(text.substr(0, end), &value)) return -1;
  const size_t unit =
      end < text.size() ? absl::string_view("KMGT").find(text[end]) : absl::string_view::npos;
  if (unit == absl::string_view::npos) return value;
  ++end;
  return value * std::pow(1024.0, static_cast<double>(unit + 1));
}

// The size that follows `before` in `text`, which is cut behind it.
double SizeAfter(absl::string_view before, absl::string_view& text) {
  const size_t begin = text.find(before);
  if (begin == absl::string_view::npos) return -1;
  text.remove_prefix(begin + before.size());
  size_t end = 0;
  const double size = ParseSize(text, end);
  text.remove_prefix(end);
  return size;
}

class Search {
 public:
  Search(const CompileRequest& request, const ProgramForRows& program, const SearchLimits& limits)
      : request_(request),
        program_(program),
        limits_(limits),
        usable_bytes_(UsableBytes(request.target)),
        start_(SearchClock::now()) {}

  LargestBatch Run(const CompileOutcome& outcome, int64_t rows) {
    result_.ended = Note(outcome, rows);
    while (result_.ended.ok() && !IsFound()) {
      const int64_t fits = result_.fits, too_large = result_.too_large;
      result_.ended = Try(Candidate());
      // An interpolation that cuts off little is followed by a halving.
      const bool bracketed = fits > 0 && too_large > 0;
      halve_ = bracketed && result_.too_large - result_.fits > (too_large - fits) / 2;
    }
    return result_;
  }

 private:
  struct Point {
    int64_t rows;
    double bytes;
  };

  // Whether nothing is left to try.
  bool IsFound() const {
    const int64_t fits = result_.fits, too_large = result_.too_large;
    if (too_large == 0) return fits >= kMost;
    if (fits == 0) return too_large <= kStep;
    const double share = limits_.resolution * static_cast<double>(fits);
    return FirstAbove(fits) >= too_large ||
           static_cast<double>(too_large - fits) <= std::max(static_cast<double>(kStep), share);
  }

  static int64_t FirstAbove(int64_t rows) { return rows / kStep * kStep + kStep; }
  static int64_t LastBelow(int64_t rows) { return (rows - 1) / kStep * kStep; }

  // The next rows to try, a multiple of 8.
  int64_t Candidate() const {
    const int64_t fits = result_.fits, too_large = result_.too_large;
    int64_t least = std::max(kStep, FirstAbove(fits));
    int64_t most = too_large > 0 ? std::max(kStep, LastBelow(too_large)) : kMost;
    least = std::min(least, most);
    double guess = too_large == 0 ? 2.0 * static_cast<double>(fits)
                                  : static_cast<double>(fits + too_large) / 2;
    if (!halve_) guess = Predicted().value_or(guess);
    guess = std::clamp(guess, static_cast<double>(least), static_cast<double>(most));
    return std::clamp(static_cast<int64_t>(guess) / kStep * kStep, least, most);
  }

  // The rows that would need all usable memory, by the line through the last two programs.
  std::optional<double> Predicted() const {
    if (points_.empty()) return std::nullopt;
    const Point& last = points_.back();
    // With one program only, all memory is taken to grow with the rows.
    Point other = {0, 0};
    if (points_.size() > 1) other = points_[points_.size() - 2];
    const double slope = (last.bytes - other.bytes) / static_cast<double>(last.rows - other.rows);
    // More rows that need no more memory predict nothing. This also refuses NaN.
    if (!(slope > 0)) return std::nullopt;
    return static_cast<double>(last.rows) + (usable_bytes_ - last.bytes) / slope;
  }

  // Keeps what the outcome says about this number of rows. Returns an error that ends the search.
  absl::Status Note(const CompileOutcome& outcome, int64_t rows) {
    if (!outcome.status.ok() && !absl::IsResourceExhausted(outcome.status)) return outcome.status;
    if (outcome.status.ok()) {
      result_.fits = rows;
    } else {
      result_.too_large = rows;
      const auto shortage = ParseMemoryShortage(outcome.status.message());
      if (shortage.has_value() && shortage->available > 0) usable_bytes_ = shortage->available;
    }
    if (const std::optional<double> bytes = BytesOf(outcome); bytes.has_value() && rows > 0)
      points_.push_back({rows, *bytes});
    return absl::OkStatus();
  }

  absl::Status Try(int64_t rows) {
    if (result_.num_compiles >= limits_.max_compiles) {
      return ResourceExhausted("it compiles at most ", limits_.max_compiles, " programs");
    }
    CompileRequest request = request_;
    request.timeout_seconds =
        limits_.seconds - std::chrono::duration<double>(SearchClock::now() - start_).count();
    const absl::Status late = absl::DeadlineExceededError(
        absl::StrFormat("it may take %.4g s; --tpu_check_seconds allows more", limits_.seconds));
    if (request.timeout_seconds <= 0) return late;
    absl::StatusOr<std::optional<std::string>> text = program_(rows);
    if (!text.ok()) return text.status();
    if (!text->has_value()) {
      return NotFound("the model cannot be built for ", rows, " rows");
    }
    request.stablehlo = **std::move(text);
    ++result_.num_compiles;
    LOG(INFO) << "Searching for the largest batch on " << request.target.name << ": compiling "
              << rows << " rows a replica, program " << result_.num_compiles << " of at most "
              << limits_.max_compiles;
    const absl::StatusOr<CompileOutcome> outcome = CompileInChild(request);
    if (!outcome.ok()) return outcome.status();
    LOG(INFO) << rows << " rows a replica "
              << (outcome->status.ok()                         ? "fit"
                  : absl::IsResourceExhausted(outcome->status) ? "do not fit"
                                                               : "were not compiled")
              << absl::StrFormat(" (%.1f s)", outcome->seconds);
    if (absl::IsDeadlineExceeded(outcome->status)) return late;
    return Note(*outcome, rows);
  }

  const CompileRequest& request_;
  const ProgramForRows& program_;
  const SearchLimits limits_;
  double usable_bytes_;
  const SearchClock::time_point start_;
  LargestBatch result_;
  std::vector<Point> points_;  // in the order of their compilation
  bool halve_ = false;
};

}  // namespace

std::optional<MemoryShortage> ParseMemoryShortage(StringArg message) {
  // "the total memory required for HLO temporaries (22.36G) exceeds available HBM (7.48G)", and in
  // other versions "Used 17.20G of 15.75G hbm".
  for (const auto& [before_needed, before_available] :
       {std::pair<absl::string_view, absl::string_view>("memory required for HLO temporaries (",
                                                        " exceeds available HBM ("),
        std::pair<absl::string_view, absl::string_view>("Used ", " of ")}) {
    absl::string_view text = message;
    const double needed = SizeAfter(before_needed, text);
    const double available = SizeAfter(before_available, text);
    if (needed > 0 && available > 0)
      return MemoryShortage{.needed = needed, .available = available};
  }
  return std::nullopt;
}

LargestBatch FindLargestBatch(const CompileRequest& request, const CompileOutcome& outcome,
                              int64_t rows, const ProgramForRows& program,
                              const SearchLimits& limits) {
  return Search(request, program, limits).Run(outcome, rows);
}

std::string LargestBatchLine(const LargestBatch& largest, int64_t rows, int64_t num_replicas) {
  const int64_t fits = largest.fits, too_large = largest.too_large;
  std::string line;
  if (!largest.ended.ok()) {
    absl::StrAppend(&line, "  the largest batch that fits is not known exactly: ");
    if (fits > 0) {
      absl::StrAppend(&line, fits, " rows a replica, ", fits * num_replicas, " in all, fit; ");
    }
    if (too_large > 0) absl::StrAppend(&line, too_large, " rows a replica do not fit; ");
    absl::StrAppend(&line, "the search ended early: ", largest.ended.message());
  } else if (fits == 0) {
    absl::StrAppend(&line, "  no batch fits: even ", too_large, " rows a replica are too large");
  } else {
    absl::StrAppend(&line, "  the largest batch that fits has ", fits, " rows a replica, ",
                    fits * num_replicas, " in all");
    if (too_large > 0) absl::StrAppend(&line, "; ", too_large, " rows a replica do not fit");
  }
  absl::StrAppend(&line, "; this one has ", rows, " and ", rows * num_replicas, "\n");
  return line;
}

int64_t EstimateRows(const CompileRequest& request, const CompileOutcome& outcome, int64_t rows) {
  if (!outcome.status.ok() || rows <= 0) return 0;
  const std::optional<double> bytes = BytesOf(outcome);
  if (!bytes.has_value()) return 0;
  const double filled = static_cast<double>(rows) * UsableBytes(request.target) / *bytes;
  const auto estimate = static_cast<int64_t>(std::min(filled, static_cast<double>(kMost)));
  return std::max(rows, estimate / kStep * kStep);
}

}  // namespace estimator::tpu
