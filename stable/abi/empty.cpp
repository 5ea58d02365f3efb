// A library with a name and nothing in it.
