//! Compiling the rules of a schema, with every check a definition's rules are held to.
//!
//! Texts and order follow apiextensions `pkg/apis/apiextensions/validation/validation.go`.

use super::cost;
use super::decl::{REQUEST_MAX, declare};
use super::types::{Decl, Type};
use super::{check, check::Checked, parse};
use crate::api::schema::field::{ErrorKind, FieldError};
use crate::api::schema::structural::{ListType, Rule, Structural};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most one expression may cost by the estimate; apiextensions `StaticEstimatedCostLimit`.
pub const EXPRESSION_COST_MAX: u64 = 10_000_000;
/// Most all rules of one schema may cost; apiextensions `StaticEstimatedCRDCostLimit`.
pub const SCHEMA_COST_MAX: u64 = 100_000_000;
/// How many expensive rules are named when the total is exceeded.
const NAMED_MAX: usize = 4;

const REASONS: [&str; 4] = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/// The rules of one schema, ready to run.
#[derive(Debug, Default)]
pub struct CompiledRules {
    pub(super) root: Option<RuleNode>,
}

/// A schema node with rules on it or below it.
#[derive(Debug)]
pub(super) struct RuleNode {
    pub decl: Option<Arc<Decl>>,
    pub rules: Vec<CompiledRule>,
    pub properties: BTreeMap<String, RuleNode>,
    pub values: Option<Box<RuleNode>>,
    pub items: Option<Box<RuleNode>>,
}

#[derive(Debug)]
pub(super) struct CompiledRule {
    pub source: Rule,
    pub program: Checked,
    pub message: Option<Checked>,
    /// Where below the node a failure is reported; empty at the node.
    pub field: String,
}

/// Compiles the rules below the root of a resource's schema, which stands at `path` in its definition.
///
/// A rule is left out, without a word, where `faults` already has an error at its node or below.
pub fn compile_schema(schema: &Structural, path: &str, faults: &[FieldError]) -> (CompiledRules, Vec<FieldError>) {
    let mut compiler = Compiler { faults, errors: Vec::new(), total: 0, expensive: Vec::new() };
    let place = Place { path: path.to_string(), resource_root: true, cardinality: Some(1), uncorrelatable: None };
    let root = compiler.node(schema, &place).0;
    compiler.judge_total(path);
    (CompiledRules { root }, compiler.errors)
}

/// Compiles what compiles. For schemas that were accepted before, and for single nodes of a schema.
#[must_use]
pub fn compile_quietly(schema: &Structural, resource_root: bool) -> CompiledRules {
    let mut compiler = Compiler { faults: &[], errors: Vec::new(), total: 0, expensive: Vec::new() };
    let place = Place { path: String::new(), resource_root, cardinality: Some(1), uncorrelatable: None };
    CompiledRules { root: compiler.node(schema, &place).0 }
}

struct Compiler<'a> {
    faults: &'a [FieldError],
    errors: Vec<FieldError>,
    total: u64,
    expensive: Vec<(u64, String)>,
}

/// Where in the schema the compiler is.
struct Place {
    path: String,
    resource_root: bool,
    /// How often a node of this place occurs at most; none is without limit.
    cardinality: Option<u64>,
    /// The list whose items have no old selves.
    uncorrelatable: Option<String>,
}

impl Place {
    fn child(&self, step: &str, schema: &Structural, times: Option<u64>) -> Place {
        Place {
            path: format!("{}.{step}", self.path),
            resource_root: schema.embedded_resource,
            cardinality: self.cardinality.zip(times).map(|(a, b)| a.saturating_mul(b)),
            uncorrelatable: self.uncorrelatable.clone(),
        }
    }
}

