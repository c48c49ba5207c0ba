//! The evaluator. Every step costs, and a call stops where its limit is reached.
//!
//! Costs follow cel-go `interpreter/runtimecost.go` in their order of magnitude: one for a step, a tenth for each
//! character looked at, the product of both lengths for a regular expression.

use super::ast::{Ast, Comprehension, Id, Loop, Node};
use super::calls::apply;
use super::check::{Checked, format_function};
use super::functions::{FORMATS, Fun};
use super::lists;
use super::value::{Failure, ListKind, MapKey, Outcome, Value, fail, no_overload};
use crate::api::schema::pattern::Pattern;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most one call may cost; apiserver `PerCallLimit`.
pub const CALL_COST_MAX: u64 = 1_000_000;

const LIST_COST: u64 = 10;
const MAP_COST: u64 = 30;

/// Evaluates `checked` where the variables have the given values; answers with the cost as well.
pub fn evaluate(checked: &Checked, variables: &[(&str, Value)], cost_max: u64) -> (Outcome, u64) {
    let scope = variables.iter().map(|(name, value)| (Arc::from(*name), value.clone())).collect();
    let mut run = Run { ast: &checked.ast, scope, cost: 0, cost_max, patterns: BTreeMap::new() };
    let outcome = run.node(checked.ast.root);
    (outcome, run.cost)
}

struct Run<'a> {
    ast: &'a Ast,
    scope: Vec<(Arc<str>, Value)>,
    cost: u64,
    cost_max: u64,
    /// Compiled once for each text in a call.
    patterns: BTreeMap<Arc<str>, Pattern>,
}

/// What is charged for looking at so many characters or bytes.
fn traversal(size: u64) -> u64 {
    size.div_ceil(10)
}

