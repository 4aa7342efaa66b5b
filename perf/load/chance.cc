#include "chance.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gyre::load {

std::uint64_t Chance::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

// The bias of the remainder is below 2^-40 for the bounds used here.
std::uint64_t Chance::below(std::uint64_t bound) { return next() % bound; }

double Chance::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

double Chance::normal() {
  // Box and Muller; 1 - uniform() keeps the logarithm away from 0.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Zipf::Zipf(std::size_t count, double exponent) {
  cumulative_.reserve(count);
  double sum = 0;
  for (std::size_t rank = 0; rank < count; ++rank) {
    sum += std::pow(static_cast<double>(rank + 1), -exponent);
    cumulative_.push_back(sum);
  }
}

std::size_t Zipf::operator()(Chance& chance) const {
  const double target = chance.uniform() * cumulative_.back();
  const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), target);
  return std::min(static_cast<std::size_t>(found - cumulative_.begin()), cumulative_.size() - 1);
}

}  // namespace gyre::load
