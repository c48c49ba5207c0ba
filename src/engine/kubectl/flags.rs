//! Which flags each verb takes.

/// How a flag is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `--flag` or `--flag=false`.
    Switch,
    /// `--flag value` or `--flag=value`.
    Value,
    /// `--flag` alone stands for this value; another one needs the equals sign.
    Or(&'static str),
}

/// Long name, letter (a blank for none), form.
pub type Flag = (&'static str, char, Form);

use Form::{Or, Switch, Value};

/// Taken by every verb.
pub const COMMON: &[Flag] = &[
    ("namespace", 'n', Value),
    ("as", ' ', Value),
    ("as-group", ' ', Value),
    ("context", ' ', Value),
    ("request-timeout", ' ', Value),
    ("v", 'v', Value),
    ("help", 'h', Switch),
    ("output", 'o', Value),
    ("filename", 'f', Value),
    ("recursive", 'R', Switch),
    ("selector", 'l', Value),
    ("field-selector", ' ', Value),
    ("all-namespaces", 'A', Switch),
    ("dry-run", ' ', Or("unchanged")),
    ("field-manager", ' ', Value),
    ("show-managed-fields", ' ', Switch),
];

const WRITES: &[Flag] = &[
    ("validate", ' ', Or("strict")),
    ("save-config", ' ', Switch),
    ("overwrite", ' ', Switch),
    ("all", ' ', Switch),
    ("resource-version", ' ', Value),
    ("list", ' ', Switch),
    ("timeout", ' ', Value),
];

/// The flags of one verb besides the common ones.
pub fn of(verb: &str) -> &'static [Flag] {
    match verb {
        "get" => &[
            ("watch", 'w', Switch),
            ("watch-only", ' ', Switch),
            ("no-headers", ' ', Switch),
            ("show-labels", ' ', Switch),
            ("label-columns", 'L', Value),
            ("show-kind", ' ', Switch),
            ("ignore-not-found", ' ', Or("true")),
            ("sort-by", ' ', Value),
            ("chunk-size", ' ', Value),
            ("subresource", ' ', Value),
            ("raw", ' ', Value),
        ],
        "rollout" => {
            &[("to-revision", ' ', Value), ("revision", ' ', Value), ("watch", 'w', Switch), ("timeout", ' ', Value)]
        }
        "events" => &[("for", ' ', Value), ("types", ' ', Value), ("no-headers", ' ', Switch)],
        "wait" => &[("for", ' ', Value), ("timeout", ' ', Value), ("all", ' ', Switch)],
        "describe" => &[("show-events", ' ', Switch)],
        "explain" => &[("api-version", ' ', Value)],
        "api-resources" => &[
            ("namespaced", ' ', Switch),
            ("api-group", ' ', Value),
            ("no-headers", ' ', Switch),
            ("verbs", ' ', Value),
        ],
        "auth" => &[("quiet", 'q', Switch), ("list", ' ', Switch), ("subresource", ' ', Value)],
        "logs" | "exec" | "attach" | "port-forward" | "cp" | "top" | "debug" | "proxy" => &[
            ("follow", ' ', Switch),
            ("container", 'c', Value),
            ("tail", ' ', Value),
            ("previous", 'p', Switch),
            ("stdin", 'i', Switch),
            ("tty", 't', Switch),
        ],
        other => of_write(other),
    }
}

/// The flags of the verbs that change something.
fn of_write(verb: &str) -> &'static [Flag] {
    match verb {
        "apply" => &[
            ("server-side", ' ', Switch),
            ("force-conflicts", ' ', Switch),
            ("force", ' ', Switch),
            ("validate", ' ', Or("strict")),
            ("overwrite", ' ', Switch),
            ("wait", ' ', Switch),
            ("subresource", ' ', Value),
        ],
        "delete" => &[
            ("cascade", ' ', Or("background")),
            ("wait", ' ', Switch),
            ("grace-period", ' ', Value),
            ("now", ' ', Switch),
            ("force", ' ', Switch),
            ("all", ' ', Switch),
            ("ignore-not-found", ' ', Switch),
            ("timeout", ' ', Value),
        ],
        "patch" => &[("type", ' ', Value), ("patch", 'p', Value), ("subresource", ' ', Value)],
        "scale" => &[
            ("replicas", ' ', Value),
            ("current-replicas", ' ', Value),
            ("resource-version", ' ', Value),
            ("all", ' ', Switch),
            ("timeout", ' ', Value),
        ],
        "create" => &[
            ("image", ' ', Value),
            ("replicas", 'r', Value),
            ("port", ' ', Value),
            ("from-literal", ' ', Value),
            ("verb", ' ', Value),
            ("resource", ' ', Value),
            ("resource-name", ' ', Value),
            ("role", ' ', Value),
            ("clusterrole", ' ', Value),
            ("user", ' ', Value),
            ("group", ' ', Value),
            ("serviceaccount", ' ', Value),
            ("validate", ' ', Or("strict")),
            ("save-config", ' ', Switch),
        ],
        "run" => &[("image", ' ', Value), ("labels", ' ', Value), ("restart", ' ', Value)],
        "replace" => &[("force", ' ', Switch), ("validate", ' ', Or("strict")), ("subresource", ' ', Value)],
        "drain" => &[
            ("force", ' ', Switch),
            ("ignore-daemonsets", ' ', Switch),
            ("delete-emptydir-data", ' ', Switch),
            ("grace-period", ' ', Value),
            ("timeout", ' ', Value),
        ],
        "expose" => &[
            ("port", ' ', Value),
            ("target-port", ' ', Value),
            ("protocol", ' ', Value),
            ("name", ' ', Value),
            ("type", ' ', Value),
        ],
        _ => WRITES,
    }
}
