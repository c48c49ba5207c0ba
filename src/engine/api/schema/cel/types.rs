//! Static types, and the types a structural schema declares, with the sizes its limits allow.
//!
//! Sizes follow apiserver `pkg/cel/common/schemas.go`: what a schema leaves unlimited is as large as fits one request.

use std::collections::BTreeMap;
use std::sync::Arc;

// `Type` is what CEL calls the type of types.
#[allow(clippy::enum_variant_names)]
#[derive(Clone, Debug)]
pub enum Type {
    Dyn,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Duration,
    Timestamp,
    Type,
    List(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Optional(Arc<Type>),
    Object(Arc<ObjectDecl>),
    Quantity,
    Url,
    Ip,
    Cidr,
    Semver,
    Format,
    /// A type parameter, bound while a call is resolved.
    Param(u32),
}

impl Type {
    /// Equal as far as `type(x) == type(y)` can tell.
    pub fn same_kind(&self, other: &Type) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
    /// Types that `null` can stand for; see cel-go `checker/types.go`.
    pub fn nullable(&self) -> bool {
        !matches!(
            self,
            Type::Bool
                | Type::Int
                | Type::Uint
                | Type::Double
                | Type::String
                | Type::Bytes
                | Type::List(_)
                | Type::Map(..)
                | Type::Type
        )
    }
    /// Scalars have the size one in cost estimates.
    pub fn is_scalar(&self) -> bool {
        match self {
            Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp => true,
            Type::Optional(inner) => inner.is_scalar(),
            _ => false,
        }
    }
    pub fn name(&self) -> &'static str {
        match self {
            Type::Dyn | Type::Param(_) => "dyn",
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Type => "type",
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Optional(_) => "optional_type",
            Type::Object(_) => "object",
            Type::Quantity => "kubernetes.Quantity",
            Type::Url => "kubernetes.URL",
            Type::Ip => "net.IP",
            Type::Cidr => "net.CIDR",
            Type::Semver => "kubernetes.Semver",
            Type::Format => "kubernetes.NamedFormat",
        }
    }
}

/// The type a schema node has in expressions.
#[derive(Debug)]
pub struct Decl {
    pub shape: Shape,
    /// Largest size of a value: characters, bytes, items or entries.
    pub max: u64,
    /// Fewest bytes a value takes in JSON.
    pub min_bytes: u64,
    pub nullable: bool,
}

#[derive(Debug)]
pub enum Shape {
    Dyn,
    Bool,
    Int,
    Double,
    String,
    Bytes,
    Duration,
    Date,
    DateTime,
    List(Arc<Decl>, super::value::ListKind),
    Map(Arc<Decl>),
    Object(Arc<ObjectDecl>),
}

/// Objects are told apart by where they are declared, not by their fields.
#[derive(Debug)]
pub struct ObjectDecl {
    pub id: u32,
    /// By escaped name.
    pub fields: BTreeMap<Arc<str>, FieldDecl>,
}

#[derive(Debug)]
pub struct FieldDecl {
    pub name: String,
    pub decl: Arc<Decl>,
}

impl Decl {
    pub fn ty(&self) -> Type {
        match &self.shape {
            Shape::Dyn => Type::Dyn,
            Shape::Bool => Type::Bool,
            Shape::Int => Type::Int,
            Shape::Double => Type::Double,
            Shape::String => Type::String,
            Shape::Bytes => Type::Bytes,
            Shape::Duration => Type::Duration,
            Shape::Date | Shape::DateTime => Type::Timestamp,
            Shape::List(item, _) => Type::List(Arc::new(item.ty())),
            Shape::Map(value) => Type::Map(Arc::new(Type::String), Arc::new(value.ty())),
            Shape::Object(object) => Type::Object(object.clone()),
        }
    }
}
