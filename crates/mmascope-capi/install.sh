#!/bin/sh
# Builds libmmascope and installs it with mmascope.h, the package for SystemVerilog, mmascope.pc and a CMake package:
# install.sh [PREFIX] (default /usr/local). PROFILE=dev builds without optimisation.
set -eu
prefix=${1:-/usr/local}
profile=${PROFILE:-release}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
cargo build --quiet --locked --package mmascope-capi --profile "$profile"
case $profile in dev) folder=debug ;; *) folder=$profile ;; esac
built=${CARGO_TARGET_DIR:-$root/target}/$folder
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir -p "$prefix/include" "$prefix/share/mmascope" "$prefix/lib/pkgconfig" "$prefix/lib/cmake/mmascope"
prefix=$(cd "$prefix" && pwd)
cp crates/mmascope-capi/include/mmascope.h "$prefix/include/"
cp crates/mmascope-capi/sv/mmascope_pkg.sv crates/mmascope-capi/sv/mmascope_dpi.c "$prefix/share/mmascope/"
for library in libmmascope.so libmmascope.dylib libmmascope.a; do
    [ ! -e "$built/$library" ] || cp "$built/$library" "$prefix/lib/"
done
cat > "$prefix/lib/pkgconfig/mmascope.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include
svdir=\${prefix}/share/mmascope

Name: mmascope
Description: Bit-accurate reference model of matrix accelerators
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lmmascope
Libs.private: -lpthread -ldl -lm
PC
cat > "$prefix/lib/cmake/mmascope/mmascopeConfig.cmake" <<'CMAKE'
get_filename_component(_mmascope_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET mmascope::mmascope)
  add_library(mmascope::mmascope SHARED IMPORTED)
  set_target_properties(mmascope::mmascope PROPERTIES
    IMPORTED_LOCATION "${_mmascope_prefix}/lib/libmmascope${CMAKE_SHARED_LIBRARY_SUFFIX}"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_mmascope_prefix}/include")
  add_library(mmascope::static STATIC IMPORTED)
  set_target_properties(mmascope::static PROPERTIES
    IMPORTED_LOCATION "${_mmascope_prefix}/lib/libmmascope.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_mmascope_prefix}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m")
endif()
unset(_mmascope_prefix)
CMAKE
cat > "$prefix/lib/cmake/mmascope/mmascopeConfigVersion.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
CMAKE
echo "installed in $prefix"
