# One folder, one layer, one target. A layer sees its own headers and those of the layers that it
# USES, and no others: each layer has an include root of its own in the build tree, which holds
# links to its folder (as <layer>/...) and to its public headers (as fanin/...). So an include that
# the architecture does not allow does not compile.

function(fanin_add_flags name sanitizers)
  add_library(${name} INTERFACE)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_compile_options(${name} INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion
    # Of sources compiled together, one's names shadow another's, and anonymous namespaces look like
    # those of headers. The preset dev, where each source is alone, warns of what is meant.
    $<IF:$<BOOL:${FANIN_TOGETHER}>,-Wno-subobject-linkage,-Wshadow>
    $<$<BOOL:${FANIN_WERROR}>:-Werror>
    # The bits of a sum must not depend on which multiply-add pairs a compiler fuses.
    -ffp-contract=off)
  if(sanitizers)
    target_compile_options(${name} INTERFACE
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${name} INTERFACE -fsanitize=${FANIN_SANITIZE})
  endif()
endfunction()

# What makes compiling long is spent on what is tested, not on the tests: full optimisation, and the
# checks for undefined behaviour.
fanin_add_flags(fanin_flags "${FANIN_SANITIZE}")
string(REPLACE ",undefined" "" sanitizers_of_tests "${FANIN_SANITIZE}")
fanin_add_flags(fanin_test_flags "${sanitizers_of_tests}")
if(FANIN_SANITIZE)
  target_compile_options(fanin_test_flags INTERFACE -O0)
else()
  target_compile_options(fanin_test_flags INTERFACE -O1)
endif()

# For layers and the tool; sources that Highway includes again and again stay alone.
function(fanin_compile_together target at_once)
  if(FANIN_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${at_once})
  endif()
endfunction()

# Tests define what they like in their own files, so they are not compiled together; but what they
# all include is compiled once.
if(FANIN_TESTS)
  file(CONFIGURE OUTPUT test_headers.cc CONTENT "")
  add_executable(fanin_test_headers ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cc)
  target_link_libraries(fanin_test_headers PRIVATE
    fanin_test_flags GTest::gmock_main fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(fanin_test_headers PRIVATE
    <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>)
endif()
function(fanin_reuse_test_headers target)
  target_precompile_headers(${target} REUSE_FROM fanin_test_headers)
endfunction()

set_property(GLOBAL PROPERTY FANIN_LAYERS "")

# fanin_layer(name SOURCES a.cc... HEADERS public.h... USES layer... LIBRARIES private-library...
#   TESTS a_test.cc... TEST_LIBRARIES library-of-the-tests... [ONE_THREAD])
# ONE_THREAD: neither the layer nor its tests start a thread or know of one (tools/lint.sh looks), so
# the thread sanitizer has nothing to find there and its build leaves these tests out.
function(fanin_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "ONE_THREAD" "" "SOURCES;HEADERS;USES;LIBRARIES;TESTS;TEST_LIBRARIES")
  set(root ${PROJECT_BINARY_DIR}/layers/${name})
  file(REMOVE_RECURSE ${root})
  file(MAKE_DIRECTORY ${root}/fanin)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  foreach(header IN LISTS layer_HEADERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/fanin/${header} ${root}/fanin/${header} SYMBOLIC)
  endforeach()

  add_library(fanin_${name} OBJECT ${layer_SOURCES})
  fanin_compile_together(fanin_${name} 8)
  target_include_directories(fanin_${name} PUBLIC $<BUILD_INTERFACE:${root}>)
  list(TRANSFORM layer_USES PREPEND fanin_)
  target_link_libraries(fanin_${name} PUBLIC ${layer_USES} PRIVATE fanin_flags ${layer_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY FANIN_LAYERS ${name})
  if(layer_ONE_THREAD AND FANIN_SANITIZE STREQUAL "thread")
    set(layer_TESTS "")
  endif()
  set_property(GLOBAL PROPERTY FANIN_TESTS_OF_${name} ${layer_TESTS})
  set_property(GLOBAL PROPERTY FANIN_TEST_LIBRARIES_OF_${name} ${layer_TEST_LIBRARIES})
  set_property(GLOBAL PROPERTY FANIN_FOLDER_OF_${name} ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()

# Builds <layer>_test for each layer that named tests. Called when the library is there, because a
# test links all of it; what it may include is still what its layer may.
function(fanin_add_layer_tests)
  get_property(layers GLOBAL PROPERTY FANIN_LAYERS)
  foreach(name IN LISTS layers)
    get_property(tests GLOBAL PROPERTY FANIN_TESTS_OF_${name})
    get_property(libraries GLOBAL PROPERTY FANIN_TEST_LIBRARIES_OF_${name})
    get_property(folder GLOBAL PROPERTY FANIN_FOLDER_OF_${name})
    if(NOT tests)
      continue()
    endif()
    list(TRANSFORM tests PREPEND ${folder}/)
    add_executable(${name}_test ${tests})
    target_include_directories(${name}_test PRIVATE
      $<TARGET_PROPERTY:fanin_${name},INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(${name}_test PRIVATE
      $<LINK_ONLY:fanin> fanin_test_flags GTest::gmock_main fmt::fmt
      nlohmann_json::nlohmann_json hwy::hwy ${libraries})
    target_compile_definitions(${name}_test PRIVATE
      FANIN_GOLDEN_FOLDER="${PROJECT_SOURCE_DIR}/tests/golden")
    fanin_reuse_test_headers(${name}_test)
    gtest_discover_tests(${name}_test PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
  endforeach()
endfunction()
