# Which MPI libraries are here: FANIN_MPI_LIBRARIES lists their names, and fanin_mpi_<name> links
# one. CMake's own FindMPI finds only the one that the system prefers. fanin_pmix_library links PMIx.

set(FANIN_MPI_LIBRARIES "")

function(fanin_find_mpi name)
  cmake_parse_arguments(PARSE_ARGV 1 mpi "" "" "HEADER_FOLDERS;LIBRARY_FOLDERS;LIBRARY_NAMES")
  set(arch ${CMAKE_LIBRARY_ARCHITECTURE})
  find_path(FANIN_${name}_HEADERS mpi.h PATH_SUFFIXES ${mpi_HEADER_FOLDERS}
    PATHS /usr/lib/${arch} /usr/include/${arch} NO_DEFAULT_PATH)
  find_library(FANIN_${name}_LIBRARY NAMES ${mpi_LIBRARY_NAMES} PATH_SUFFIXES ${mpi_LIBRARY_FOLDERS}
    PATHS /usr/lib/${arch} NO_DEFAULT_PATH)
  mark_as_advanced(FANIN_${name}_HEADERS FANIN_${name}_LIBRARY)
  if(NOT FANIN_${name}_HEADERS OR NOT FANIN_${name}_LIBRARY)
    return()
  endif()
  add_library(fanin_mpi_${name} INTERFACE)
  target_include_directories(fanin_mpi_${name} SYSTEM INTERFACE ${FANIN_${name}_HEADERS})
  target_link_libraries(fanin_mpi_${name} INTERFACE ${FANIN_${name}_LIBRARY})
  # Neither has C++ functions any more that anybody should use.
  target_compile_definitions(fanin_mpi_${name} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  set(FANIN_MPI_LIBRARIES ${FANIN_MPI_LIBRARIES} ${name} PARENT_SCOPE)
endfunction()

fanin_find_mpi(openmpi HEADER_FOLDERS openmpi/include LIBRARY_FOLDERS openmpi/lib LIBRARY_NAMES mpi)
fanin_find_mpi(mpich HEADER_FOLDERS mpich/include mpich LIBRARY_NAMES mpich)

set(arch ${CMAKE_LIBRARY_ARCHITECTURE})
find_path(FANIN_pmix_HEADERS pmix.h PATH_SUFFIXES pmix2/include PATHS /usr/lib/${arch})
find_library(FANIN_pmix_LIBRARY NAMES pmix PATH_SUFFIXES pmix2/lib PATHS /usr/lib/${arch})
mark_as_advanced(FANIN_pmix_HEADERS FANIN_pmix_LIBRARY)
if(FANIN_pmix_HEADERS AND FANIN_pmix_LIBRARY)
  add_library(fanin_pmix_library INTERFACE)
  target_include_directories(fanin_pmix_library SYSTEM INTERFACE ${FANIN_pmix_HEADERS})
  target_link_libraries(fanin_pmix_library INTERFACE ${FANIN_pmix_LIBRARY})
endif()
