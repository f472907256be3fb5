//! Transactions on words of 64 bits: an instance ([`instance`]), and the participants that run them ([`participant`]).

pub mod instance;

pub mod participant;
