// The module for PMIx: compiled with its header.

#include <pmix.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "engines/pmix_table.h"

namespace {

// PMIx is one for the process, and so are these.
pmix_proc_t self;
bool is_initialized = false;
std::uint64_t join_count = 0;

/// Without it a launcher may take the exit for a failure, and of a failure it should.
void finalize_at_exit(int status, void*) {
  if (status == 0) PMIx_Finalize(nullptr, 0);
}

int get_number(const char* key, std::uint32_t* number) {
  pmix_proc_t all;
  PMIX_PROC_LOAD(&all, self.nspace, PMIX_RANK_WILDCARD);
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&all, key, nullptr, 0, &value);
  if (status != PMIX_SUCCESS) return status;
  const bool is_number = value->type == PMIX_UINT32;
  *number = is_number ? value->data.uint32 : 0;
  PMIX_VALUE_RELEASE(value);
  return is_number ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH;
}

const char* explain(int error) { return PMIx_Error_string(error); }

int initialize(std::uint32_t* rank, std::uint32_t* size, std::uint32_t* local_size) {
  if (!is_initialized) {
    const pmix_status_t status = PMIx_Init(&self, nullptr, 0);
    if (status != PMIX_SUCCESS) return status;
    is_initialized = true;
    ::on_exit(finalize_at_exit, nullptr);
  }
  *rank = self.rank;
  if (const int status = get_number(PMIX_JOB_SIZE, size); status != PMIX_SUCCESS) return status;
  return get_number(PMIX_LOCAL_SIZE, local_size);
}

std::uint64_t count_join() { return ++join_count; }

int put(const char* key, const char* text) {
  pmix_value_t value;
  PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
  pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key, &value);
  PMIX_VALUE_DESTRUCT(&value);
  if (status == PMIX_SUCCESS) status = PMIx_Commit();
  return status;
}

int get(std::uint32_t rank, const char* key, int seconds, char* text, std::size_t size) {
  pmix_proc_t peer;
  PMIX_PROC_LOAD(&peer, self.nspace, rank);
  pmix_info_t timeout;
  PMIX_INFO_LOAD(&timeout, PMIX_TIMEOUT, &seconds, PMIX_INT);
  pmix_value_t* value = nullptr;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  pmix_status_t status = PMIx_Get(&peer, key, &timeout, 1, &value);
  // A launcher waits for a rank that has left nothing yet, but not for its second note.
  while (status == PMIX_ERR_NOT_FOUND && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = PMIx_Get(&peer, key, &timeout, 1, &value);
  }
  PMIX_INFO_DESTRUCT(&timeout);
  if (status != PMIX_SUCCESS) return status;
  const bool is_text = value->type == PMIX_STRING;
  if (is_text) {
    const std::size_t length = std::min(std::strlen(value->data.string), size - 1);
    std::memcpy(text, value->data.string, length);
    text[length] = '\0';
  }
  PMIX_VALUE_RELEASE(value);
  return is_text ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH;
}

}  // namespace

extern "C" const FaninPmix* fanin_pmix_table_1() {
  static const FaninPmix table = {.explain = explain,
                                  .initialize = initialize,
                                  .count_join = count_join,
                                  .put = put,
                                  .get = get};
  return &table;
}
