# Protobuf, as protobuf::libprotobuf-lite and protobuf::protoc. Releases from 22 on include a CMake
# configuration, the only source for the other libraries to link (Abseil); for older ones, such as
# Debian 12's, CMake has a module.
find_package(protobuf CONFIG QUIET)
if(NOT TARGET protobuf::libprotobuf-lite)
  find_package(Protobuf MODULE QUIET)
endif()
set(protobuf_FOUND OFF)
if(TARGET protobuf::libprotobuf-lite AND TARGET protobuf::protoc)
  set(protobuf_FOUND ON)
endif()
