//! Every function a rule can call, as one table of signatures.
//!
//! The libraries are those of Kubernetes 1.36 for new expressions (apiserver `pkg/cel/environment/base.go`): the CEL
//! standard, strings version 2, sets, lists version 3, optional types, two-variable loops, and Kubernetes' own for
//! lists, regular expressions, URLs, quantities, IP addresses, CIDRs, formats and semantic versions.
//!
//! A signature is written in letters. A leading dot marks a method, the last type is the result:
//! `b` bool, `i` int, `u` uint, `d` double, `s` string, `y` bytes, `t` timestamp, `D` duration, `*` dyn, `T` type,
//! `q` quantity, `U` url, `p` ip, `c` cidr, `v` semver, `F` format, `A` `B` type parameters, `l` list of, `m` map of
//! key and value, `o` optional.

use super::types::Type;
use std::sync::Arc;

macro_rules! functions {
    ($($fun:ident $name:literal $sigs:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fun { $($fun),* }
        /// Name, function and its overloads, apart by spaces.
        pub const TABLE: &[(&str, Fun, &str)] = &[$(($name, Fun::$fun, $sigs)),*];
    };
}

functions! {
    Add "+" "iii uuu ddd sss yyy lAlAlA DDD tDt Dtt",
    Sub "-" "iii uuu ddd ttD tDt DDD",
    Mul "*" "iii uuu ddd",
    Div "/" "iii uuu ddd",
    Rem "%" "iii uuu",
    Neg "neg" "ii dd",
    Not "!" "bb",
    Less "<" "bbb iib uub ddb ssb yyb ttb DDb iub idb uib udb dib dub",
    LessEq "<=" "bbb iib uub ddb ssb yyb ttb DDb iub idb uib udb dib dub",
    Greater ">" "bbb iib uub ddb ssb yyb ttb DDb iub idb uib udb dib dub",
    GreaterEq ">=" "bbb iib uub ddb ssb yyb ttb DDb iub idb uib udb dib dub",
    Equals "==" "AAb",
    NotEquals "!=" "AAb",
    In "in" "AlAb AmABb",
    Index "[]" "lAiA mABAB olAioA omABAoB",
    OptIndex "[?]" "lAioA mABAoB olAioA omABAoB",
    Size "size" "si yi lAi mABi .si .yi .lAi .mABi",
    TypeOf "type" "AT",
    Dyn "dyn" "A*",
    ToInt "int" "ii ui di si ti Di",
    ToUint "uint" "uu iu du su",
    ToDouble "double" "dd id ud sd",
    ToString "string" "ss bs is us ds ys ts Ds ps cs",
    ToBytes "bytes" "yy sy",
    ToBool "bool" "bb sb",
    ToTimestamp "timestamp" "tt st it",
    ToDuration "duration" "DD sD",
    StartsWith "startsWith" ".ssb",
    EndsWith "endsWith" ".ssb",
    Contains "contains" ".ssb",
    Matches "matches" ".ssb ssb",
    FullYear "getFullYear" ".ti .tsi",
    Month "getMonth" ".ti .tsi",
    DayOfYear "getDayOfYear" ".ti .tsi",
    DayOfMonth "getDayOfMonth" ".ti .tsi",
    Date "getDate" ".ti .tsi",
    DayOfWeek "getDayOfWeek" ".ti .tsi",
    Hours "getHours" ".ti .tsi .Di",
    Minutes "getMinutes" ".ti .tsi .Di",
    Seconds "getSeconds" ".ti .tsi .Di",
    Milliseconds "getMilliseconds" ".ti .tsi .Di",
    CharAt "charAt" ".sis",
    IndexOf "indexOf" ".ssi .ssii .lAAi",
    LastIndexOf "lastIndexOf" ".ssi .ssii .lAAi",
    LowerAscii "lowerAscii" ".ss",
    UpperAscii "upperAscii" ".ss",
    Replace "replace" ".ssss .sssis",
    Split "split" ".ssls .ssils",
    Join "join" ".lss .lsss",
    Substring "substring" ".sis .siis",
    Trim "trim" ".ss",
    FormatText "format" ".sl*s",
    Quote "strings.quote" "ss",
    IsSorted "isSorted" ".lib .lub .ldb .lbb .lsb .lyb .ltb .lDb",
    Sum "sum" ".lii .luu .ldd .lDD",
    Min "min" ".lii .luu .ldd .lbb .lss .lyy .ltt .lDD",
    Max "max" ".lii .luu .ldd .lbb .lss .lyy .ltt .lDD",
    Slice "slice" ".lAiilA",
    Flatten "flatten" ".llAlA .l*il*",
    Range "lists.range" "ili",
    Reverse "reverse" ".lAlA",
    Distinct "distinct" ".lAlA",
    Sort "sort" ".lili .lulu .ldld .lblb .lsls .lyly .ltlt .lDlD",
    First "first" ".lAoA",
    Last "last" ".lAoA",
    Find "find" ".sss",
    FindAll "findAll" ".ssls .ssils",
    Url "url" "sU",
    IsUrl "isURL" "sb",
    Scheme "getScheme" ".Us",
    Host "getHost" ".Us",
    Hostname "getHostname" ".Us",
    Port "getPort" ".Us",
    EscapedPath "getEscapedPath" ".Us",
    Query "getQuery" ".Umsls",
    Quantity "quantity" "sq",
    IsQuantity "isQuantity" "sb",
    Sign "sign" "qi",
    IsInteger "isInteger" ".qb",
    AsInteger "asInteger" ".qi",
    AsFloat "asApproximateFloat" ".qd",
    IsGreater "isGreaterThan" ".qqb .vvb",
    IsLess "isLessThan" ".qqb .vvb",
    CompareTo "compareTo" ".qqi .vvi",
    QuantityAdd "add" ".qqq .qiq",
    QuantitySub "sub" ".qqq .qiq",
    Ip "ip" "sp .cp",
    IsIp "isIP" "sb",
    IpCanonical "ip.isCanonical" "sb",
    Family "family" ".pi",
    Unspecified "isUnspecified" ".pb",
    Loopback "isLoopback" ".pb",
    LinkLocalMulticast "isLinkLocalMulticast" ".pb",
    LinkLocalUnicast "isLinkLocalUnicast" ".pb",
    GlobalUnicast "isGlobalUnicast" ".pb",
    Cidr "cidr" "sc",
    IsCidr "isCIDR" "sb",
    ContainsIp "containsIP" ".cpb .csb",
    ContainsCidr "containsCIDR" ".ccb .csb",
    Masked "masked" ".cc",
    PrefixLength "prefixLength" ".ci",
    Semver "semver" "sv sbv",
    IsSemver "isSemver" "sb sbb",
    Major "major" ".vi",
    Minor "minor" ".vi",
    Patch "patch" ".vi",
    SetsContains "sets.contains" "lAlAb",
    SetsEquivalent "sets.equivalent" "lAlAb",
    SetsIntersects "sets.intersects" "lAlAb",
    FormatNamed "format.named" "soF",
    Validate "validate" ".Fsols",
    OptionalOf "optional.of" "AoA",
    OptionalNonZero "optional.ofNonZeroValue" "AoA",
    OptionalNone "optional.none" "oA",
    OptionalUnwrap "optional.unwrap" "loAlA",
    UnwrapOpt "unwrapOpt" ".loAlA",
    HasValue "hasValue" ".oAb",
    OptionalValue "value" ".oAA",
    Or "or" ".oAoAoA",
    OrValue "orValue" ".oAAA",
}

/// Named formats; each is also a function of no arguments, `format.NAME()`. From apiserver `pkg/cel/library/format.go`.
pub const FORMATS: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// One way to call a function.
pub struct Signature {
    pub method: bool,
    pub params: Vec<Type>,
    pub result: Type,
}

/// The place of `name` in the table.
pub fn lookup(name: &str) -> Option<(Fun, &'static str)> {
    TABLE.iter().find(|(n, ..)| *n == name).map(|(_, fun, sigs)| (*fun, *sigs))
}

/// Reads one signature; its type parameters are numbered from `fresh`.
pub fn signature(text: &str, fresh: u32) -> Signature {
    let method = text.starts_with('.');
    let letters = text.as_bytes();
    let mut at = usize::from(method);
    let mut params = Vec::new();
    while at < letters.len() {
        params.push(letter_type(letters, &mut at, fresh));
    }
    let result = params.pop().unwrap_or(Type::Dyn);
    Signature { method, params, result }
}

fn letter_type(letters: &[u8], at: &mut usize, fresh: u32) -> Type {
    let letter = letters.get(*at).copied().unwrap_or(b'*');
    *at += 1;
    match letter {
        b'b' => Type::Bool,
        b'i' => Type::Int,
        b'u' => Type::Uint,
        b'd' => Type::Double,
        b's' => Type::String,
        b'y' => Type::Bytes,
        b't' => Type::Timestamp,
        b'D' => Type::Duration,
        b'T' => Type::Type,
        b'q' => Type::Quantity,
        b'U' => Type::Url,
        b'p' => Type::Ip,
        b'c' => Type::Cidr,
        b'v' => Type::Semver,
        b'F' => Type::Format,
        b'A' => Type::Param(fresh),
        b'B' => Type::Param(fresh + 1),
        b'l' => Type::List(Arc::new(letter_type(letters, at, fresh))),
        b'o' => Type::Optional(Arc::new(letter_type(letters, at, fresh))),
        b'm' => {
            let key = Arc::new(letter_type(letters, at, fresh));
            Type::Map(key, Arc::new(letter_type(letters, at, fresh)))
        }
        _ => Type::Dyn,
    }
}
