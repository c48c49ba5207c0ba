//! Claims about rules, each by a schema, an object and what comes of them.

use super::{CelOutcome, compile_schema, evaluate};
use crate::api::schema::field::FieldError;
use crate::api::schema::ratchet::Old;
use crate::api::schema::structural::Structural;
use serde_json::{Value, json};

fn schema_of(spec: Value) -> std::sync::Arc<Structural> {
    Structural::parse(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
}

fn compile_errors(spec: Value) -> Vec<FieldError> {
    compile_schema(&schema_of(spec), "s", &[]).1
}

fn run(spec: Value, new: Value, old: Option<Value>) -> CelOutcome {
    let schema = schema_of(spec);
    let (rules, errors) = compile_schema(&schema, "s", &[]);
    assert_eq!(errors, vec![]);
    let old = old.map(|o| json!({"spec": o}));
    evaluate(&rules, &json!({"spec": new}), old.as_ref().map(|o| Old::new(o, &schema)))
}

/// A spec with one field of many types and the given rule.
fn playground(rule: &str) -> Value {
    json!({"type": "object", "properties": {
        "i": {"type": "integer"}, "j": {"type": "integer"}, "n": {"type": "number"},
        "s": {"type": "string", "maxLength": 20}, "b": {"type": "string", "format": "byte", "maxLength": 20},
        "d": {"type": "string", "format": "duration"}, "t": {"type": "string", "format": "date-time"},
        "l": {"type": "array", "items": {"type": "integer"}, "maxItems": 5},
        "set": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 5, "x-kubernetes-list-type": "set"},
        "ls": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 5},
        "m": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 5},
        "o": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "p": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "u": {"x-kubernetes-int-or-string": true, "maxLength": 10}},
        "x-kubernetes-validations": [{"rule": rule, "message": if rule.contains('\n') { "not so" } else { "" }}]})
}

fn sample() -> Value {
    json!({"i": 3, "n": 2.5, "s": "Abçd", "b": "aGVsbG8=", "d": "1h30m", "t": "2024-02-29T12:30:15.5Z", "l": [1, 2, 3],
        "set": ["a", "b"], "ls": ["x", "y"], "m": {"a": 1, "b": 2}, "o": {"x": 7}, "u": 5})
}

fn holds(rule: &str) {
    let out = run(playground(rule), sample(), None);
    assert!(out.errors.is_empty(), "{rule}: {:?}", out.errors);
}

fn fails(rule: &str, why: &str) {
    let out = run(playground(rule), sample(), None);
    assert_eq!(out.errors.len(), 1, "{rule}");
    assert!(out.errors[0].detail.contains(why), "{rule}: {}", out.errors[0].detail);
}

fn refused(rule: &str) {
    let errors = compile_errors(playground(rule));
    assert!(!errors.is_empty(), "{rule} compiled");
    assert!(
        errors.iter().all(|e| e.detail.starts_with("compilation failed") || e.detail.contains("bool")),
        "{errors:?}"
    );
}

#[test]
fn literals_read_as_written() {
    for rule in [
        "0x1F == 31 && -9223372036854775808 < 0 && 7u == uint(7) && 1e3 == 1000.0 && .5 == 0.5",
        r#"'\x41\u00e9\101' == 'AéA'"#,
        r#"r'\d' == '\\d' && b'\xff' == b'\377' && '''it's''' == "it's""#,
        "true // a comment\n && true",
    ] {
        holds(rule);
    }
    refused("9223372036854775808 > 0");
    refused("'open");
    refused("1 +");
}

#[test]
fn numbers_divide_compare_and_overflow_as_in_go() {
    for rule in [
        "7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1 && self.n / 2.0 == 1.25",
        "self.i < 3.5 && 3u > 2 && 2.0 <= 2 && dyn(1) == 1.0 && dyn(1u) == 1",
        "int(2.9) == 2 && int('-5') == -5 && double('1.5') == 1.5 && string(1.0) == '1' && string(1e21) == '1e+21'",
        "string(1.5) == '1.5' && string(0.00001) == '1e-05' && string(123456.0) == '123456'",
    ] {
        holds(rule);
    }
    fails("self.i / 0 == 1", "division by zero");
    fails("self.i % 0 == 1", "modulus by zero");
    fails("self.i + 9223372036854775807 > 0", "integer overflow");
    fails("int(1e30) > 0", "integer overflow");
    refused("self.i + self.n > 1.0");
    refused("self.n / 2 == 1.5");
    refused("self.n == 2");
}

