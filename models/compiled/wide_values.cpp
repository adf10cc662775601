// SPDX-License-Identifier: MIT
#include "wide_values.hpp"

namespace runq::model::compiled {

namespace {

template <class T>
[[nodiscard]] T read_as(const void* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void write_as(void* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::uint64_t wide_values::get(std::uint64_t number, part p) {
  const unsigned __int128 value = value_of(number);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, reinterpret_cast<const std::byte*>(&value) + p.first, p.size);
  return bytes;
}

std::uint64_t wide_values::put(std::uint64_t number, part p, std::uint64_t bytes) {
  unsigned __int128 value = value_of(number);
  std::memcpy(reinterpret_cast<std::byte*>(&value) + p.first, &bytes, p.size);
  return number_of(value);
}

std::uint64_t wide_values::read(const void* at, unsigned size) {
  switch (size) {
    case 1: return read_as<std::uint8_t>(at);
    case 2: return read_as<std::uint16_t>(at);
    case 4: return read_as<std::uint32_t>(at);
    case 8: return read_as<std::uint64_t>(at);
    default: return number_of(read_as<unsigned __int128>(at));
  }
}

void wide_values::write(void* at, unsigned size, std::uint64_t value) {
  switch (size) {
    case 1: return write_as(at, static_cast<std::uint8_t>(value));
    case 2: return write_as(at, static_cast<std::uint16_t>(value));
    case 4: return write_as(at, static_cast<std::uint32_t>(value));
    case 8: return write_as(at, value);
    default: return write_as(at, value_of(value));
  }
}

}  // namespace runq::model::compiled
