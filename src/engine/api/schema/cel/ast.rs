//! The parsed expression: nodes in one vector, children by index, so that no input can make dropping it recurse.

use super::functions::Fun;
use super::value::Value;
use std::sync::Arc;

pub type Id = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
    TransformMap,
    TransformMapEntry,
    SortBy,
    OptMap,
    OptFlatMap,
}

#[derive(Debug)]
pub struct Comprehension {
    pub kind: Loop,
    pub range: Id,
    pub var: Arc<str>,
    /// With two variables the first is the index or key and the second the value.
    pub var2: Option<Arc<str>>,
    pub filter: Option<Id>,
    pub body: Id,
}

#[derive(Debug)]
pub enum Node {
    Literal(Value),
    Ident(Arc<str>),
    Select {
        operand: Id,
        field: Arc<str>,
        optional: bool,
    },
    Has {
        operand: Id,
        field: Arc<str>,
    },
    /// Resolved by the checker: then `fun` is set, and a method's target is the first of `args`.
    Call {
        name: Arc<str>,
        target: Option<Id>,
        args: Vec<Id>,
        fun: Option<Fun>,
        overloads: Vec<u16>,
    },
    And(Vec<Id>),
    Or(Vec<Id>),
    Conditional(Id, Id, Id),
    /// Elements, each with the mark of an optional one.
    List(Vec<(Id, bool)>),
    Map(Vec<(Id, Id, bool)>),
    Loop(Comprehension),
}

#[derive(Debug, Default)]
pub struct Ast {
    pub nodes: Vec<Node>,
    pub root: Id,
}
