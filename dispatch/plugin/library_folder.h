// Where libkeyway.so lies, and with it the libraries that it opens on demand. Internal to libkeyway.
#pragma once

#include <filesystem>

namespace keyway::inline v1 {

// The folder that holds libkeyway.so; empty in a program that has the archive linked in, where a library on demand
// would bring another copy of Keyway.
std::filesystem::path library_folder();

}  // namespace keyway::inline v1
