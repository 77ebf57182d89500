# find_package(DirectML): the target DirectML::DirectML, libdirectml.so with its headers and Direct3D's.
# CMAKE_PREFIX_PATH or DirectML_DIR comes from `python -m directml_py config --cmake`.

find_path(DirectML_INCLUDE_DIR DirectML.h
    PATHS "${CMAKE_CURRENT_LIST_DIR}/../../include" "${CMAKE_CURRENT_LIST_DIR}/../../../include"
    NO_DEFAULT_PATH)
find_library(DirectML_LIBRARY directml PATHS "${CMAKE_CURRENT_LIST_DIR}" NO_DEFAULT_PATH)
find_path(DirectML_HEADERS_DIR directx/d3d12.h)
# The IID_ variables of Direct3D 12. A clone of the headers has no such library, and few programs need it.
find_library(DirectML_GUIDS_LIBRARY DirectX-Guids)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DirectML
    REQUIRED_VARS DirectML_LIBRARY DirectML_INCLUDE_DIR DirectML_HEADERS_DIR)

if(DirectML_FOUND AND NOT TARGET DirectML::DirectML)
    add_library(DirectML::DirectML SHARED IMPORTED)
    set_target_properties(DirectML::DirectML PROPERTIES
        IMPORTED_LOCATION "${DirectML_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES
        "${DirectML_INCLUDE_DIR};${DirectML_HEADERS_DIR};${DirectML_HEADERS_DIR}/wsl/stubs;${DirectML_HEADERS_DIR}/directx"
        INTERFACE_LINK_LIBRARIES "$<$<BOOL:${DirectML_GUIDS_LIBRARY}>:${DirectML_GUIDS_LIBRARY}>")
endif()
