//! Lessons from eight on: what surrounds the loop.

use super::{Deed, Lesson, Part, Question, Sign, Step};
use engine::event::ProcessState;

pub static MORE: &[Lesson] = &[
    Lesson {
        number: 8,
        slug: "core-resources",
        name: ["Core resources and kubectl", "核心资源与 kubectl"],
        scenario: "core-resources",
        intro: [
            "Built-in controllers are operators too. A Deployment keeps a ReplicaSet for each template; its pods have no order.",
            "内置控制器也是 Operator。Deployment 给每份模板留一个 ReplicaSet；它的 Pod 不分先后。",
        ],
        steps: &[
            Step {
                part: Part::Reconcile,
                text: [
                    "The Deployment makes a ReplicaSet, which makes pods.",
                    "Deployment 造 ReplicaSet，ReplicaSet 造 Pod。",
                ],
                until: Sign::Counts("deployments", "web", &["status", "readyReplicas"], 3),
            },
            Step {
                part: Part::Kubectl,
                text: [
                    "kubectl set image: a new template, a second ReplicaSet.",
                    "kubectl set image：新模板，第二个 ReplicaSet。",
                ],
                until: Sign::Created("replicasets", "web"),
            },
            Step {
                part: Part::Nodes,
                text: [
                    "The new one grows while the old one shrinks, never below what maxUnavailable allows.",
                    "新的长，旧的缩，始终不低于 maxUnavailable 允许的数目。",
                ],
                until: Sign::Gone("pods", "web"),
            },
            Step {
                part: Part::Kubectl,
                text: [
                    "rollout undo writes the old template back; its ReplicaSet is still there.",
                    "rollout undo 写回旧模板；它的 ReplicaSet 还在。",
                ],
                until: Sign::Says(
                    "deployments",
                    "web",
                    &["metadata", "annotations", "deployment.kubernetes.io/revision"],
                    "3",
                ),
            },
            Step {
                part: Part::Server,
                text: ["scale changes a number and makes no revision.", "scale 只改一个数，不产生新版本。"],
                until: Sign::Counts("deployments", "web", &["status", "readyReplicas"], 5),
            },
        ],
        breaks: (
            ["Set an image that cannot be pulled.", "换一个拉不下来的镜像。"],
            Deed::Kubectl("kubectl set image deployment/web web=web:bad"),
        ),
        question: Question {
            ask: ["How many ReplicaSets are created in the whole run?", "整个过程一共创建了几个 ReplicaSet？"],
            then: None,
            count: Sign::Created("replicasets", ""),
        },
        pitfalls: &["order-is-data"],
    },
    Lesson {
        number: 10,
        slug: "throughput",
        name: ["Throughput", "性能与限流"],
        scenario: "client-throttling",
        intro: [
            "The client has a bucket of tokens: burst at once, then qps a second. A hundred writes are a queue.",
            "客户端有一桶令牌：突发一次用完，之后每秒 qps 个。一百笔写就是一条长队。",
        ],
        steps: &[
            Step {
                part: Part::Kubectl,
                text: ["One object asks for 95 children.", "一个对象要 95 个孩子。"],
                until: Sign::Created("caches", "a"),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "The burst of 10 goes out at once; the next one has to wait.",
                    "突发的 10 个立刻发出；下一个开始等。",
                ],
                until: Sign::Throttled,
            },
            Step {
                part: Part::Server,
                text: ["Five a second from now on, however idle the server is.", "从此每秒五个，服务器再闲也一样。"],
                until: Sign::Finished,
            },
        ],
        breaks: (["Raise qps to 50 now.", "现在把 qps 调到 50。"], Deed::Set("qps", 50)),
        question: Question {
            ask: [
                "How many of the operator's requests had to wait for a token?",
                "Operator 有多少个请求不得不等令牌？",
            ],
            then: None,
            count: Sign::Throttled,
        },
        pitfalls: &["client-throttling"],
    },
    Lesson {
        number: 11,
        slug: "permissions",
        name: ["Permissions", "权限 RBAC"],
        scenario: "cached-read",
        intro: [
            "Every arrow needs a verb. A cached read needs list and watch, though the code only says get.",
            "每支箭头都要一个 verb。带缓存的读要 list 和 watch，虽然代码里只写了 get。",
        ],
        steps: &[
            Step {
                part: Part::Reconcile,
                text: ["The pass reads a Secret from the cache for the first time.", "第一次从缓存里读 Secret。"],
                until: Sign::Started("a"),
            },
            Step {
                part: Part::Server,
                text: [
                    "That starts an informer for all namespaces, which the Role does not allow: 403, and the pass hangs.",
                    "这就启动了面向所有命名空间的 informer，Role 不允许：403，协调卡住。",
                ],
                until: Sign::Answered(403),
            },
            Step {
                part: Part::Informer,
                text: [
                    "The cache is limited to the namespace: now the list is allowed.",
                    "缓存限制到这个命名空间：list 放行了。",
                ],
                until: Sign::Listed("secrets"),
            },
            Step {
                part: Part::Reconcile,
                text: ["The pass goes through: least privilege, and it works.", "协调走通了：最小权限，也能干活。"],
                until: Sign::Says("caches", "a", &["status", "secret"], "found"),
            },
        ],
        breaks: (["Take the Role away altogether.", "把 Role 整个拿走。"], Deed::Kubectl("kubectl delete role lab")),
        question: Question {
            ask: [
                "How many requests does the server refuse with 403 in the whole run?",
                "整个过程里，服务器用 403 拒绝了几个请求？",
            ],
            then: None,
            count: Sign::Answered(403),
        },
        pitfalls: &["filtered-cache"],
    },
    Lesson {
        number: 13,
        slug: "consistency",
        name: ["Consistency", "一致性"],
        scenario: "two-leaders",
        intro: [
            "A lease says who leads. A frozen process does not know that time has passed, so for a moment there are two.",
            "lease 说了算谁是 leader。被冻住的进程不知道时间过去了，于是片刻之间有两个。",
        ],
        steps: &[
            Step {
                part: Part::Reconcile,
                text: ["operator-1 leads and begins a pass.", "operator-1 是 leader，开始一次协调。"],
                until: Sign::Started("a"),
            },
            Step {
                part: Part::Reconcile,
                text: ["It is frozen just before its write.", "就在写之前，它被冻住了。"],
                until: Sign::Became("operator-1", ProcessState::Frozen),
            },
            Step {
                part: Part::Server,
                text: ["The lease runs out; the other replica takes it.", "lease 到期；另一个副本接了过去。"],
                until: Sign::Leads("operator"),
            },
            Step {
                part: Part::Server,
                text: [
                    "The first one wakes, still sends its write, and only then notices. Only resourceVersion could have stopped it.",
                    "第一个醒来，照样把那一笔发了出去，然后才发现。能拦住它的只有 resourceVersion。",
                ],
                until: Sign::Became("operator-1", ProcessState::Running),
            },
        ],
        breaks: (["Crash the operator in its next pass.", "让 Operator 在下一次协调里崩溃。"], Deed::CrashMidReconcile),
        question: Question {
            ask: [
                "How many passes are begun over the whole run, by both replicas?",
                "两个副本加起来，一共开始了几次协调？",
            ],
            then: None,
            count: Sign::Started(""),
        },
        pitfalls: &["stale-put", "expired-version"],
    },
    Lesson {
        number: 15,
        slug: "at-work",
        name: ["Operators at work", "实践"],
        scenario: "canary-release",
        intro: [
            "An operator that knows its application: a new image on some pods first, promoted or taken back.",
            "懂得自家应用的 Operator：新镜像先上几个 Pod，然后转正，或者撤回。",
        ],
        steps: &[
            Step {
                part: Part::Nodes,
                text: ["Five pods of the stable track are up.", "stable 的五个 Pod 都起来了。"],
                until: Sign::Holds("webapps", "shop", "Ready"),
            },
            Step {
                part: Part::Kubectl,
                text: ["The canary gets two of five.", "金丝雀分到五个里的两个。"],
                until: Sign::Counts("webapps", "shop", &["status", "canaryReady"], 2),
            },
            Step {
                part: Part::Reconcile,
                text: ["It is promoted: the stable track takes its image.", "转正：stable 换上它的镜像。"],
                until: Sign::Says("webapps", "shop", &["status", "canary"], "Promoted"),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "The next one cannot be pulled and is aborted. Stable never noticed.",
                    "下一个拉不下来，撤回。stable 毫无察觉。",
                ],
                until: Sign::Says("webapps", "shop", &["status", "canary"], "Aborted"),
            },
        ],
        breaks: (
            ["Scale the stable Deployment by hand. Who wins?", "手动改 stable 的副本数。谁说了算？"],
            Deed::Kubectl("kubectl scale deployment shop-stable --replicas=1"),
        ),
        question: Question {
            ask: [
                "How many Deployments does the operator create in the whole run?",
                "整个过程里 Operator 创建了几个 Deployment？",
            ],
            then: None,
            count: Sign::Created("deployments", ""),
        },
        pitfalls: &["outside-bucket"],
    },
];
