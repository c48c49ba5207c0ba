//! The type checker: every expression is typed against the schema before it may run.

use super::ast::{Ast, Comprehension, Id, Loop, Node};
use super::functions::{FORMATS, Fun, lookup, signature};
use super::numbers;
use super::types::Type;
use super::unify::same;
use super::value::Value;
use crate::api::schema::pattern::Pattern;
use std::sync::Arc;

/// A checked expression.
#[derive(Debug)]
pub struct Checked {
    pub ast: Ast,
    /// By node.
    pub types: Vec<Type>,
    pub uses_old_self: bool,
}

impl Checked {
    pub fn result(&self) -> &Type {
        &self.types[self.ast.root]
    }
}

/// Checks `ast` where the given variables are known.
pub fn check(ast: Ast, variables: &[(&str, Type)]) -> Result<Checked, String> {
    let scope = variables.iter().map(|(name, ty)| (Arc::from(*name), ty.clone())).collect();
    let types = vec![Type::Dyn; ast.nodes.len()];
    let globals = variables.len();
    let mut checker =
        Checker { ast, types, scope, globals, bound: Vec::new(), trail: Vec::new(), mixed: 0, uses_old_self: false };
    let root = checker.ast.root;
    checker.node(root)?;
    for at in 0..checker.types.len() {
        checker.types[at] = checker.settle(&checker.types[at]);
    }
    Ok(Checked { ast: checker.ast, types: checker.types, uses_old_self: checker.uses_old_self })
}

pub(super) struct Checker {
    ast: Ast,
    types: Vec<Type>,
    scope: Vec<(Arc<str>, Type)>,
    /// The first so many of `scope` are the variables of the rule.
    globals: usize,
    /// What each type parameter stands for so far.
    pub(super) bound: Vec<Option<Type>>,
    /// Which parameters were bound, in order, so that a failed attempt can be undone.
    pub(super) trail: Vec<u32>,
    /// Above zero inside the arguments of `format`, whose list may mix types.
    mixed: u32,
    uses_old_self: bool,
}

type Typed<T = Type> = Result<T, String>;

impl Checker {
    fn fresh(&mut self, count: usize) -> u32 {
        let first = self.bound.len() as u32;
        self.bound.extend((0..count).map(|_| None));
        first
    }

    fn node(&mut self, id: Id) -> Typed {
        // The node is taken out while its children are visited, and put back with what was found.
        let mut node = std::mem::replace(&mut self.ast.nodes[id], Node::Literal(Value::Null));
        let ty = self.visit(&mut node);
        self.ast.nodes[id] = node;
        let ty = ty?;
        self.types[id] = ty.clone();
        Ok(ty)
    }

    fn visit(&mut self, node: &mut Node) -> Typed {
        let replacement = match node {
            Node::Literal(value) => return Ok(value.type_of()),
            Node::Ident(name) => match self.variable(name) {
                Some(ty) => return Ok(ty),
                None => Node::Literal(Value::Type(type_named(name).ok_or_else(|| undeclared(name))?)),
            },
            Node::Select { operand, field, optional } => match self.qualified(*operand, field) {
                Some(ty) => Node::Literal(Value::Type(ty)),
                None => return self.select(*operand, field, *optional),
            },
            Node::Has { operand, field } => {
                self.select(*operand, field, false)?;
                return Ok(Type::Bool);
            }
            Node::Call { name, target, args, fun, overloads } => return self.call(name, target, args, fun, overloads),
            Node::And(terms) | Node::Or(terms) => {
                for term in terms.iter() {
                    self.expect(*term, &Type::Bool)?;
                }
                return Ok(Type::Bool);
            }
            Node::Conditional(condition, yes, no) => {
                self.expect(*condition, &Type::Bool)?;
                let (yes, no) = (self.node(*yes)?, self.node(*no)?);
                return match self.join(&yes, &no) {
                    Some(ty) => Ok(ty),
                    None => Err(self.no_overload("_?_:_", &[Type::Bool, yes, no])),
                };
            }
            Node::List(items) => return self.list(items),
            Node::Map(entries) => return self.map(entries),
            Node::Loop(l) => return self.comprehension(l),
        };
        *node = replacement;
        Ok(Type::Type)
    }

