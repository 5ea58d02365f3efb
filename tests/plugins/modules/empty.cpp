// A shared library that is no plug-in.
int keyway_test_empty() { return 0; }