#[test]
fn an_error_beside_a_deciding_operand_is_absorbed() {
    for rule in [
        "true || self.j > 0",
        "self.j > 0 || true",
        "!(self.j > 0 && false)",
        "has(self.j) ? self.j > 0 : true",
        "[1, 2].exists(i, i == 2 || self.j > 0)",
        "![1, 2].all(i, self.j > 0 && i == 2 && i == 1) || true",
    ] {
        holds(rule);
    }
    fails("self.j > 0 || false", "no such key: j");
    fails("[1].exists_one(i, self.j > 0)", "no such key");
}

#[test]
fn macros_walk_lists_and_maps() {
    for rule in [
        "self.l.all(x, x > 0) && self.l.exists(x, x == 3) && self.l.exists_one(x, x == 3)",
        "self.l.map(x, x * 2) == [2, 4, 6] && self.l.map(x, x > 1, x * 2) == [4, 6] && self.l.filter(x, x > 1) == [2, 3]",
        "self.m.all(k, self.m[k] > 0) && self.m.exists(k, v, k == 'a' && v == 1) && 'a' in self.m && !('z' in self.m)",
        "self.l.all(i, v, v == i + 1) && self.l.existsOne(i, v, i == 0)",
        "self.l.transformList(i, v, i * v) == [0, 2, 6] && self.l.transformList(i, v, i > 0, v) == [2, 3]",
        "self.m.transformMap(k, v, v + 1) == {'a': 2, 'b': 3} && self.m.transformMapEntry(k, v, {v: k}) == {1: 'a', 2: 'b'}",
        "[3, 1, 2].sortBy(x, -x) == [3, 2, 1] && has(self.o.x) && !has(self.p) && has(self.m.a)",
    ] {
        holds(rule);
    }
    refused("self.i.all(x, x > 0)");
    refused("self.l.map(x, y)");
    refused("has(self)");
}

#[test]
fn list_functions_do_what_their_names_say() {
    for rule in [
        "self.l.isSorted() && self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3 && self.l.indexOf(2) == 1",
        "[1, 2, 1].lastIndexOf(1) == 2 && self.l.slice(1, 3) == [2, 3] && [[1], [2, 3]].flatten() == [1, 2, 3]",
        "[1, 1, 2].distinct() == [1, 2] && ['b', 'a'].sort() == ['a', 'b'] && lists.range(3) == [0, 1, 2]",
        "self.l.reverse() == [3, 2, 1] && self.l.first().value() == 1 && self.l.last() == optional.of(3)",
        "self.l + [4] == [1, 2, 3, 4] && self.l[0] == 1 && size(self.l) == self.l.size() && 2 in self.l",
        "sets.contains([1, 2], [1]) && sets.equivalent([1, 1, 2], [2, 1]) && !sets.intersects([1], [2])",
        "self.set == ['b', 'a'] && self.set + ['b', 'c'] == ['a', 'b', 'c']",
    ] {
        holds(rule);
    }
    fails("self.l[7] == 1", "index out of bounds");
    fails("self.l.filter(x, x > 9).min() == 1", "empty list");
    refused("[1, 'a'].size() == 2");
    refused("self.s.reverse() == 'x'");
}

#[test]
fn text_functions_count_characters() {
    for rule in [
        "size(self.s) == 4 && self.s.matches('b') && self.s.lowerAscii() == 'abçd' && self.s.charAt(2) == 'ç'",
        "self.s.upperAscii().indexOf('D') == 3 && self.s.substring(1, 2) == 'b' && self.s.substring(2) == 'çd'",
        "'a,b,c'.split(',').size() == 3 && 'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'ab'.split('') == ['a', 'b']",
        "self.ls.join('-') == 'x-y' && 'abab'.replace('b', 'x', 1) == 'axab' && '  t '.trim() == 't'",
        "'%s-%d'.format(['a', 3]) == 'a-3' && '%.2f|%x|%b|%o'.format([1.005, 255, 5, 8]) == '1.01|ff|101|10'",
        "'aXbX'.find('X') == 'X' && 'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'abcabc'.lastIndexOf('b') == 4",
        "'abc'.startsWith('a') && 'abc'.endsWith('c') && 'abc'.contains('bc') && strings.quote('a\"') == '\"a\\\\\"\"'",
        "self.b == b'hello' && size(self.b) == 5 && string(self.b) == 'hello' && bytes('a') == b'a'",
    ] {
        holds(rule);
    }
    fails("self.s.substring(9) == ''", "index out of range");
    refused("self.s.matches('a(')");
}