    fn variable(&mut self, name: &str) -> Option<Type> {
        let at = self.scope.iter().rposition(|(n, _)| &**n == name)?;
        self.uses_old_self |= at < self.globals && name == "oldSelf";
        Some(self.scope[at].1.clone())
    }

    /// Types with dots in their names, such as `net.IP`.
    fn qualified(&self, operand: Id, field: &str) -> Option<Type> {
        let mut parts = vec![field];
        let mut at = operand;
        loop {
            match &self.ast.nodes[at] {
                Node::Select { operand, field, optional: false } => {
                    parts.push(field);
                    at = *operand;
                }
                Node::Ident(name) if !self.scope.iter().any(|(n, _)| n == name) => {
                    parts.push(name);
                    break;
                }
                _ => return None,
            }
        }
        parts.reverse();
        type_named(&parts.join("."))
    }

    fn expect(&mut self, id: Id, wanted: &Type) -> Typed<()> {
        let found = self.node(id)?;
        if self.unify(wanted, &found) {
            return Ok(());
        }
        Err(format!("expected type '{}' but found '{}'", wanted.name(), self.settle(&found).name()))
    }

    fn select(&mut self, operand: Id, field: &Arc<str>, optional: bool) -> Typed {
        let base = self.node(operand)?;
        let base = self.resolve(&base);
        let (inner, lifted) = match &base {
            Type::Optional(inner) => (self.resolve(inner), true),
            other => (other.clone(), false),
        };
        let ty = match &inner {
            Type::Dyn | Type::Param(_) => Type::Dyn,
            Type::Map(key, value) => {
                if !self.unify(key, &Type::String) {
                    return Err("type 'map' does not support field selection".to_string());
                }
                (**value).clone()
            }
            Type::Object(object) => match object.fields.get(field) {
                Some(found) => found.decl.ty(),
                None => return Err(format!("undefined field '{field}'")),
            },
            other => return Err(format!("type '{}' does not support field selection", other.name())),
        };
        Ok(if lifted || optional { Type::Optional(Arc::new(ty)) } else { ty })
    }

    fn call(
        &mut self,
        name: &mut Arc<str>,
        target: &mut Option<Id>,
        args: &mut Vec<Id>,
        fun: &mut Option<Fun>,
        overloads: &mut Vec<u16>,
    ) -> Typed {
        if let Some(at) = *target
            && let Node::Ident(space) = &self.ast.nodes[at]
        {
            let full = format!("{space}.{name}");
            let shadowed = self.scope.iter().any(|(n, _)| n == space);
            if !shadowed && (lookup(&full).is_some() || format_function(&full).is_some()) {
                *name = full.into();
                *target = None;
            }
        }
        if target.is_none() && args.is_empty() && format_function(name).is_some() {
            *fun = Some(Fun::FormatNamed);
            return Ok(Type::Format);
        }
        let Some((found, signatures)) = lookup(name) else { return Err(undeclared(name)) };
        let method = target.is_some();
        if let Some(at) = target.take() {
            args.insert(0, at);
        }
        *fun = Some(found);
        self.mixed += u32::from(found == Fun::FormatText);
        let mut types = Vec::with_capacity(args.len());
        for arg in args.iter() {
            types.push(self.node(*arg)?);
        }
        self.mixed -= u32::from(found == Fun::FormatText);
        let ty = self.overload(name, method, &types, signatures, overloads)?;
        self.literal_arguments(found, args)?;
        Ok(ty)
    }

    /// Finds the overloads the argument types allow; their common result is the type of the call.
    fn overload(&mut self, name: &str, method: bool, args: &[Type], signatures: &str, chosen: &mut Vec<u16>) -> Typed {
        let mut result: Option<Type> = None;
        let mut first = None;
        for (at, text) in signatures.split(' ').enumerate() {
            let mark = (self.bound.len(), self.trail.len());
            if let Some(ty) = self.try_overload(text, method, args) {
                chosen.push(at as u16);
                first.get_or_insert(text);
                result = Some(match result {
                    None => ty,
                    Some(other) if same(&other, &ty) => other,
                    Some(_) => Type::Dyn,
                });
            }
            self.undo(mark);
        }
        match (first, result) {
            // Done again, now to keep what it binds.
            (Some(text), Some(ty)) => {
                let kept = self.try_overload(text, method, args);
                Ok(if matches!(ty, Type::Dyn) { ty } else { kept.unwrap_or(ty) })
            }
            _ => Err(self.no_overload(name, args)),
        }
    }