impl<'a> Run<'a> {
    fn charge(&mut self, cost: u64) -> Outcome<()> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.cost_max { Err(Failure::Limit) } else { Ok(()) }
    }

    fn node(&mut self, id: Id) -> Outcome {
        match &self.ast.nodes[id] {
            Node::Literal(value) => Ok(value.clone()),
            Node::Ident(name) => {
                self.charge(1)?;
                match self.scope.iter().rev().find(|(n, _)| n == name) {
                    Some((_, value)) => value.sound(),
                    None => fail(format!("no such attribute: {name}")),
                }
            }
            Node::Select { operand, field, optional } => {
                let base = self.node(*operand)?;
                self.charge(1)?;
                select(&base, field, *optional)
            }
            Node::Has { operand, field } => {
                let base = self.node(*operand)?;
                has(&base, field).map(Value::Bool)
            }
            Node::Call { name, args, fun, .. } => self.call(name, *fun, args),
            Node::And(terms) => self.junction(terms, false),
            Node::Or(terms) => self.junction(terms, true),
            Node::Conditional(condition, yes, no) => {
                let branch = if self.node(*condition)?.bool()? { *yes } else { *no };
                self.node(branch)
            }
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Loop(l) => self.comprehension(l),
        }
    }

    /// `&&` and `||`: an error counts only when no other term decides.
    fn junction(&mut self, terms: &[Id], decisive: bool) -> Outcome {
        let mut failure = None;
        for term in terms {
            match self.node(*term).and_then(|v| v.bool()) {
                Ok(value) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(_) => {}
                Err(Failure::Limit) => return Err(Failure::Limit),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(Value::Bool(!decisive)),
        }
    }

    fn list(&mut self, items: &[(Id, bool)]) -> Outcome {
        self.charge(LIST_COST)?;
        let mut out = Vec::with_capacity(items.len());
        for (id, optional) in items {
            let value = self.node(*id)?;
            out.extend(if *optional { unwrap(value)? } else { Some(value) });
        }
        Ok(Value::list(out))
    }

    fn map(&mut self, entries: &[(Id, Id, bool)]) -> Outcome {
        self.charge(MAP_COST)?;
        let mut out = BTreeMap::new();
        for (key, value, optional) in entries {
            let key = self.node(*key)?;
            let value = self.node(*value)?;
            let Some(key) = MapKey::of(&key) else { return fail("unsupported map key type") };
            let Some(value) = (if *optional { unwrap(value)? } else { Some(value) }) else { continue };
            if out.insert(key, value).is_some() {
                return fail("insert failed: key already exists");
            }
        }
        Ok(Value::map(out))
    }

    fn comprehension(&mut self, l: &'a Comprehension) -> Outcome {
        let range = self.node(l.range)?;
        if matches!(l.kind, Loop::OptMap | Loop::OptFlatMap) {
            return self.optional_map(l, &range);
        }
        let pairs: Vec<(Value, Value)> = match &range {
            Value::List(list) => {
                list.items.iter().enumerate().map(|(i, v)| (Value::Int(i as i64), v.clone())).collect()
            }
            Value::Map(map) | Value::Object(map) => map.iter().map(|(k, v)| (k.value(), v.clone())).collect(),
            _ => return no_overload(),
        };
        let by_key = !matches!(range, Value::List(_));
        let mut gathered = Gathered::new(l.kind);
        let depth = self.scope.len();
        for (key, value) in pairs {
            self.charge(LOOP_STEP_COST)?;
            let element = if by_key { key.clone() } else { value.clone() };
            match &l.var2 {
                Some(var2) => {
                    self.scope.push((l.var.clone(), key.clone()));
                    self.scope.push((var2.clone(), value));
                }
                None => self.scope.push((l.var.clone(), element.clone())),
            }
            let step = self.step(l, &mut gathered, key, element);
            self.scope.truncate(depth);
            if step? {
                break;
            }
        }
        gathered.finish()
    }

    /// One turn of a loop; true ends it.
    fn step(&mut self, l: &Comprehension, out: &mut Gathered, key: Value, element: Value) -> Outcome<bool> {
        if let Some(filter) = l.filter
            && !self.node(filter)?.bool()?
        {
            return Ok(false);
        }
        let body = self.node(l.body);
        match l.kind {
            Loop::All | Loop::Exists => {
                let decisive = l.kind == Loop::Exists;
                match body.and_then(|v| v.bool()) {
                    Ok(value) if value == decisive => {
                        out.decided = true;
                        return Ok(true);
                    }
                    Ok(_) => {}
                    Err(Failure::Limit) => return Err(Failure::Limit),
                    Err(error) => out.failure = out.failure.take().or(Some(error)),
                }
            }
            Loop::ExistsOne => out.count += usize::from(body?.bool()?),
            Loop::Filter => {
                if body?.bool()? {
                    self.charge(LIST_COST)?;
                    out.items.push(element.sound()?);
                }
            }
            Loop::SortBy => {
                out.keys.push(body?);
                out.items.push(element.sound()?);
            }
            Loop::TransformMap => out.insert(key, body?)?,
            Loop::TransformMapEntry => {
                let Value::Map(entries) = body? else { return no_overload() };
                for (key, value) in entries.iter() {
                    out.insert(key.value(), value.clone())?;
                }
            }
            _ => {
                self.charge(LIST_COST)?;
                out.items.push(body?);
            }
        }
        Ok(false)
    }

    fn optional_map(&mut self, l: &Comprehension, range: &Value) -> Outcome {
        let Value::Optional(inner) = range else { return no_overload() };
        let Some(inner) = inner else { return Ok(Value::Optional(None)) };
        self.scope.push((l.var.clone(), (**inner).clone()));
        let body = self.node(l.body);
        self.scope.pop();
        body.map(|v| if l.kind == Loop::OptMap { Value::some(v) } else { v })
    }

    fn call(&mut self, name: &str, fun: Option<Fun>, ids: &[Id]) -> Outcome {
        let Some(fun) = fun else { return no_overload() };
        let mut args = Vec::with_capacity(ids.len());
        for id in ids {
            args.push(self.node(*id)?);
        }
        self.charge_call(fun, &args)?;
        match fun {
            Fun::FormatNamed => Ok(named_format(name, &args)),
            Fun::Matches | Fun::Find | Fun::FindAll => self.pattern(fun, &args),
            _ => apply(fun, &args),
        }
    }

    /// Charged before the work is done, so that nothing large is built first.
    fn charge_call(&mut self, fun: Fun, args: &[Value]) -> Outcome<()> {
        let size = |at: usize| args.get(at).map_or(0, Value::size);
        let texts =
            || args.iter().filter(|a| matches!(a, Value::Str(_) | Value::Bytes(_))).map(Value::size).sum::<u64>();
        let cost = match fun {
            Fun::Matches | Fun::Find | Fun::FindAll => traversal(size(0) + 1).saturating_mul(size(1).div_ceil(4)),
            Fun::Contains | Fun::IndexOf | Fun::LastIndexOf if matches!(args[0], Value::Str(_)) => {
                traversal(size(0)).saturating_mul(traversal(size(1)))
            }
            Fun::Replace => {
                let growth = size(2).saturating_mul(size(0) / size(1).max(1) + 1);
                traversal(size(0)) * 2 + traversal(growth)
            }
            Fun::Equals | Fun::NotEquals => compared(&args[0], &args[1]),
            Fun::In | Fun::IndexOf | Fun::LastIndexOf | Fun::IsSorted | Fun::Sum | Fun::Min | Fun::Max | Fun::Join => {
                args.iter().map(weight).sum()
            }
            Fun::SetsContains | Fun::SetsEquivalent | Fun::SetsIntersects => {
                weight(&args[0]).saturating_mul(weight(&args[1]))
            }
            Fun::Distinct | Fun::Sort => weight(&args[0]).saturating_mul(size(0)).saturating_mul(2),
            Fun::Slice | Fun::Reverse | Fun::Flatten => weight(&args[0]),
            Fun::Range => match args {
                [Value::Int(n)] => u64::try_from(*n).unwrap_or(0),
                _ => 0,
            },
            Fun::FormatText => args.iter().map(weight).sum(),
            Fun::Add if united(args) => traversal(size(0).saturating_mul(size(1))),
            Fun::Add => args.iter().map(|a| traversal(weight(a))).sum(),
            _ => traversal(texts()),
        };
        self.charge(cost.max(1))
    }

    fn pattern(&mut self, fun: Fun, args: &[Value]) -> Outcome {
        let (Value::Str(text), Value::Str(source)) = (&args[0], &args[1]) else { return no_overload() };
        if !self.patterns.contains_key(source) {
            let compiled = Pattern::new(source).map_err(|e| Failure::Error(e.into()))?;
            self.patterns.insert(source.clone(), compiled);
        }
        let Some(pattern) = self.patterns.get(source) else { return no_overload() };
        let limit = match args.get(2) {
            Some(Value::Int(n)) => usize::try_from(*n).unwrap_or(usize::MAX),
            _ => usize::MAX,
        };
        Ok(match fun {
            Fun::Matches => Value::Bool(pattern.found_in(text)),
            Fun::Find => Value::str(pattern.finds(text, 1).first().copied().unwrap_or("")),
            _ => Value::list(pattern.finds(text, limit).into_iter().map(Value::str).collect()),
        })
    }
}