impl Compiler<'_> {
    /// The compiled node, and whether a fault of the schema stands there or below.
    fn node(&mut self, schema: &Structural, place: &Place) -> (Option<RuleNode>, bool) {
        if !schema.rules_below {
            return (None, self.faulty(&place.path));
        }
        let mut node =
            RuleNode { decl: None, rules: Vec::new(), properties: BTreeMap::new(), values: None, items: None };
        let mut faulty = self.faulty(&place.path);
        let limit = |n: Option<i64>| n.map(|n| u64::try_from(n).unwrap_or(0));
        for (name, property) in &schema.properties {
            let place = place.child(&format!("properties[{name}]"), property, Some(1));
            let (child, fault) = self.node(property, &place);
            faulty |= fault;
            node.properties.extend(child.map(|c| (name.clone(), c)));
        }
        if let Some(values) = schema.additional_schema() {
            let place = place.child("additionalProperties", values, limit(schema.checks.max_properties));
            let (child, fault) = self.node(values, &place);
            faulty |= fault;
            node.values = child.map(Box::new);
        }
        if let Some(items) = &schema.items {
            let mut inner = place.child("items", items, limit(schema.checks.max_items));
            if !matches!(schema.list_type, ListType::Map(_)) {
                inner.uncorrelatable = inner.uncorrelatable.or_else(|| Some(place.path.clone()));
            }
            let (child, fault) = self.node(items, &inner);
            faulty |= fault;
            node.items = child.map(Box::new);
        }
        let mut fields = Vec::new();
        for (at, rule) in schema.rules.iter().enumerate() {
            let path = format!("{}.x-kubernetes-validations[{at}]", place.path);
            let before = self.errors.len();
            fields.push(self.rule_fields(rule, schema, &path));
            faulty |= self.errors.len() > before;
        }
        if !faulty && !schema.rules.is_empty() {
            self.rules(schema, place, fields, &mut node);
        }
        (Some(node), faulty)
    }

    fn faulty(&self, path: &str) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
        self.faults.iter().any(|f| f.path.strip_prefix(path).is_some_and(below))
    }

    /// Checks everything about a rule but its expressions; answers with its field path.
    fn rule_fields(&mut self, rule: &Rule, schema: &Structural, path: &str) -> String {
        let at = |field: &str| format!("{path}.{field}");
        let message = rule.message.trim();
        let errors = &mut self.errors;
        if rule.rule.trim().is_empty() {
            errors.push(FieldError::required(at("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            errors.push(FieldError::invalid_text(
                at("message"),
                &rule.message,
                "message must be non-empty if specified",
            ));
        } else if has_line_break(message) {
            errors.push(FieldError::invalid_text(at("message"), &rule.message, "message must not contain line breaks"));
        } else if has_line_break(rule.rule.trim()) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(at("message"), detail));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(at("messageExpression"), detail));
        }
        if !rule.reason.is_empty() && !REASONS.contains(&rule.reason.as_str()) {
            errors.push(FieldError::not_supported(at("reason"), &Value::from(rule.reason.as_str()), &REASONS));
        }
        if rule.field_path.is_empty() {
            return String::new();
        }
        if rule.field_path.trim().is_empty() {
            let detail = "fieldPath must be non-empty if specified";
            errors.push(FieldError::invalid_text(at("fieldPath"), &rule.field_path, detail));
            return String::new();
        }
        match resolve_field_path(rule.field_path.trim(), schema) {
            Ok(field) => field,
            Err(why) => {
                let detail = format!("fieldPath must be a valid path: {why}");
                errors.push(FieldError::invalid_text(at("fieldPath"), &rule.field_path, detail));
                String::new()
            }
        }
    }

    fn rules(&mut self, schema: &Structural, place: &Place, fields: Vec<String>, node: &mut RuleNode) {
        let Some(decl) = declare(schema, place.resource_root) else {
            let path = format!("{}.x-kubernetes-validations", place.path);
            let detail = "failed to compile: rules are declared on a schema whose values no expression can see";
            self.errors.push(FieldError::invalid_text(path, "", detail));
            return;
        };
        // A node that may occur without limit occurs as often as its smallest value fits one request.
        let times = place.cardinality.unwrap_or(REQUEST_MAX / (decl.min_bytes + 1));
        for (at, (rule, field)) in schema.rules.iter().zip(fields).enumerate() {
            let path = format!("{}.x-kubernetes-validations[{at}]", place.path);
            node.rules.extend(self.rule(rule, field, &decl, times, place, &path));
        }
        node.decl = Some(decl);
    }

    fn rule(
        &mut self,
        rule: &Rule,
        field: String,
        decl: &Arc<Decl>,
        times: u64,
        place: &Place,
        path: &str,
    ) -> Option<CompiledRule> {
        let at = format!("{path}.rule");
        let program = match compile(&rule.rule, decl, rule.optional_old_self, &Type::Bool) {
            Ok(program) => program,
            Err(why) => {
                self.errors.push(FieldError::invalid_text(at, &rule.rule, why));
                return None;
            }
        };
        self.judge(&program, decl, times, &at, "estimated rule cost");
        if program.uses_old_self {
            if let Some(list) = &place.uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {list}");
                self.errors.push(FieldError::invalid_text(at, &rule.rule, detail));
            }
        } else if rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            self.errors.push(FieldError::invalid(format!("{path}.optionalOldSelf"), &Value::Bool(true), detail));
        }
        let message = if rule.message_expression.is_empty() {
            None
        } else {
            let at = format!("{path}.messageExpression");
            match compile(&rule.message_expression, decl, rule.optional_old_self, &Type::String) {
                Ok(message) => {
                    self.judge(&message, decl, times, &at, "estimated messageExpression cost");
                    Some(message)
                }
                Err(why) => {
                    self.errors.push(FieldError::invalid_text(at, &rule.message_expression, why));
                    None
                }
            }
        };
        Some(CompiledRule { source: rule.clone(), program, message, field })
    }

    fn judge(&mut self, program: &Checked, decl: &Arc<Decl>, times: u64, path: &str, what: &str) {
        let cost = cost::estimate(program, decl).saturating_mul(times);
        if cost > EXPRESSION_COST_MAX {
            self.errors.push(FieldError::forbidden(path, over_budget(what, cost, EXPRESSION_COST_MAX)));
        }
        self.total = self.total.saturating_add(cost);
        self.expensive.push((cost, path.to_string()));
        self.expensive.sort_by_key(|e| std::cmp::Reverse(e.0));
        self.expensive.truncate(NAMED_MAX);
    }

    fn judge_total(&mut self, path: &str) {
        if self.total <= SCHEMA_COST_MAX {
            return;
        }
        for (cost, path) in std::mem::take(&mut self.expensive) {
            if cost > 0 {
                let detail =
                    "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
                self.errors.push(FieldError::forbidden(path, detail));
            }
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        self.errors.push(FieldError::forbidden(path, over_budget(what, self.total, SCHEMA_COST_MAX)));
    }
}