#[test]
fn times_have_parts_and_arithmetic() {
    for rule in [
        "self.t.getFullYear() == 2024 && self.t.getMonth() == 1 && self.t.getDate() == 29 && self.t.getDayOfYear() == 59",
        "self.t.getDayOfWeek() == 4 && self.t.getHours() == 12 && self.t.getHours('+02:00') == 14 && self.t.getMilliseconds() == 500",
        "self.d == duration('90m') && self.d.getMinutes() == 90 && self.d > duration('1s') && string(self.d) == '5400s'",
        "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
        "timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')",
        "string(timestamp(0)) == '1970-01-01T00:00:00Z' && int(timestamp('1970-01-01T00:01:00Z')) == 60",
    ] {
        holds(rule);
    }
    refused("duration('x') > duration('1s')");
    fails("timestamp('9999-12-31T23:59:59Z') + duration('1s') > self.t", "overflow");
}

#[test]
fn optionals_hold_or_yield() {
    for rule in [
        "self.?j.orValue(9) == 9 && self.?i.value() == 3 && !self.?j.hasValue() && self.l[?9].or(optional.of(1)).value() == 1",
        "optional.of(1).optMap(x, x + 1).value() == 2 && optional.none().orValue(4) == 4",
        "optional.ofNonZeroValue(0) == optional.none() && self.?o.x.value() == 7 && !self.?p.x.hasValue()",
        "[?self.?j, ?self.?i] == [3] && {?'a': self.?j}.size() == 0 && optional.of(2).optFlatMap(x, optional.of(x)).value() == 2",
        "self.m[?'a'].value() == 1 && self.?o.?x.hasValue()",
    ] {
        holds(rule);
    }
    fails("self.?j.value() == 1", "dereference");
}

#[test]
fn the_libraries_of_kubernetes_are_there() {
    for rule in [
        "url('https://u@h.example:8080/a b?x=1&x=2').getHost() == 'h.example:8080' && isURL('/a') && !isURL('a')",
        "url('https://h:1/p?x=1&x=2').getQuery() == {'x': ['1', '2']} && url('http://[::1]:80/').getHostname() == '::1'",
        "quantity('1024Mi').compareTo(quantity('1Gi')) == 0 && quantity('1Gi').isGreaterThan(quantity('1000M'))",
        "quantity('500m').add(quantity('0.5')) == quantity('1') && quantity('2k').asInteger() == 2000 && sign(quantity('1').sub(2)) == -1",
        "!isQuantity('lots') && quantity('1.5').asApproximateFloat() == 1.5 && !quantity('500m').isInteger()",
        "ip('10.0.0.1').family() == 4 && isIP('::1') && !isIP('1.2.3') && ip('127.0.0.1').isLoopback() && ip.isCanonical('::1')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
        "cidr('10.0.0.0/8').prefixLength() == 8 && cidr('10.0.0.0/8').ip() == ip('10.0.0.0') && string(ip('::1')) == '::1'",
        "semver('1.2.3').major() == 1 && semver('1.2.3-a').isLessThan(semver('1.2.3')) && isSemver('v1.2', true) && !isSemver('v1.2')",
        "!format.dns1123Label().validate('ok').hasValue() && format.named('uuid').value().validate('x').hasValue()",
        "type(self.u) == int && type('a') == string && type(quantity('1')) != string",
    ] {
        holds(rule);
    }
    refused("quantity('1').sign() == 1");
    fails("quantity('500m').add(quantity('0.5')).asInteger() == 1", "integer");
    fails("quantity(self.s).isInteger()", "parse error");
}

