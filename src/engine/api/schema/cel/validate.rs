//! Running the rules over an object, from the root down, each node beside its old self.

use super::convert::from_json;
use super::eval::{CALL_COST_MAX, evaluate as run};
use super::rules::{CompiledRule, CompiledRules, RuleNode};
use super::value::{Failure, Value};
use crate::api::schema::field::{ErrorKind, FieldError, FieldPath};
use crate::api::schema::ratchet::{Old, OldItems};
use serde_json::Value as Json;

/// Most the rules of one object may cost; apiserver `RuntimeCELCostBudget`.
pub const OBJECT_COST_MAX: u64 = 10_000_000;
/// Longest text a `messageExpression` may give.
const MESSAGE_MAX: usize = 5 * 1024;

/// What the rules found.
#[derive(Debug, Default)]
pub struct CelOutcome {
    pub errors: Vec<FieldError>,
    /// Failures of nodes that were so before: told, but forgiven.
    pub warnings: Vec<String>,
}

/// Runs every rule on `new`; `old` is what is stored, or nothing on create.
#[must_use]
pub fn evaluate(rules: &CompiledRules, new: &Json, old: Option<Old>) -> CelOutcome {
    let mut walk = Walk { out: CelOutcome::default(), budget: OBJECT_COST_MAX, stopped: false };
    if let Some(root) = &rules.root {
        walk.node(root, &FieldPath::Root, new, old, None);
    }
    walk.out
}

/// The error that stands for all rules when other errors keep them from being run.
#[must_use]
pub fn blocked_notice() -> FieldError {
    let detail = "some validation rules were not checked because the object was invalid; \
                  correct the existing errors to complete validation";
    FieldError::invalid("", &Json::Null, detail)
}

/// Whether an error keeps the rules from being run.
#[must_use]
pub fn blocks(error: &FieldError) -> bool {
    matches!(
        error.kind,
        ErrorKind::Required
            | ErrorKind::NotSupported
            | ErrorKind::TooLong
            | ErrorKind::TooMany
            | ErrorKind::TypeInvalid
    )
}

struct Walk {
    out: CelOutcome,
    budget: u64,
    /// A limit was reached; nothing more is run.
    stopped: bool,
}

/// The node whose being unchanged forgives a failure: the node itself if it has an old self, or the nearest above that
/// has one.
type Ground<'a> = Option<(Old<'a>, &'a Json)>;

impl Walk {
    /// `old` is the node's old self if one correlates; `above` is the ground of the node above.
    fn node<'a>(&mut self, node: &RuleNode, path: &FieldPath, new: &'a Json, old: Option<Old<'a>>, above: Ground<'a>) {
        if new.is_null() || self.stopped {
            return;
        }
        let ground = old.map(|o| (o, new)).or(above);
        let old = old.filter(|o| !o.value.is_null());
        if !node.rules.is_empty() {
            self.rules(node, path, new, old, ground);
        }
        match new {
            Json::Array(items) => {
                let Some(rules) = &node.items else { return };
                let olds = old.map_or(OldItems::None, |o| o.items());
                for (at, item) in items.iter().enumerate() {
                    self.node(rules, &path.index(at), item, olds.of(item), ground);
                }
            }
            Json::Object(fields) => {
                for (name, value) in fields {
                    let old = old.and_then(|o| o.member(name));
                    if let Some(rules) = &node.values {
                        self.node(rules, &path.key(name), value, old, ground);
                    }
                    if let Some(rules) = node.properties.get(name) {
                        self.node(rules, &path.child(name), value, old, ground);
                    }
                }
            }
            _ => {}
        }
    }

    fn rules(&mut self, node: &RuleNode, path: &FieldPath, new: &Json, old: Option<Old>, ground: Ground) {
        let Some(decl) = &node.decl else { return };
        let this = from_json(new, decl);
        let before = old.map(|o| from_json(o.value, decl));
        for rule in &node.rules {
            if self.stopped {
                return;
            }
            let old_self = match (&before, rule.source.optional_old_self) {
                (old, true) => Value::Optional(old.clone().map(std::sync::Arc::new)),
                (Some(old), false) => old.clone(),
                (None, false) if rule.program.uses_old_self => continue,
                (None, false) => Value::Null,
            };
            self.rule(rule, path, new, &[("self", this.clone()), ("oldSelf", old_self)], ground);
        }
    }

    fn rule(&mut self, rule: &CompiledRule, path: &FieldPath, new: &Json, variables: &[(&str, Value)], ground: Ground) {
        let shown = (!new.is_object() && !new.is_array()).then_some(new);
        let invalid = |detail: String| FieldError::new(ErrorKind::Invalid, path.to_string(), shown, detail);
        let (outcome, cost) = run(&rule.program, variables, CALL_COST_MAX);
        if !self.pay(cost) {
            let detail = "validation failed due to running out of cost budget, no further validation rules will be run";
            self.out.errors.push(invalid(detail.to_string()));
            return;
        }
        let name = if rule.source.message.is_empty() { rule.source.rule.trim() } else { rule.source.message.trim() };
        match outcome {
            Ok(Value::Bool(true)) => {}
            Ok(_) => {
                let error = self.failure(rule, path, shown, variables);
                if !rule.program.uses_old_self && ground.is_some_and(|(old, new)| old.unchanged(new)) {
                    self.out.warnings.push(error.to_string());
                } else {
                    self.out.errors.push(error);
                }
            }
            Err(Failure::Limit) => {
                self.stopped = true;
                self.out.errors.push(invalid(format!(
                    "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to \
                     call cost exceeds limit for rule: {name}"
                )));
            }
            Err(Failure::Error(why)) if why.starts_with("no such overload") => self.out.errors.push(invalid(format!(
                "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
            ))),
            Err(Failure::Error(why)) => self.out.errors.push(invalid(format!("{why} evaluating rule: {name}"))),
        }
    }

    /// Takes the cost off the budget; false when it does not last.
    fn pay(&mut self, cost: u64) -> bool {
        match self.budget.checked_sub(cost) {
            Some(rest) => self.budget = rest,
            None => self.stopped = true,
        }
        !self.stopped
    }

    fn failure(
        &mut self,
        rule: &CompiledRule,
        path: &FieldPath,
        shown: Option<&Json>,
        variables: &[(&str, Value)],
    ) -> FieldError {
        let at = match rule.field.as_str() {
            "" => path.to_string(),
            field if path.is_root() => field.to_string(),
            field => format!("{path}.{field}"),
        };
        let detail = self.message(rule, variables);
        match rule.source.reason.as_str() {
            "FieldValueForbidden" => FieldError::forbidden(at, detail),
            "FieldValueRequired" => FieldError::required(at, detail),
            "FieldValueDuplicate" => FieldError::new(ErrorKind::Duplicate, at, shown, detail),
            _ => FieldError::new(ErrorKind::Invalid, at, shown, detail),
        }
    }

    fn message(&mut self, rule: &CompiledRule, variables: &[(&str, Value)]) -> String {
        if let Some(expression) = &rule.message {
            let (outcome, cost) = run(expression, variables, CALL_COST_MAX);
            let within = self.pay(cost);
            if let (true, Ok(Value::Str(text))) = (within, outcome) {
                let text = text.trim();
                if !text.is_empty() && text.len() <= MESSAGE_MAX && !text.contains(['\n', '\r']) {
                    return text.to_string();
                }
            }
        }
        match rule.source.message.trim() {
            "" => format!("failed rule: {}", rule.source.rule.trim()),
            message => message.to_string(),
        }
    }
}
