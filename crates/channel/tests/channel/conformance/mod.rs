//! The promises of the channels: among threads over the heap and over regions, and among processes.

mod any_word;
mod bytes;
mod damage;
mod death;
mod opening;
mod rings;
mod roles;
mod traffic;
mod typed;
mod words;
