//! The plan service from outside: real servers on sockets of their own, good clients and bad ones.

mod any_bytes;
mod asking;
mod hostile;
mod life;
mod served;
