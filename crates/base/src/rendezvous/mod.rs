//! Meeting at a name: a process that has a region hands its descriptor to those who ask for it over a local socket.
