//! Tokens to a tree, by precedence climbing; macros become loops here.
//!
//! Chains of `&&` and `||` become one flat node each, as rules like to be long there.

use super::ast::{Ast, Comprehension, Id, Loop, Node};
use super::lex::{Lexer, Literal, Token};
use super::value::Value;
use std::sync::Arc;

/// Longest expression, in characters; cel-go `ExpressionSizeCodePointLimit`.
const LENGTH_MAX: usize = 100_000;
/// Deepest tree. Checker, cost and evaluation recurse on it, and a page has a stack of one megabyte.
const DEPTH_MAX: u16 = 150;

/// Words that are kept for later and cannot be names.
pub const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

pub fn parse(text: &str) -> Result<Ast, String> {
    if text.len() > LENGTH_MAX {
        return Err(format!("expression code point size exceeds limit: {LENGTH_MAX}"));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, nodes: Vec::new(), depths: Vec::new(), depth: 0 };
    let root = parser.expr()?;
    if parser.token != Token::End {
        return parser.unexpected();
    }
    Ok(Ast { nodes: parser.nodes, root })
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    nodes: Vec<Node>,
    /// Height of the tree at each node.
    depths: Vec<u16>,
    /// How deep the parser itself is.
    depth: u16,
}

type Parsed<T = Id> = Result<T, String>;

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<Token> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }
    fn is(&self, punct: &str) -> bool {
        matches!(&self.token, Token::Punct(p) if *p == punct)
    }
    fn eat(&mut self, punct: &str) -> Parsed<bool> {
        let found = self.is(punct);
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct)? { Ok(()) } else { self.unexpected() }
    }
    fn unexpected<T>(&self) -> Parsed<T> {
        Err(match &self.token {
            Token::Ident(name) => format!("Syntax error: unexpected '{name}'"),
            Token::Punct(p) => format!("Syntax error: unexpected '{p}'"),
            Token::Literal(_) => "Syntax error: unexpected literal".to_string(),
            Token::End => "Syntax error: unexpected end of expression".to_string(),
        })
    }

    fn add(&mut self, node: Node) -> Parsed {
        let mut height = 0;
        children(&node, &mut |child| height = height.max(self.depths[child]));
        if height >= DEPTH_MAX {
            return Err(format!("expression recursion limit exceeded: {DEPTH_MAX}"));
        }
        self.nodes.push(node);
        self.depths.push(height + 1);
        Ok(self.nodes.len() - 1)
    }

    fn call(&mut self, name: &str, args: Vec<Id>) -> Parsed {
        self.add(Node::Call { name: name.into(), target: None, args, fun: None, overloads: Vec::new() })
    }

    fn expr(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("expression recursion limit exceeded: {DEPTH_MAX}"));
        }
        let condition = self.or()?;
        let node = if self.eat("?")? {
            let yes = self.or()?;
            self.expect(":")?;
            let no = self.expr()?;
            self.add(Node::Conditional(condition, yes, no))?
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn or(&mut self) -> Parsed {
        let mut terms = vec![self.and()?];
        while self.eat("||")? {
            terms.push(self.and()?);
        }
        if terms.len() == 1 { Ok(terms[0]) } else { self.add(Node::Or(terms)) }
    }

    fn and(&mut self) -> Parsed {
        let mut terms = vec![self.binary(0)?];
        while self.eat("&&")? {
            terms.push(self.binary(0)?);
        }
        if terms.len() == 1 { Ok(terms[0]) } else { self.add(Node::And(terms)) }
    }

    /// Relations, then sums, then products, each from left to right.
    fn binary(&mut self, level: usize) -> Parsed {
        const LEVELS: [&[&str]; 3] = [&["==", "!=", "<=", ">=", "<", ">", "in"], &["+", "-"], &["*", "/", "%"]];
        let operand = |p: &mut Self| if level + 1 < LEVELS.len() { p.binary(level + 1) } else { p.unary() };
        let mut left = operand(self)?;
        while let Token::Punct(op) = self.token {
            if !LEVELS[level].contains(&op) {
                break;
            }
            self.advance()?;
            let right = operand(self)?;
            left = self.call(op, vec![left, right])?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let op = if self.is("!") {
            "!"
        } else if self.is("-") {
            "-"
        } else {
            return self.member();
        };
        let mut count = 0_usize;
        while self.eat(op)? {
            count += 1;
        }
        if op == "-"
            && count == 1
            && let Some(literal) = self.negative()?
        {
            return self.member_of(literal);
        }
        let operand = self.member()?;
        if count.is_multiple_of(2) {
            return Ok(operand);
        }
        self.call(if op == "-" { "neg" } else { "!" }, vec![operand])
    }

    fn negative(&mut self) -> Parsed<Option<Id>> {
        let value = match self.token {
            Token::Literal(Literal::Int(n)) if n <= 1 << 63 => Value::Int((n as i64).wrapping_neg()),
            Token::Literal(Literal::Double(d)) => Value::Double(-d),
            _ => return Ok(None),
        };
        self.advance()?;
        self.add(Node::Literal(value)).map(Some)
    }

    fn member(&mut self) -> Parsed {
        let operand = self.primary()?;
        self.member_of(operand)
    }

    fn member_of(&mut self, mut operand: Id) -> Parsed {
        loop {
            if self.eat(".")? {
                let optional = self.eat("?")?;
                let Token::Ident(name) = self.advance()? else { return self.unexpected() };
                operand = if !optional && self.is("(") {
                    let args = self.arguments()?;
                    self.method(operand, &name, args)?
                } else {
                    self.add(Node::Select { operand, field: name, optional })?
                };
            } else if self.eat("[")? {
                let op = if self.eat("?")? { "[?]" } else { "[]" };
                let index = self.expr()?;
                self.expect("]")?;
                operand = self.call(op, vec![operand, index])?;
            } else {
                return Ok(operand);
            }
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Id>> {
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.is(")") {
            args.push(self.expr()?);
            if !self.eat(",")? {
                break;
            }
        }
        self.expect(")")?;
        Ok(args)
    }

    fn primary(&mut self) -> Parsed {
        match self.advance()? {
            Token::Literal(literal) => {
                let value = literal.value()?;
                self.add(Node::Literal(value))
            }
            Token::Ident(name) => self.named(name),
            Token::Punct(".") => match self.advance()? {
                Token::Ident(name) => self.named(name),
                _ => self.unexpected(),
            },
            Token::Punct("(") => {
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Punct("[") => self.list(),
            Token::Punct("{") => self.map(),
            token => {
                self.token = token;
                self.unexpected()
            }
        }
    }

    fn named(&mut self, name: Arc<str>) -> Parsed {
        if RESERVED.contains(&&*name) {
            return Err(format!("reserved identifier: {name}"));
        }
        if !self.is("(") {
            return self.add(Node::Ident(name));
        }
        let args = self.arguments()?;
        if &*name == "has" && args.len() == 1 {
            return match &self.nodes[args[0]] {
                Node::Select { operand, field, optional: false } => {
                    let (operand, field) = (*operand, field.clone());
                    self.add(Node::Has { operand, field })
                }
                _ => Err("invalid argument to has() macro".to_string()),
            };
        }
        self.call(&name, args)
    }

    fn list(&mut self) -> Parsed {
        let mut items = Vec::new();
        while !self.is("]") {
            let optional = self.eat("?")?;
            items.push((self.expr()?, optional));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("]")?;
        self.add(Node::List(items))
    }

    fn map(&mut self) -> Parsed {
        let mut entries = Vec::new();
        while !self.is("}") {
            let optional = self.eat("?")?;
            let key = self.expr()?;
            self.expect(":")?;
            entries.push((key, self.expr()?, optional));
            if !self.eat(",")? {
                break;
            }
        }
        self.expect("}")?;
        self.add(Node::Map(entries))
    }

    /// A method call, or the macro that is written like one.
    fn method(&mut self, target: Id, name: &str, args: Vec<Id>) -> Parsed {
        let kind = match (name, args.len()) {
            ("all", 2 | 3) => Loop::All,
            ("exists", 2 | 3) => Loop::Exists,
            ("exists_one", 2) | ("existsOne", 2 | 3) => Loop::ExistsOne,
            ("map", 2 | 3) | ("transformList", 3 | 4) => Loop::Map,
            ("filter", 2) => Loop::Filter,
            ("transformMap", 3 | 4) => Loop::TransformMap,
            ("transformMapEntry", 3 | 4) => Loop::TransformMapEntry,
            ("sortBy", 2) => Loop::SortBy,
            ("optMap", 2) => Loop::OptMap,
            ("optFlatMap", 2) => Loop::OptFlatMap,
            _ => {
                let target = Some(target);
                return self.add(Node::Call { name: name.into(), target, args, fun: None, overloads: Vec::new() });
            }
        };
        let two = match kind {
            Loop::All | Loop::Exists | Loop::ExistsOne => args.len() == 3,
            Loop::TransformMap | Loop::TransformMapEntry => true,
            _ => name == "transformList",
        };
        let var = self.variable(args[0])?;
        let var2 = if two { Some(self.variable(args[1])?) } else { None };
        if var2.as_ref() == Some(&var) {
            return Err("the two variables of a macro must differ".to_string());
        }
        let rest = &args[if two { 2 } else { 1 }..];
        let (filter, body) = if rest.len() == 2 { (Some(rest[0]), rest[1]) } else { (None, rest[0]) };
        self.add(Node::Loop(Comprehension { kind, range: target, var, var2, filter, body }))
    }

    fn variable(&self, id: Id) -> Parsed<Arc<str>> {
        match &self.nodes[id] {
            Node::Ident(name) => Ok(name.clone()),
            _ => Err("argument must be a simple name".to_string()),
        }
    }
}

fn children(node: &Node, visit: &mut impl FnMut(Id)) {
    match node {
        Node::Literal(_) | Node::Ident(_) => {}
        Node::Select { operand, .. } | Node::Has { operand, .. } => visit(*operand),
        Node::Call { target, args, .. } => target.iter().chain(args).for_each(|id| visit(*id)),
        Node::And(terms) | Node::Or(terms) => terms.iter().for_each(|id| visit(*id)),
        Node::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|id| visit(*id)),
        Node::List(items) => items.iter().for_each(|(id, _)| visit(*id)),
        Node::Map(entries) => entries.iter().for_each(|(k, v, _)| {
            visit(*k);
            visit(*v);
        }),
        Node::Loop(l) => [Some(l.range), l.filter, Some(l.body)].into_iter().flatten().for_each(visit),
    }
}
