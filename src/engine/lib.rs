//! OperatorScope's engine: a cluster as one pure state machine.
//!
//! `World::submit` takes commands, `World::step` takes one wake off the agenda and answers with
//! typed records. No clock, no randomness from outside, no web: a run is a value.
#![forbid(unsafe_code)]

pub mod agenda;
pub mod api;
pub mod client;
pub mod command;
pub mod controller;
pub mod controllers;
pub mod event;
pub mod fault;
pub mod ids;
pub mod knobs;
pub mod kubectl;
pub mod library;
pub mod log;
pub mod manifest;
pub mod network;
pub mod object;
pub mod operators;
pub mod outside;
pub mod process;
pub mod recording;
pub mod rng;
pub mod scenario;
pub mod scene;
pub mod share;
pub mod store;
pub mod time;
pub mod workqueue;
pub mod world;
pub mod yaml;