/// True for an error that says a rule is too expensive; a schema that is unchanged is not judged by it again.
#[must_use]
pub fn is_cost_error(error: &FieldError) -> bool {
    error.kind == ErrorKind::Forbidden
        && (error.detail.contains("exceeds budget") || error.detail.contains("exceeding cost"))
}

fn over_budget(what: &str, cost: u64, limit: u64) -> String {
    let tenths = u128::from(cost) * 10 / u128::from(limit);
    let factor = if tenths > 1000 { "more than 100x".to_string() } else { format!("{}.{}x", tenths / 10, tenths % 10) };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and \
         maxLength where arrays, maps, and strings are declared)"
    )
}

fn has_line_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn compile(text: &str, decl: &Arc<Decl>, optional_old_self: bool, wanted: &Type) -> Result<Checked, String> {
    let ty = decl.ty();
    let old = if optional_old_self { Type::Optional(Arc::new(ty.clone())) } else { ty.clone() };
    let checked = parse::parse(text)
        .and_then(|ast| check::check(ast, &[("self", ty), ("oldSelf", old)]))
        .map_err(|why| format!("compilation failed: ERROR: {why}"))?;
    if !checked.result().same_kind(wanted) {
        let name = wanted.name();
        return Err(match wanted {
            Type::Bool => "cel expression must evaluate to a bool".to_string(),
            _ => format!("messageExpression must evaluate to a {name}"),
        });
    }
    Ok(checked)
}

/// Follows a relative path such as `.a.b` or `.m['k']` through the schema; answers with it as it is reported.
fn resolve_field_path(path: &str, schema: &Structural) -> Result<String, String> {
    let mut at = schema;
    let mut out = String::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(inner) = rest.strip_prefix('.') {
            let end = inner.find(['.', '[', ']']).unwrap_or(inner.len());
            (inner[..end].to_string(), &inner[end..])
        } else if let Some(inner) = rest.strip_prefix("['") {
            quoted(inner)?
        } else if rest.starts_with('[') {
            return Err("expected single quoted string".to_string());
        } else {
            return Err("expected [ or . at the start of each step".to_string());
        };
        if name.is_empty() {
            return Err("unexpected end of JSON path".to_string());
        }
        if !at.properties.is_empty() {
            at = at.properties.get(&name).ok_or("does not refer to a valid field")?;
            out.push_str(if out.is_empty() { "" } else { "." });
            out.push_str(&name);
        } else {
            at = at.additional_schema().ok_or("does not refer to a valid field")?;
            out.push_str(&format!("[{name}]"));
        }
        rest = after;
    }
    Ok(out)
}

/// The text up to the closing `']`, with its escapes resolved.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => {
                let after = text[at + 1..].strip_prefix(']').ok_or("expected ]")?;
                return Ok((out, after));
            }
            '\\' => out.push(match chars.next().map(|(_, c)| c) {
                Some('a') => '\x07',
                Some('b') => '\x08',
                Some('f') => '\x0c',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\x0b',
                Some(c @ ('\'' | '\\')) => c,
                _ => return Err("invalid escape char".to_string()),
            }),
            c => out.push(c),
        }
    }
    Err("unexpected end of JSON path".to_string())
}