    fn try_overload(&mut self, text: &str, method: bool, args: &[Type]) -> Option<Type> {
        let fresh = self.fresh(2);
        let sig = signature(text, fresh);
        let fits = sig.method == method
            && sig.params.len() == args.len()
            && sig.params.iter().zip(args).all(|(p, a)| self.unify(p, a));
        fits.then(|| self.settle_known(&sig.result))
    }

    /// Forgets every binding and parameter made since `mark`.
    fn undo(&mut self, (params, bindings): (usize, usize)) {
        for at in self.trail.drain(bindings..) {
            self.bound[at as usize] = None;
        }
        self.bound.truncate(params);
    }

    /// Literals that can be judged now: regular expressions, durations and timestamps (as the 1.29 validators do).
    fn literal_arguments(&self, fun: Fun, args: &[Id]) -> Typed<()> {
        let literal = |at: usize| match args.get(at).map(|id| &self.ast.nodes[*id]) {
            Some(Node::Literal(Value::Str(text))) => Some(text.clone()),
            _ => None,
        };
        match fun {
            Fun::Matches | Fun::Find | Fun::FindAll => match literal(1) {
                Some(text) => Pattern::new(&text).map(|_| ()).map_err(|e| format!("invalid matches argument: {e}")),
                None => Ok(()),
            },
            Fun::ToDuration => match literal(0) {
                Some(text) if numbers::parse_duration(&text).is_none() => Err("invalid duration argument".to_string()),
                _ => Ok(()),
            },
            Fun::ToTimestamp => match literal(0) {
                Some(text) if super::time::parse_timestamp(&text).is_none() => {
                    Err("invalid timestamp argument".to_string())
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn list(&mut self, items: &[(Id, bool)]) -> Typed {
        let fresh = self.fresh(1);
        let mut element = Type::Param(fresh);
        for (id, optional) in items {
            let ty = self.element(*id, *optional)?;
            element = self.joined(element, ty)?;
        }
        Ok(Type::List(Arc::new(element)))
    }

    fn map(&mut self, entries: &[(Id, Id, bool)]) -> Typed {
        let fresh = self.fresh(2);
        let (mut key, mut value) = (Type::Param(fresh), Type::Param(fresh + 1));
        for (k, v, optional) in entries {
            let ty = self.node(*k)?;
            if !matches!(
                self.resolve(&ty),
                Type::Bool | Type::Int | Type::Uint | Type::String | Type::Dyn | Type::Param(_)
            ) {
                return Err(format!("unsupported map key type '{}'", self.settle(&ty).name()));
            }
            key = self.joined(key, ty)?;
            let ty = self.element(*v, *optional)?;
            value = self.joined(value, ty)?;
        }
        Ok(Type::Map(Arc::new(key), Arc::new(value)))
    }

    fn element(&mut self, id: Id, optional: bool) -> Typed {
        let ty = self.node(id)?;
        if !optional {
            return Ok(ty);
        }
        match self.resolve(&ty) {
            Type::Optional(inner) => Ok((*inner).clone()),
            Type::Dyn => Ok(Type::Dyn),
            other => Err(format!("expected type 'optional_type' but found '{}'", other.name())),
        }
    }

    /// Elements of one literal have one type, except below `format`.
    fn joined(&mut self, known: Type, next: Type) -> Typed {
        match self.join(&known, &next) {
            Some(ty) => Ok(ty),
            None if self.mixed > 0 => Ok(Type::Dyn),
            None => {
                Err(format!("expected type '{}' but found '{}'", self.settle(&known).name(), self.settle(&next).name()))
            }
        }
    }

    fn join(&mut self, a: &Type, b: &Type) -> Option<Type> {
        if !self.unify(a, b) {
            return None;
        }
        let (ra, rb) = (self.resolve(a), self.resolve(b));
        Some(match (&ra, &rb) {
            (Type::Dyn, _) | (_, Type::Dyn) => Type::Dyn,
            (Type::Null, _) => rb,
            _ => ra,
        })
    }

    fn comprehension(&mut self, l: &Comprehension) -> Typed {
        let range = self.node(l.range)?;
        let range = self.resolve(&range);
        if matches!(l.kind, Loop::OptMap | Loop::OptFlatMap) {
            return self.optional_map(l, &range);
        }
        let (first, second) = match &range {
            Type::List(item) if l.var2.is_some() => (Type::Int, (**item).clone()),
            Type::List(item) => ((**item).clone(), Type::Dyn),
            Type::Map(..) if l.kind == Loop::SortBy => return Err("sortBy() needs a list".to_string()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Param(_) => (Type::Dyn, Type::Dyn),
            other => {
                return Err(format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    other.name()
                ));
            }
        };
        let depth = self.scope.len();
        self.scope.push((l.var.clone(), first.clone()));
        if let Some(var2) = &l.var2 {
            self.scope.push((var2.clone(), second));
        }
        if let Some(filter) = l.filter {
            self.expect(filter, &Type::Bool)?;
        }
        let body = self.node(l.body)?;
        self.scope.truncate(depth);
        match l.kind {
            Loop::All | Loop::Exists | Loop::ExistsOne | Loop::Filter => {
                if !self.unify(&Type::Bool, &body) {
                    return Err(format!("expected type 'bool' but found '{}'", self.settle(&body).name()));
                }
                Ok(if l.kind == Loop::Filter { Type::List(Arc::new(first)) } else { Type::Bool })
            }
            Loop::Map => Ok(Type::List(Arc::new(body))),
            Loop::SortBy => match self.resolve(&body) {
                Type::List(_) | Type::Map(..) | Type::Object(_) | Type::Null => {
                    Err("sortBy() needs a comparable key".to_string())
                }
                _ => Ok(range),
            },
            Loop::TransformMap => {
                let key = if matches!(range, Type::List(_)) { Type::Int } else { first };
                Ok(Type::Map(Arc::new(key), Arc::new(body)))
            }
            _ => match self.resolve(&body) {
                map @ (Type::Map(..) | Type::Dyn) => Ok(map),
                other => Err(format!("expected type 'map' but found '{}'", other.name())),
            },
        }
    }

    fn optional_map(&mut self, l: &Comprehension, range: &Type) -> Typed {
        let inner = match range {
            Type::Optional(inner) => (**inner).clone(),
            Type::Dyn | Type::Param(_) => Type::Dyn,
            other => return Err(self.no_overload("optMap", std::slice::from_ref(other))),
        };
        self.scope.push((l.var.clone(), inner));
        let body = self.node(l.body);
        self.scope.pop();
        let body = body?;
        if l.kind == Loop::OptMap {
            return Ok(Type::Optional(Arc::new(body)));
        }
        match self.resolve(&body) {
            optional @ (Type::Optional(_) | Type::Dyn) => Ok(optional),
            other => Err(format!("expected type 'optional_type' but found '{}'", other.name())),
        }
    }

    fn no_overload(&self, name: &str, args: &[Type]) -> String {
        let names: Vec<&str> = args.iter().map(|a| self.settle(a).name()).collect();
        format!("found no matching overload for '{name}' applied to '({})'", names.join(", "))
    }
}

fn undeclared(name: &str) -> String {
    format!("undeclared reference to '{name}' (in container '')")
}

/// The named format that `format.NAME()` stands for.
pub fn format_function(name: &str) -> Option<&'static str> {
    let short = name.strip_prefix("format.")?;
    FORMATS.iter().find(|f| **f == short).copied()
}

fn type_named(name: &str) -> Option<Type> {
    let dynamic = || Arc::new(Type::Dyn);
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "list" => Type::List(dynamic()),
        "map" => Type::Map(dynamic(), dynamic()),
        "null_type" => Type::Null,
        "type" => Type::Type,
        "optional_type" => Type::Optional(dynamic()),
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "kubernetes.Quantity" => Type::Quantity,
        "kubernetes.URL" => Type::Url,
        "net.IP" => Type::Ip,
        "net.CIDR" => Type::Cidr,
        "kubernetes.Semver" => Type::Semver,
        "kubernetes.NamedFormat" => Type::Format,
        _ => return None,
    })
}