#[test]
fn types_are_checked_against_the_schema() {
    for rule in [
        "self.zz > 0",
        "self.i",
        "self.s == null",
        "self['i'] > 0",
        "self.o == self.p",
        "zz",
        "self.foo()",
        "self.i == 'a'",
    ] {
        refused(rule);
    }
    holds("self.o != null && type(self.u) == int && self.u == 5");
    assert!(
        compile_errors(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {"a": {"x-kubernetes-preserve-unknown-fields": true}},
        "x-kubernetes-validations": [{"rule": "has(self.a)"}]}))[0]
            .detail
            .contains("undefined field")
    );
}

#[test]
fn the_root_shows_type_and_names() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object"}}, "x-kubernetes-validations": [
        {"rule": "self.metadata.name.startsWith('a') && self.kind == 'K' && self.apiVersion == 'g/v1'"}]});
    let (rules, errors) = compile_schema(&Structural::parse(&schema).unwrap(), "s", &[]);
    assert_eq!(errors, vec![]);
    let object = |name: &str| json!({"apiVersion": "g/v1", "kind": "K", "metadata": {"name": name, "labels": {}}});
    assert!(evaluate(&rules, &object("abc"), None).errors.is_empty());
    assert_eq!(evaluate(&rules, &object("xyz"), None).errors[0].field(), "<nil>");
    let labels = json!({"type": "object", "x-kubernetes-validations": [{"rule": "has(self.metadata.labels)"}]});
    assert_eq!(compile_schema(&Structural::parse(&labels).unwrap(), "s", &[]).1.len(), 1);
}

#[test]
fn a_failure_is_reported_with_its_message_reason_and_path() {
    let spec = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": [
        {"rule": "self.a > 1", "messageExpression": "'a is ' + string(self.a)", "fieldPath": ".a", "reason": "FieldValueForbidden"},
        {"rule": "self.a > 2", "message": "too small"}, {"rule": "self.a > 3"}]});
    let out = run(spec, json!({"a": 0}), None);
    let texts: Vec<String> = out.errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["spec.a: Forbidden: a is 0", "spec: Invalid value: too small", "spec: Invalid value: failed rule: self.a > 3",]
    );
}

#[test]
fn an_unchanged_failing_node_warns_unless_the_rule_looks_back() {
    let spec = json!({"type": "object", "properties": {
        "a": {"type": "integer", "x-kubernetes-validations": [{"rule": "self < 10"}]},
        "m": {"type": "object", "additionalProperties": {"type": "integer", "x-kubernetes-validations": [{"rule": "self > oldSelf"}]}}}});
    let old = json!({"a": 50, "m": {"k": 1}});
    let out = run(spec.clone(), json!({"a": 50, "m": {"k": 2, "n": 0}}), Some(old.clone()));
    assert_eq!((out.errors.len(), out.warnings.len()), (0, 1));
    let out = run(spec, json!({"a": 51, "m": {"k": 1}}), Some(old));
    let paths: Vec<&str> = out.errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["spec.a", "spec.m[k]"]);
}

#[test]
fn a_whole_float_in_an_integer_field_is_an_error_where_it_is_read() {
    let spec = json!({"type": "object", "properties": {"i": {"type": "integer"}}, "x-kubernetes-validations": [
        {"rule": "!has(self.i) || self.i % 2 == 0"}]});
    let new = serde_json::from_str(r#"{"i": 2.0}"#).unwrap();
    assert_eq!(run(spec, new, None).errors.len(), 1);
}

#[test]
fn an_unbounded_rule_is_named_twice_and_the_schema_once() {
    let errors = compile_errors(json!({"type": "object", "properties": {"l": {"type": "array", "items": {
        "type": "string", "x-kubernetes-validations": [{"rule": "self.matches('^a+$')"}]}}}}));
    let rule = "s.properties[spec].properties[l].items.x-kubernetes-validations[0].rule";
    let paths: Vec<&str> = errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, [rule, rule, "s"]);
    assert!(errors.iter().all(super::is_cost_error), "{errors:?}");
}