/// Each turn pays for its variable and the bookkeeping around it.
const LOOP_STEP_COST: u64 = 2;

/// What a loop has gathered so far.
struct Gathered {
    kind: Loop,
    decided: bool,
    failure: Option<Failure>,
    count: usize,
    items: Vec<Value>,
    keys: Vec<Value>,
    entries: BTreeMap<MapKey, Value>,
}

impl Gathered {
    fn new(kind: Loop) -> Self {
        let (items, keys, entries) = (Vec::new(), Vec::new(), BTreeMap::new());
        Gathered { kind, decided: false, failure: None, count: 0, items, keys, entries }
    }

    fn insert(&mut self, key: Value, value: Value) -> Outcome<()> {
        let Some(key) = MapKey::of(&key) else { return fail("unsupported map key type") };
        if self.entries.insert(key, value).is_some() {
            return fail("insert failed: key already exists");
        }
        Ok(())
    }

    fn finish(self) -> Outcome {
        match (self.kind, self.failure) {
            (Loop::All, _) if self.decided => Ok(Value::Bool(false)),
            (Loop::Exists, _) if self.decided => Ok(Value::Bool(true)),
            (_, Some(failure)) => Err(failure),
            (Loop::All, None) => Ok(Value::Bool(true)),
            (Loop::Exists, None) => Ok(Value::Bool(false)),
            (Loop::ExistsOne, None) => Ok(Value::Bool(self.count == 1)),
            (Loop::SortBy, None) => lists::sort_by(&self.items, &self.keys),
            (Loop::TransformMap | Loop::TransformMapEntry, None) => Ok(Value::map(self.entries)),
            _ => Ok(Value::list(self.items)),
        }
    }
}

