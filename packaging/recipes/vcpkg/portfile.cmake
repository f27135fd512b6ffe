# Builds the checkout that this port lies in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
vcpkg_configure_meson(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    "-Dlibtorch=${CURRENT_INSTALLED_DIR}"
    -Dcombine=true -Dhdf5=enabled -Darrow=disabled -Dvideo=disabled -Ddistributed=disabled
    -Dtests=disabled -Drust=disabled -Djulia=disabled -Dcsharp=disabled -Dlua=disabled -Dswig=disabled
    -Dmujoco=disabled -Dbench=disabled)
vcpkg_install_meson()
vcpkg_copy_tools(TOOL_NAMES tdtool AUTO_CLEAN)
vcpkg_fixup_pkgconfig()
vcpkg_cmake_config_fixup(PACKAGE_NAME TensorDict CONFIG_PATH lib/cmake/TensorDict)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