#[test]
fn pathological_rules_are_stopped_by_a_limit() {
    let deep = format!("{}1{} == 1", "(".repeat(5000), ")".repeat(5000));
    let long = format!("1{} > 0", "+1".repeat(20_000));
    let negated = format!("{}true", "!".repeat(50_001));
    for rule in [deep.as_str(), &long, &"[".repeat(90_000), &"a.".repeat(50_000), &"x".repeat(100_001)] {
        refused(rule);
    }
    assert!(!compile_errors(playground(&negated)).iter().any(|e| e.detail.contains("compilation")));
    let doubling = format!("[[1]]{}.size() == 1", ".map(x, [x, x])".repeat(100));
    let wide = "lists.range(100000).all(x, lists.range(100000).all(y, x == y || true))";
    for rule in
        [format!("{doubling} && dyn([[1]]{0}) == dyn([[1]]{0})", ".map(x, [x, x])".repeat(60)), wide.to_string()]
    {
        let rules = super::compile_quietly(&schema_of(playground(&rule)), true);
        let out = evaluate(&rules, &json!({"spec": sample()}), None);
        assert!(out.errors.iter().any(|e| e.detail.contains("cost")), "{rule}: {:?}", out.errors);
    }
}

#[test]
fn a_reordered_map_list_is_forgiven_and_a_root_with_metadata_never_is() {
    let item = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}});
    let list = json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
        "items": item, "x-kubernetes-validations": [{"rule": "self.size() < 2"}]});
    let spec = json!({"type": "object", "properties": {"m": list}});
    let keys = |names: [&str; 2]| json!({"m": [{"k": names[0]}, {"k": names[1]}]});
    let out = run(spec, keys(["b", "a"]), Some(keys(["a", "b"])));
    assert_eq!((out.errors.len(), out.warnings.len()), (0, 1));
    let schema = Structural::parse(&json!({"type": "object", "properties": {"spec": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": "self.spec == 'x'"}]}))
    .unwrap();
    let (rules, _) = compile_schema(&schema, "s", &[]);
    let object = json!({"metadata": {"name": "a"}, "spec": "y"});
    assert_eq!(evaluate(&rules, &object, Some(Old::new(&object, &schema))).errors.len(), 1);
}

/// Tokens that random rules are put together from.
const TOKENS: &[&str] = &[
    "self",
    "oldSelf",
    ".i",
    ".s",
    ".l",
    ".m",
    ".set",
    ".u",
    ".o",
    ".x",
    ".?j",
    "[0]",
    "[?9]",
    "['a']",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "==",
    "!=",
    "<",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    "in",
    "1",
    "2.5",
    "3u",
    "'a'",
    "b'x'",
    "true",
    "null",
    ".all(x, x > 0)",
    ".map(x, [x, x])",
    ".exists(k, v, true)",
    ".filter(x, x == x)",
    ".size()",
    "size(",
    "string(",
    "int(",
    "dyn(",
    "type(",
    ".matches('(a+)+$')",
    ".split(',')",
    ".join('-')",
    ".format([1])",
    ".replace('', 'ab')",
    "lists.range(100000)",
    ".flatten()",
    ".sort()",
    ".sum()",
    "quantity('1')",
    "ip('::1')",
    "url('/')",
    "duration('1h')",
    "timestamp('2024-01-01T00:00:00Z')",
    "optional.of(1)",
    ".orValue(2)",
    "has(",
    "🦀",
    ".getFullYear()",
    ".substring(1)",
    "'%s'",
    "semver('1.0.0')",
    "cidr('10.0.0.0/8')",
    "format.uuid()",
    ".validate('x')",
];

#[test]
fn random_rules_end_within_their_limits() {
    let mut rng = crate::rng::Rng::new(11);
    let mut ran = 0;
    for _ in 0..4_000 {
        let count = 1 + rng.next_u64() % 12;
        let tokens: Vec<&str> = (0..count).map(|_| TOKENS[(rng.next_u64() % TOKENS.len() as u64) as usize]).collect();
        let schema = schema_of(playground(&format!("self{} == {}", tokens.concat(), tokens.join(" "))));
        let _ = compile_schema(&schema, "s", &[]);
        let schema = schema_of(playground(&format!("dyn({}) == 1 || true", tokens.concat())));
        let rules = super::compile_quietly(&schema, true);
        let object = json!({"spec": sample()});
        let out = evaluate(&rules, &object, Some(Old::new(&object, &schema)));
        ran += usize::from(out.errors.is_empty());
    }
    assert!(ran > 0);
}