/// Characters and scalars in a value with all that is in it, counted up to the limit of a call: a value that
/// shares its parts may be far larger than the memory it takes.
fn weight(value: &Value) -> u64 {
    let mut left = CALL_COST_MAX + 1;
    weigh(value, &mut left);
    CALL_COST_MAX + 1 - left
}

fn weigh(value: &Value, left: &mut u64) {
    let own = match value {
        Value::Str(s) => traversal(s.len() as u64) + 1,
        Value::Bytes(b) => traversal(b.len() as u64) + 1,
        _ => 1,
    };
    *left = left.saturating_sub(own);
    let mut inner = |part: &Value| {
        if *left > 0 {
            weigh(part, left);
        }
    };
    match value {
        Value::List(l) => l.items.iter().for_each(inner),
        Value::Map(m) | Value::Object(m) => m.values().for_each(inner),
        Value::Optional(Some(part)) => inner(part),
        _ => {}
    }
}

/// The cost of an equality. What weighs more than a call may cost is not begun at all.
fn compared(a: &Value, b: &Value) -> u64 {
    let lighter = weight(a).min(weight(b));
    let whole = if united(&[a.clone(), b.clone()]) { a.size().saturating_mul(b.size()) } else { lighter };
    if lighter > CALL_COST_MAX { lighter } else { traversal(whole) }
}

/// Lists that compare and add item by item, each with all of the other.
fn united(args: &[Value]) -> bool {
    args.iter().any(|a| matches!(a, Value::List(l) if l.kind != ListKind::Atomic))
}

pub fn unwrap(value: Value) -> Outcome<Option<Value>> {
    match value {
        Value::Optional(inner) => Ok(inner.map(|v| (*v).clone())),
        _ => no_overload(),
    }
}

fn named_format(name: &str, args: &[Value]) -> Value {
    match (format_function(name), args) {
        (Some(format), []) => Value::Format(format),
        (_, [Value::Str(wanted)]) => {
            let found = FORMATS.iter().find(|f| **f == &**wanted);
            found.map_or(Value::Optional(None), |f| Value::some(Value::Format(f)))
        }
        _ => Value::Optional(None),
    }
}

fn member(base: &Value, key: &MapKey) -> Outcome<Option<Value>> {
    match base {
        Value::Map(m) | Value::Object(m) => m.get(key).map(Value::sound).transpose(),
        _ => no_overload(),
    }
}

fn select(base: &Value, field: &Arc<str>, optional: bool) -> Outcome {
    let key = MapKey::Str(field.clone());
    if let Value::Optional(inner) = base {
        let Some(inner) = inner else { return Ok(Value::Optional(None)) };
        return Ok(Value::Optional(member(inner, &key)?.map(Arc::new)));
    }
    let found = member(base, &key)?;
    if optional {
        return Ok(Value::Optional(found.map(Arc::new)));
    }
    found.map_or_else(|| fail(format!("no such key: {field}")), Ok)
}

fn has(base: &Value, field: &Arc<str>) -> Outcome<bool> {
    match base {
        Value::Map(m) | Value::Object(m) => Ok(m.contains_key(&MapKey::Str(field.clone()))),
        Value::Optional(Some(inner)) => has(inner, field),
        Value::Optional(None) => Ok(false),
        _ => no_overload(),
    }
}

fn index(base: &Value, at: &Value) -> Outcome<Result<Value, String>> {
    match base {
        Value::List(list) => {
            let Some(MapKey::Int(position)) = MapKey::of(at) else { return no_overload() };
            match usize::try_from(position).ok().and_then(|p| list.items.get(p)) {
                Some(item) => item.sound().map(Ok),
                None => Ok(Err(format!("index out of bounds: {position}"))),
            }
        }
        Value::Map(_) | Value::Object(_) => match MapKey::of(at) {
            Some(key) => Ok(member(base, &key)?.ok_or_else(|| "no such key".to_string())),
            None => fail("unsupported key type"),
        },
        _ => no_overload(),
    }
}

pub fn index_call(base: &Value, at: &Value, optional: bool) -> Outcome {
    if let Value::Optional(inner) = base {
        let Some(inner) = inner else { return Ok(Value::Optional(None)) };
        return Ok(Value::Optional(index(inner, at)?.ok().map(Arc::new)));
    }
    match index(base, at)? {
        found if optional => Ok(Value::Optional(found.ok().map(Arc::new))),
        Ok(value) => Ok(value),
        Err(why) => fail(why),
    }
}
