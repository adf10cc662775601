// SPDX-License-Identifier: MIT
// asio_library: which Asio runq/asio.hpp means: the stand-alone one, or Boost.Asio if RUNQ_BOOST_ASIO is 1.
#pragma once

#include <utility>

#ifndef RUNQ_BOOST_ASIO
#define RUNQ_BOOST_ASIO 0
#endif

#if RUNQ_BOOST_ASIO
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/version.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>
#define RUNQ_ASIO_CANCELS (BOOST_ASIO_VERSION >= 101900)
#if RUNQ_ASIO_CANCELS
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif
#else
#include <asio/associated_allocator.hpp>
#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/system_error.hpp>
#include <asio/system_executor.hpp>
#define RUNQ_ASIO_CANCELS 1
#endif

namespace runq::detail {

#if RUNQ_BOOST_ASIO
namespace asio_library = ::boost::asio;
using asio_error_code = ::boost::system::error_code;
using asio_system_error = ::boost::system::system_error;
#else
namespace asio_library = ::asio;
using asio_error_code = ::asio::error_code;
using asio_system_error = ::asio::system_error;
#endif

/// What Asio has for cancellation. Before 1.19, as Boost 1.74 has it, that is nothing: then no operation is cancelled.
namespace asio_cancellation {
#if RUNQ_ASIO_CANCELS
using signal = asio_library::cancellation_signal;
using slot = asio_library::cancellation_slot;
using type = asio_library::cancellation_type;
using asio_library::get_associated_cancellation_slot;
#else
enum class type { all };
struct slot {
  [[nodiscard]] bool is_connected() const noexcept { return false; }
  template <class F>
  // unreached: stands in where Asio has no cancellation; the tests' Asio has it.
  void assign(F&&) noexcept {}
  void clear() noexcept {}
};
struct signal {
  // unreached: likewise.
  [[nodiscard]] detail::asio_cancellation::slot slot() noexcept { return {}; }
  void emit(type) noexcept {}
};
template <class Handler>
[[nodiscard]] slot get_associated_cancellation_slot(const Handler&) noexcept {
  return {};
}
#endif
}  // namespace asio_cancellation

}  // namespace runq::detail
