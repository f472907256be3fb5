//! Multicast channels: the same promises among threads, in regions, and among processes that die.

mod any_word;
mod damage;
mod policies;
mod processes;
mod readers;
mod roles;
mod values;
