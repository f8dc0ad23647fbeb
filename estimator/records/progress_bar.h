// A progress bar on stderr, as Python's tqdm, for programs that write many files or records. On a
// terminal it redraws one line; elsewhere it prints a line from time to time.
//   [=========>          ] 45% 1.2M of 2.6M images, 1.9k/s, 12m 20s left
//
//   ProgressBar progress("images", num_images);
//   while (...) { Write(...); progress.Add(1); }
#ifndef ESTIMATOR_RECORDS_PROGRESS_BAR_H_
#define ESTIMATOR_RECORDS_PROGRESS_BAR_H_

#include <cstdint>
#include <cstdio>
#include <string>

namespace estimator {

// The text of a progress bar, without the end of the line.
//   done, total: of `unit`. A total of 0 means unknown: only the number and the rate are shown.
//   start: the part of `done` that was there before the first second.
std::string ProgressText(const std::string& unit, int64_t done, int64_t total, int64_t start,
                         double seconds);

// Not thread-safe.
class ProgressBar {
 public:
  enum class Style { kAuto, kTerminal, kLines, kNone };  // kAuto: asks whether stderr is a terminal

  ProgressBar(std::string unit, int64_t total, Style style = Style::kAuto, std::FILE* out = stderr);
  ~ProgressBar();  // as Finish
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Counts work of an earlier run, which has no effect on the rate.
  void AddEarlier(int64_t count);
  void Add(int64_t count);
  // Draws the last state. On a terminal it ends the line.
  void Finish();

 private:
  void Draw(bool last);

  const std::string unit_;
  const int64_t total_;
  Style style_;
  std::FILE* const out_;
  const double begin_seconds_;
  double drawn_seconds_;
  int64_t done_ = 0, start_ = 0;
  bool drawn_ = false, finished_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_PROGRESS_BAR_H_
