# What `cmake --install` gives: the library, the one for C, the public headers, the tool, and two ways
# to find them: find_package(fanin) with the targets fanin::fanin and fanin::c, and pkg-config's fanin
# and fanin-c.

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fanin)

install(TARGETS fanin fanin_c EXPORT fanin-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fanin
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(EXPORT fanin-targets NAMESPACE fanin:: DESTINATION ${package_folder})

file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(fanin_tool PROPERTIES INSTALL_RPATH $ORIGIN/${bin_to_lib})
install(TARGETS fanin_tool)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fanin-config.cmake.in fanin-config.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(fanin-config-version.cmake COMPATIBILITY SameMinorVersion)

# A static library leaves it to its user to link what it needs.
if(BUILD_SHARED_LIBS)
  set(pkgconfig_requires "")
  set(pkgconfig_libraries "")
else()
  set(pkgconfig_requires "fmt libhwy libcrypto")
  set(pkgconfig_libraries -pthread)
endif()
set(pkgconfig_folder ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH pkgconfig_to_include ${pkgconfig_folder} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/fanin.pc.in fanin.pc @ONLY)
configure_file(${CMAKE_CURRENT_LIST_DIR}/fanin-c.pc.in fanin-c.pc @ONLY)

install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/fanin-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/fanin-config-version.cmake
  DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/fanin.pc ${CMAKE_CURRENT_BINARY_DIR}/fanin-c.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
