#include "estimator/records/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

constexpr int kBarWidth = 24;
constexpr double kRedrawSeconds = 0.2, kLineSeconds = 10;

double NowSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string ProgressText(const std::string& unit, int64_t done, int64_t total, int64_t start,
                         double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done - start) / seconds : 0;
  const std::string speed = absl::StrCat(HumanCount(rate), "/s");
  if (total <= 0) {
    return absl::StrCat(HumanCount(static_cast<double>(done)), " ", unit, ", ", speed);
  }
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<size_t>(part * kBarWidth);
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  std::string text = absl::StrCat("[", bar, "] ", static_cast<int>(part * 100), "% ", done, " of ",
                                  total, " ", unit, ", ", speed);
  if (done < total && rate > 0) {
    absl::StrAppend(&text, ", ", HumanDuration(static_cast<double>(total - done) / rate), " left");
  } else if (done >= total) {
    absl::StrAppend(&text, ", ", HumanDuration(seconds));
  }
  return text;
}

ProgressBar::ProgressBar(std::string unit, int64_t total, Style style, std::FILE* out)
    : unit_(std::move(unit)),
      total_(total),
      style_(style),
      out_(out),
      begin_seconds_(NowSeconds()),
      drawn_seconds_(begin_seconds_) {
  if (style_ == Style::kAuto) {
    style_ = ::isatty(::fileno(out_)) == 1 ? Style::kTerminal : Style::kLines;
  }
}

ProgressBar::~ProgressBar() { Finish(); }

void ProgressBar::AddEarlier(int64_t count) {
  start_ += count;
  done_ += count;
}

void ProgressBar::Add(int64_t count) {
  done_ += count;
  const double period = style_ == Style::kTerminal ? kRedrawSeconds : kLineSeconds;
  if (NowSeconds() - drawn_seconds_ >= period) Draw(/*last=*/false);
}

void ProgressBar::Draw(bool last) {
  if (style_ == Style::kNone) return;
  drawn_seconds_ = NowSeconds();
  drawn_ = true;
  const std::string text =
      ProgressText(unit_, done_, total_, start_, drawn_seconds_ - begin_seconds_);
  // ESC [ K clears the rest of a longer line that was drawn before.
  if (style_ == Style::kTerminal) {
    std::fprintf(out_, "\r%s\033[K%s", text.c_str(), last ? "\n" : "");
  } else {
    std::fprintf(out_, "%s\n", text.c_str());
  }
  std::fflush(out_);
}

void ProgressBar::Finish() {
  if (finished_) return;
  finished_ = true;
  // A log needs no bar for work that took no time.
  if (style_ == Style::kTerminal || drawn_) Draw(/*last=*/true);
}

}  // namespace estimator
