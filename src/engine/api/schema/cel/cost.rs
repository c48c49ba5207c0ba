//! The static estimate: what one evaluation may cost at most, judged by the limits the schema declares.
//!
//! Rules and factors follow cel-go `checker/cost.go` and `ext/lists.go`, and apiserver `pkg/cel/library/cost.go`; they
//! decide which definitions are accepted, so odd ones are kept: a loop variable over a value that is not reached
//! from `self` has the size of `self`, the global form of `matches` costs one, and `join` over anything but a
//! declared list is unbounded.

use super::ast::{Ast, Comprehension, Id, Loop, Node};
use super::check::Checked;
use super::functions::{Fun, TABLE};
use super::types::{Decl, Shape, Type};
use super::value::Value;
use std::sync::Arc;

/// Smallest and largest size.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    min: u64,
    max: u64,
}

const UNKNOWN: Size = Size { min: 0, max: u64::MAX };

impl Size {
    fn fixed(n: u64) -> Size {
        Size { min: n, max: n }
    }
    fn plus(self, other: Size) -> Size {
        Size { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }
    fn times(self, other: Size) -> Size {
        Size { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }
    fn union(self, other: Size) -> Size {
        Size { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// `n` times `tenths` tenths, rounded up.
fn tenths(n: u64, tenths: u64) -> u64 {
    u64::try_from((u128::from(n) * u128::from(tenths)).div_ceil(10)).unwrap_or(u64::MAX)
}

/// Cost of looking at every character of a text.
fn traversal(n: u64) -> u64 {
    tenths(n, 1)
}

const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;
/// cel `MaxNameFormatRegexSize` by the factor for regular expressions.
const FORMAT_COST: u64 = 32;
/// Longest text of a number, a boolean or a point in time.
const SCALAR_TEXT_MAX: u64 = 64;
/// cel `MaxFormatSize`.
const FORMAT_SIZE: u64 = 64;

/// Where a value comes from, seen from the node that carries the rule.
#[derive(Clone)]
enum Path {
    /// Made in the expression.
    None,
    At(Arc<Decl>),
    /// Reached from `self`, but by a step the schema does not declare.
    Lost,
}

enum Step<'a> {
    Items,
    Values,
    Keys,
    Indices,
    Field(&'a str),
}

struct Local {
    name: Arc<str>,
    path: Path,
    size: Option<Size>,
    entry: Option<Size>,
}

struct Coster<'a> {
    ast: &'a Ast,
    types: &'a [Type],
    root: &'a Arc<Decl>,
    paths: Vec<Path>,
    sizes: Vec<Option<Size>>,
    /// Size of the items or values of a container made in the expression.
    entries: Vec<Option<Size>>,
    locals: Vec<Local>,
}

/// The largest cost of one evaluation where `self` and `oldSelf` are declared by `root`.
pub fn estimate(checked: &Checked, root: &Arc<Decl>) -> u64 {
    let count = checked.ast.nodes.len();
    let mut coster = Coster {
        ast: &checked.ast,
        types: &checked.types,
        root,
        paths: vec![Path::None; count],
        sizes: vec![None; count],
        entries: vec![None; count],
        locals: Vec::new(),
    };
    coster.node(checked.ast.root)
}

impl<'a> Coster<'a> {
    fn node(&mut self, id: Id) -> u64 {
        let ast: &'a Ast = self.ast;
        match &ast.nodes[id] {
            Node::Literal(_) => 0,
            Node::Ident(name) => {
                self.paths[id] = match self.local(name) {
                    Some(local) => local.path.clone(),
                    None => Path::At(self.root.clone()),
                };
                1
            }
            Node::Select { operand, optional: true, .. } => self.node(*operand).saturating_add(1),
            Node::Select { operand, field, .. } => {
                let cost = self.node(*operand);
                self.paths[id] = self.step(&self.paths[*operand], &Step::Field(field));
                let counts = matches!(self.types[*operand], Type::Map(..) | Type::Object(_));
                cost.saturating_add(u64::from(counts))
            }
            Node::Has { operand, .. } => self.node(*operand),
            Node::Call { args, fun: Some(fun), overloads, target: None, .. } => self.call(id, *fun, args, overloads),
            Node::Call { .. } => 1,
            Node::And(terms) | Node::Or(terms) => terms.iter().fold(0, |sum, t| sum.saturating_add(self.node(*t))),
            Node::Conditional(condition, yes, no) => {
                let cost = self.node(*condition);
                let (a, b) = (self.node(*yes), self.node(*no));
                self.sizes[id] = Some(self.size_or_unknown(*yes).union(self.size_or_unknown(*no)));
                self.entries[id] = self.entry(*yes).zip(self.entry(*no)).map(|(a, b)| a.union(b));
                cost.saturating_add(a.max(b))
            }
            Node::List(items) => self.made(id, items.iter().map(|(item, _)| (*item, None)), LIST_COST),
            Node::Map(entries) => self.made(id, entries.iter().map(|(k, v, _)| (*v, Some(*k))), MAP_COST),
            Node::Loop(l) => self.comprehension(id, l),
        }
    }

    fn made(&mut self, id: Id, parts: impl Iterator<Item = (Id, Option<Id>)>, base: u64) -> u64 {
        let mut cost = base;
        let mut size: Option<Size> = None;
        for (value, key) in parts {
            cost = cost.saturating_add(key.map_or(0, |k| self.node(k))).saturating_add(self.node(value));
            let part = self.size_or_unknown(value);
            size = Some(size.map_or(part, |s| s.union(part)));
        }
        self.entries[id] = Some(size.unwrap_or(Size::fixed(0)));
        cost
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|l| &*l.name == name)
    }

    fn step(&self, path: &Path, step: &Step) -> Path {
        let decl = match path {
            // The first step of a path is taken for the variable, whatever it is.
            Path::None => return Path::At(self.root.clone()),
            Path::Lost => return Path::Lost,
            Path::At(decl) => decl,
        };
        match (&decl.shape, step) {
            (Shape::List(item, _), Step::Items | Step::Values) => Path::At(item.clone()),
            (Shape::Map(value), Step::Items | Step::Values) => Path::At(value.clone()),
            (Shape::Map(_), Step::Keys) => Path::At(key_decl()),
            (Shape::Object(object), Step::Field(name)) => {
                object.fields.get(*name).map_or(Path::Lost, |f| Path::At(f.decl.clone()))
            }
            _ => Path::Lost,
        }
    }

    fn size(&self, id: Id) -> Option<Size> {
        if let Some(size) = self.sizes[id] {
            return Some(size);
        }
        match &self.ast.nodes[id] {
            // The name of a type is taken for a variable, and so has the size of `self`.
            Node::Literal(Value::Type(_)) => return Some(Size { min: 0, max: self.root.max }),
            Node::Literal(value) => return Some(Size::fixed(value.size())),
            Node::List(items) => return Some(Size::fixed(items.len() as u64)),
            Node::Map(entries) => return Some(Size::fixed(entries.len() as u64)),
            _ => {}
        }
        if let Some(size) = declared(&self.paths[id]) {
            return Some(size);
        }
        if self.types[id].is_scalar() {
            return Some(Size::fixed(1));
        }
        match &self.ast.nodes[id] {
            Node::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn size_or_unknown(&self, id: Id) -> Size {
        self.size(id).unwrap_or(UNKNOWN)
    }

    fn entry(&self, id: Id) -> Option<Size> {
        self.entries[id].or_else(|| match &self.ast.nodes[id] {
            Node::Ident(name) => self.local(name)?.entry,
            _ => None,
        })
    }

    /// Size of the items of a list argument, as the library functions see it.
    fn item_size(&self, id: Id) -> Size {
        match &self.paths[id] {
            Path::None => UNKNOWN,
            path => declared(&self.step(path, &Step::Items)).unwrap_or(UNKNOWN),
        }
    }

    fn call(&mut self, id: Id, fun: Fun, args: &[Id], overloads: &[u16]) -> u64 {
        let mut cost = args.iter().fold(0_u64, |sum, arg| sum.saturating_add(self.node(*arg)));
        if fun == Fun::Dyn {
            self.sizes[id] = self.size(args[0]);
            self.entries[id] = self.entry(args[0]);
            return cost.saturating_add(1);
        }
        let (own, size) = self.function(fun, args, overloads);
        cost = cost.saturating_add(own);
        self.sizes[id] = size;
        match (fun, args) {
            (Fun::Index, [base, _]) => {
                let step = if matches!(self.types[*base], Type::Map(..)) { Step::Values } else { Step::Items };
                if !matches!(self.types[*base], Type::Optional(_)) {
                    self.paths[id] = self.step(&self.paths[*base], &step);
                    self.sizes[id] = self.entry(*base);
                }
            }
            (Fun::Add, [a, b]) => self.entries[id] = self.entry(*a).zip(self.entry(*b)).map(|(a, b)| a.union(b)),
            _ => {}
        }
        cost
    }

    /// The cost of the function itself, and the size of what it gives.
    fn function(&self, fun: Fun, args: &[Id], overloads: &[u16]) -> (u64, Option<Size>) {
        let size = |at: usize| args.get(at).map_or(UNKNOWN, |id| self.size_or_unknown(*id));
        let ty = |at: usize| args.get(at).map_or(&Type::Dyn, |id| &self.types[*id]);
        let text_like = |at: usize| matches!(ty(at), Type::String | Type::Bytes | Type::Dyn);
        let whole = || traversal(size(0).max);
        match fun {
            Fun::IsSorted | Fun::Sum | Fun::Min | Fun::Max | Fun::IndexOf | Fun::LastIndexOf => match ty(0) {
                Type::List(item) => {
                    let texts = matches!(**item, Type::String | Type::Bytes);
                    let each = if texts { 1_u64.saturating_add(traversal(self.item_size(args[0]).max)) } else { 1 };
                    (size(0).max.saturating_mul(each), None)
                }
                _ => (whole(), None),
            },
            Fun::Url | Fun::LowerAscii | Fun::UpperAscii | Fun::Substring | Fun::Trim => (whole(), Some(size(0))),
            Fun::Replace => (tenths(size(0).max, 2), Some(replaced(size(0), size(1), size(2)))),
            Fun::Split => {
                let max = self.literal_int(args.get(2)).map_or(size(0).max, |n| n as u64);
                (tenths(size(0).max, 2), Some(Size { min: 0, max }))
            }
            Fun::Join => {
                let mut total = size(0).times(self.item_size(args[0]));
                if args.len() > 1 {
                    let gaps = Size { min: size(0).min.saturating_sub(1), max: size(0).max.saturating_sub(1) };
                    total = total.plus(size(1).times(gaps));
                }
                (traversal(total.max), Some(total))
            }
            Fun::Find | Fun::FindAll => (regex(size(0), size(1)), Some(Size { min: 0, max: size(0).max })),
            // Only the method form has an estimate.
            Fun::Matches if signature(fun, overloads).starts_with('.') => (regex(size(0), size(1)), None),
            Fun::ContainsIp | Fun::ContainsCidr => {
                let base = if fun == Fun::ContainsIp { 4 } else { 7 };
                let parse = if text_like(1) { traversal(size(1).max) } else { 0 };
                (parse.saturating_add(base), None)
            }
            Fun::Validate => (traversal(size(1).max).saturating_mul(FORMAT_COST), None),
            Fun::Slice => {
                let from = self.literal_int(args.get(1)).unwrap_or(0) as u64;
                let to = self.literal_int(args.get(2)).map_or(size(0).max, |n| n as u64);
                allocating(Size::fixed(to.saturating_sub(from)), 10)
            }
            Fun::Range => allocating(Size::fixed(self.literal_int(args.first()).map_or(u64::MAX, |n| n as u64)), 10),
            Fun::Reverse => allocating(size(0), 10),
            Fun::Flatten => {
                let depth = args.get(1).map_or(1, |_| self.literal_int(args.get(1)).map_or(u64::MAX, |n| n as u64));
                allocating(size(0), depth.saturating_mul(10))
            }
            Fun::Distinct => allocating(size(0).times(size(0)), 20),
            Fun::Sort => {
                let texts = matches!(ty(0), Type::List(item) if matches!(**item, Type::String | Type::Bytes));
                allocating(size(0).times(size(0)), if texts { 21 } else { 20 })
            }
            Fun::SetsContains | Fun::SetsIntersects => {
                (size(0).max.saturating_mul(size(1).max).saturating_add(1), None)
            }
            Fun::SetsEquivalent => (size(0).max.saturating_mul(size(1).max).saturating_mul(2).saturating_add(1), None),
            _ => self.scalar_function(fun, args),
        }
    }

    /// The functions whose cost does not depend on the items of a list.
    fn scalar_function(&self, fun: Fun, args: &[Id]) -> (u64, Option<Size>) {
        let size = |at: usize| args.get(at).map_or(UNKNOWN, |id| self.size_or_unknown(*id));
        let ty = |at: usize| args.get(at).map_or(&Type::Dyn, |id| &self.types[*id]);
        let text_like = |at: usize| matches!(ty(at), Type::String | Type::Bytes | Type::Dyn);
        let whole = || traversal(size(0).max);
        match fun {
            Fun::FormatText => (whole(), None),
            Fun::Quote => {
                (whole(), Some(Size { min: size(0).min + 2, max: size(0).max.saturating_mul(2).saturating_add(2) }))
            }
            Fun::ToBytes if matches!(ty(0), Type::String) => {
                (whole(), Some(Size { min: size(0).min, max: size(0).max.saturating_mul(4) }))
            }
            Fun::ToString if matches!(ty(0), Type::Bytes) => {
                (whole(), Some(Size { min: size(0).min / 4, max: size(0).max }))
            }
            Fun::ToString if ty(0).is_scalar() => (1, Some(Size { min: 1, max: SCALAR_TEXT_MAX })),
            Fun::StartsWith | Fun::EndsWith => (traversal(size(1).max), None),
            Fun::In if !matches!(ty(1), Type::Map(..)) => (size(1).max, None),
            Fun::Contains => (traversal(size(0).max).saturating_mul(traversal(size(1).max)), None),
            Fun::Add => {
                let sum = size(0).plus(size(1));
                match (ty(0), ty(1)) {
                    (Type::List(_), _) | (_, Type::List(_)) => (1, Some(sum)),
                    _ if text_like(0) && text_like(1) => (traversal(sum.max), Some(sum)),
                    _ => (1, None),
                }
            }
            Fun::Equals => match (ty(0), ty(1)) {
                (Type::Quantity, Type::Quantity) | (Type::Semver, Type::Semver) | (Type::Url, Type::Url) => (1, None),
                (Type::Ip, Type::Ip) | (Type::Cidr, Type::Cidr) => (1, None),
                (Type::Format, Type::Format) => (traversal(FORMAT_SIZE), None),
                _ => (traversal(size(0).max.min(size(1).max)), None),
            },
            Fun::NotEquals => (traversal(size(0).max.min(size(1).max)), None),
            Fun::Less | Fun::LessEq | Fun::Greater | Fun::GreaterEq if text_like(0) && text_like(1) => {
                (traversal(size(0).max.min(size(1).max)).max(1), None)
            }
            _ => (1, None),
        }
    }

    fn literal_int(&self, id: Option<&Id>) -> Option<i64> {
        match id.map(|id| &self.ast.nodes[*id]) {
            Some(Node::Literal(Value::Int(n))) => Some(*n),
            _ => None,
        }
    }

    fn comprehension(&mut self, id: Id, l: &Comprehension) -> u64 {
        let range_cost = self.node(l.range);
        if matches!(l.kind, Loop::OptMap | Loop::OptFlatMap) {
            return self.optional_map(id, l, range_cost);
        }
        let depth = self.locals.len();
        let size = self.entry(l.range);
        let list = matches!(self.types[l.range], Type::List(_));
        let push = |coster: &mut Self, name: &Arc<str>, step: Step, size: Option<Size>| {
            let path = coster.step(&coster.path(l.range), &step);
            coster.locals.push(Local { name: name.clone(), path, size, entry: None });
        };
        match &l.var2 {
            Some(var2) => {
                push(self, &l.var, if list { Step::Indices } else { Step::Keys }, None);
                push(self, var2, if list { Step::Items } else { Step::Values }, size);
            }
            None if list => push(self, &l.var, Step::Items, size),
            None => push(self, &l.var, Step::Keys, None),
        }
        let filter = l.filter.map(|f| self.node(f));
        let body = self.node(l.body);
        let body_size = match l.kind {
            Loop::Filter => self.locals.last().and_then(|v| declared(&v.path).or(v.size)),
            _ => self.size(l.body),
        };
        self.locals.truncate(depth);
        // What the macro expands to: start, each turn, result.
        let (start, turn, result) = match l.kind {
            Loop::All => (0, 3 + body.min(u64::MAX - 3), 1),
            Loop::Exists => (0, 4 + body.min(u64::MAX - 4), 1),
            Loop::ExistsOne => (0, body.saturating_add(2), 2),
            Loop::Filter => (LIST_COST, body.saturating_add(LIST_COST + 3), 1),
            Loop::TransformMap => (MAP_COST, body.saturating_add(3), 1),
            Loop::TransformMapEntry => (MAP_COST, body.saturating_add(2), 1),
            _ => (LIST_COST, body.saturating_add(LIST_COST + 2), 1),
        };
        let count = self.size_or_unknown(l.range);
        let loops = count.max.saturating_mul(turn.saturating_add(filter.unwrap_or(0)));
        let mut cost = range_cost.saturating_add(start + result).saturating_add(loops);
        match l.kind {
            Loop::All | Loop::Exists | Loop::ExistsOne => self.sizes[id] = Some(Size::fixed(1)),
            Loop::SortBy => {
                let squared = count.times(count);
                cost = cost.saturating_add(LIST_COST + 2).saturating_add(allocating(squared, 20).0);
                self.sizes[id] = Some(squared);
            }
            _ => self.sizes[id] = Some(count),
        }
        if matches!(l.kind, Loop::Map | Loop::Filter) {
            self.entries[id] = Some(Size::fixed(0).union(body_size.unwrap_or(UNKNOWN)));
        }
        cost
    }

    fn path(&self, id: Id) -> Path {
        self.paths[id].clone()
    }

    /// `o.optMap(x, e)` is `o.hasValue() ? optional.of(e with x as o.value()) : optional.none()`.
    fn optional_map(&mut self, id: Id, l: &Comprehension, range_cost: u64) -> u64 {
        self.locals.push(Local { name: l.var.clone(), path: Path::None, size: None, entry: None });
        let body = self.node(l.body);
        self.locals.pop();
        self.entries[id] = None;
        let bound = range_cost.saturating_add(1 + LIST_COST).saturating_add(body);
        let wrapped = bound.saturating_add(u64::from(l.kind == Loop::OptMap));
        range_cost.saturating_add(1).saturating_add(wrapped)
    }
}

fn declared(path: &Path) -> Option<Size> {
    match path {
        Path::At(decl) => Some(Size { min: 0, max: decl.max }),
        _ => None,
    }
}

fn key_decl() -> Arc<Decl> {
    Arc::new(Decl { shape: Shape::String, max: 0, min_bytes: 2, nullable: false })
}

fn signature(fun: Fun, overloads: &[u16]) -> &'static str {
    let all = TABLE.iter().find(|(_, f, _)| *f == fun).map_or("", |(_, _, sigs)| *sigs);
    all.split(' ').nth(overloads.first().copied().unwrap_or(0) as usize).unwrap_or("")
}

fn regex(text: Size, pattern: Size) -> u64 {
    traversal(text.max.saturating_add(1)).saturating_mul(pattern.max.div_ceil(4))
}

fn allocating(result: Size, factor_tenths: u64) -> (u64, Option<Size>) {
    (tenths(result.max, factor_tenths).saturating_add(1 + LIST_COST), Some(result))
}

fn replaced(text: Size, from: Size, to: Size) -> Size {
    let (count_max, kept_max) = if from.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if to.max <= from.min {
        (0, text.max)
    } else {
        (text.max.div_ceil(from.min), 0)
    };
    let (count_min, kept_min) = if from.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if from.max <= to.min {
        (0, text.min)
    } else {
        (text.min.div_ceil(from.max), 0)
    };
    Size { min: count_min, max: count_max }.times(to).plus(Size { min: kept_min, max: kept_max })
}
