//! Rules in the Common Expression Language: `x-kubernetes-validations`.
//!
//! Flow: `compile_schema` parses, type-checks and costs every rule of a schema when its definition is written;
//! `evaluate` runs the rules over an object and its old self when the object is written.
//!
//! Guarantees: no input makes it panic, recurse without end or work without end. Expressions have a length and a
//! depth limit, evaluation has a cost limit, and what an expression builds is paid for before it is built.
//!
//! Caveats: a rule whose program failed to compile is left out; its definition was refused.
//!
//! Divergence from Kubernetes: the static estimate follows cel-go's rules but is written from their reading, and
//! may differ for functions that are rare in rules; the text of a number or a time counts as 64 characters at most. Runtime costs are right in their order of magnitude only.
//! Message and struct literals, the authorizer library and rules inside `allOf` are left out. Time zones are `UTC` or
//! offsets, not names. Unicode classes in regular expressions are refused. Numbers in quantities beyond 128 bits
//! of billionths are refused instead of kept. The text of a compile error names the fault but no column.

mod ast;
mod calls;
mod check;
mod convert;
mod cost;
mod decl;
mod eval;
mod formats;
mod functions;
mod lex;
mod lists;
mod net;
mod numbers;
mod parse;
mod quantity;
mod rules;
mod semver;
mod strings;
mod time;
mod types;
mod unify;
mod validate;
mod value;

#[cfg(test)]
mod tests;

pub use formats::base64;
pub use rules::{CompiledRules, compile_quietly, compile_schema, is_cost_error};
pub use validate::{CelOutcome, blocked_notice, blocks, evaluate};
