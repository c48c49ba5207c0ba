//! Lessons one to seven: the loop, part by part.

use super::{Deed, Lesson, Part, Question, Sign, Step};

pub static FIRST: &[Lesson] = &[
    Lesson {
        number: 1,
        slug: "control-loop",
        name: ["Control loop", "控制循环"],
        scenario: "control-loop",
        intro: [
            "Desired, actual, gap: everything an operator does comes out of comparing two numbers again and again.",
            "期望、实际、差距：Operator 做的一切，都出自把两个数一遍遍地比。",
        ],
        steps: &[
            Step {
                part: Part::Server,
                text: [
                    "Two orders are written down: a wants 3, b wants 5. The operator is frozen, so nothing happens.",
                    "两张单子记下了：a 要 3，b 要 5。Operator 冻着，所以什么也没发生。",
                ],
                until: Sign::Created("kitchenorders", "b"),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "It thaws and looks. It was told nothing about the past; the two numbers are enough.",
                    "它醒来看一眼。没人告诉它过去发生过什么，两个数就够了。",
                ],
                until: Sign::Started(""),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "One small step a pass: a gets its third dish. Each write wakes the next pass.",
                    "一次只走一小步：a 补上第三道。每写一笔，又唤来下一次。",
                ],
                until: Sign::Counts("kitchenorders", "a", &["status", "prepared"], 3),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "Equal. It looks, finds nothing to do, and writes nothing.",
                    "相等了。它看一眼，没事可做，一笔也不写。",
                ],
                until: Sign::RestedWithoutWrite,
            },
            Step {
                part: Part::Server,
                text: ["A dish is dropped: a is back at 2.", "一道菜掉了：a 回到 2。"],
                until: Sign::Counts("kitchenorders", "a", &["status", "prepared"], 2),
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "The same comparison, the same small step. Nobody wrote a rule for dropped dishes.",
                    "同样的比较，同样的一小步。没有谁为掉菜另写一条规则。",
                ],
                until: Sign::Counts("kitchenorders", "a", &["status", "prepared"], 3),
            },
        ],
        breaks: (
            [
                "Crash the operator after its next write. Is a dish cooked twice?",
                "让 Operator 写完下一笔就崩溃。会多炒一道吗？",
            ],
            Deed::CrashMidReconcile,
        ),
        question: Question {
            ask: [
                "How often is order b written in the whole run, the order itself included?",
                "整个过程里，单子 b 一共被写了几次（下单那次也算）？",
            ],
            then: None,
            count: Sign::Written("kitchenorders", "b"),
        },
        pitfalls: &["status-changes", "stale-put"],
    },
    Lesson {
        number: 2,
        slug: "custom-resources",
        name: ["Custom resources", "自定义资源"],
        scenario: "custom-resources",
        intro: [
            "A CustomResourceDefinition teaches the API server a new kind. It checks, fills in and cuts; it does not act.",
            "CRD 教会 API server 一种新资源。它负责核对、补全、修剪，自己不动手。",
        ],
        steps: &[
            Step {
                part: Part::Server,
                text: [
                    "The definition is stored; a moment later it is Established and the new path answers.",
                    "定义入库，片刻后 Established，新路径开始应答。",
                ],
                until: Sign::Holds("customresourcedefinitions", "kitchenorders", "Established"),
            },
            Step {
                part: Part::Server,
                text: [
                    "An order without dishes: spec.dishes is required. 422, and nothing is stored.",
                    "一张没写 dishes 的单子：必填。422，什么都没存下。",
                ],
                until: Sign::Answered(422),
            },
            Step {
                part: Part::Server,
                text: [
                    "Twenty-five dishes: maximum is 20. The refusal names the field.",
                    "25 道：最多 20。拒绝里点名了字段。",
                ],
                until: Sign::Answered(422),
            },
            Step {
                part: Part::Server,
                text: [
                    "Twelve on the terrace: each field is fine, the CEL rule across them is not.",
                    "露台上 12 道：每个字段都合规，跨字段的 CEL 规则不答应。",
                ],
                until: Sign::Answered(422),
            },
            Step {
                part: Part::Server,
                text: [
                    "The fourth passes: wine, which nobody declared, is pruned; table is defaulted to hall. See Object.",
                    "第四张通过：没声明的 wine 被剪掉，table 补成 hall。看右边的对象。",
                ],
                until: Sign::Says("kitchenorders", "lunch", &["spec", "table"], "hall"),
            },
        ],
        breaks: (
            ["Delete the definition. What becomes of the orders?", "把定义删掉。那些单子会怎样？"],
            Deed::Kubectl("kubectl delete crd kitchenorders.scope.dev"),
        ),
        question: Question {
            ask: ["How many orders are created in the whole run?", "整个过程里，成功创建了几张单子？"],
            then: None,
            count: Sign::Created("kitchenorders", ""),
        },
        pitfalls: &["malformed-object", "nil-replicas"],
    },
    Lesson {
        number: 3,
        slug: "informer",
        name: ["Informer", "点菜簿 Informer"],
        scenario: "expired-version",
        intro: [
            "List once, then watch. The reader's copy may be late, and what it missed it never sees; it only sees the end.",
            "先 list 一次，再 watch。手上那份可能慢一拍；错过的中间过程永远看不到，只看得到结果。",
        ],
        steps: &[
            Step {
                part: Part::Informer,
                text: [
                    "The reflector takes the whole list once, with its revision.",
                    "reflector 把整份清单抄一遍，连同它的版本号。",
                ],
                until: Sign::Listed("caches"),
            },
            Step {
                part: Part::Queue,
                text: [
                    "Every object of the list becomes a key; reads now cost no request.",
                    "清单里每个对象变成一个 key；从此读取不再花请求。",
                ],
                until: Sign::Finished,
            },
            Step {
                part: Part::Server,
                text: [
                    "The operator is cut off. P changes four times, and the informer hears none of it.",
                    "Operator 断网了。P 改了四次，informer 一次也没听见。",
                ],
                until: Sign::Says("caches", "p", &["spec", "image"], "v4"),
            },
            Step {
                part: Part::Informer,
                text: [
                    "The history was compacted, so the old revision is gone: 410, and a full list again.",
                    "历史已压缩，旧版本号不在了：410，只好整份重抄。",
                ],
                until: Sign::Listed("caches"),
            },
            Step {
                part: Part::Queue,
                text: [
                    "The mirror of p says v0 v4. What lay between is lost, and nothing depends on it.",
                    "p 的镜像写着 v0 v4。中间几笔没了，也没有什么依赖它们。",
                ],
                until: Sign::Says("configmaps", "mirror-p", &["data", "seen"], "v0 v4"),
            },
        ],
        breaks: (["Drop the watch now. Is anything lost?", "现在断开 watch。会丢东西吗？"], Deed::DropWatch),
        question: Question {
            ask: [
                "How often does the operator's informer take the whole list of caches in this run?",
                "这次运行里，Operator 的 informer 一共整份 list 了几次 caches？",
            ],
            then: None,
            count: Sign::Listed("caches"),
        },
        pitfalls: &["filtered-cache", "cached-read"],
    },
    Lesson {
        number: 4,
        slug: "work-queue",
        name: ["Work queue", "挂单夹 工作队列"],
        scenario: "ordered-rollout",
        intro: [
            "Events are many, keys are few. A key waits once, is worked on by one worker, and may be put off.",
            "事件很多，key 很少。一个 key 只排一次，只由一个 worker 处理，也可以推迟。",
        ],
        steps: &[
            Step {
                part: Part::Queue,
                text: ["The first key goes to a worker.", "第一个 key 交到 worker 手上。"],
                until: Sign::Started("cache"),
            },
            Step {
                part: Part::Queue,
                text: [
                    "The operator's own writes come back as events, for a key in hand or waiting: one ticket does.",
                    "Operator 自己写的东西变成事件回来了，那个 key 正在手上或已在排队：一张单就够。",
                ],
                until: Sign::Merged,
            },
            Step {
                part: Part::Nodes,
                text: ["cache-0 becomes Ready, which is one more event.", "cache-0 就绪，又是一个事件。"],
                until: Sign::Holds("pods", "cache-0", "Ready"),
            },
            Step {
                part: Part::Queue,
                text: [
                    "That event wakes the key again, and the next pod is made.",
                    "这个事件又唤醒了 key，于是造下一个 Pod。",
                ],
                until: Sign::Created("pods", "cache-1"),
            },
        ],
        breaks: (
            [
                "Let the next three writes fail. Watch the key wait longer each time.",
                "让接下来三次写都失败。看这个 key 一次比一次等得久。",
            ],
            Deed::Conflicts(3),
        ),
        question: Question {
            ask: [
                "How many times does an event find its key waiting or being worked on already?",
                "有多少次，事件到来时它的 key 已经在排队或处理中？",
            ],
            then: None,
            count: Sign::Merged,
        },
        pitfalls: &["requeue-and-event", "requeue-and-event-classic"],
    },
    Lesson {
        number: 5,
        slug: "reconcile",
        name: ["Reconcile", "协调"],
        scenario: "conflict-and-backoff",
        intro: [
            "Observe, compare, act, write status. When a write is refused, step back and begin again from a fresh look.",
            "观察、比较、行动、写状态。写被拒了，就退一步，重新看一眼再来。",
        ],
        steps: &[
            Step {
                part: Part::Reconcile,
                text: ["A pass begins with looking, from the cache.", "每次都从看一眼开始，读的是缓存。"],
                until: Sign::Started("a"),
            },
            Step {
                part: Part::Server,
                text: [
                    "Somebody wrote in between: 409 Conflict. The pass ends with an error.",
                    "有人抢先写了：409 Conflict。这一次以错误收场。",
                ],
                until: Sign::Failed,
            },
            Step {
                part: Part::Queue,
                text: [
                    "The key comes back after 1 s, then 2 s, then 4 s. As shipped it begins at 5 ms and ends at 1000 s.",
                    "这个 key 等 1 秒再来，然后 2 秒、4 秒。出厂设置从 5 毫秒起，到 1000 秒封顶。",
                ],
                until: Sign::BackedOff,
            },
            Step {
                part: Part::Reconcile,
                text: [
                    "A pass goes through. The same code with the same inputs gives the same plate: idempotence.",
                    "终于写成了。同样的代码、同样的输入，端出同样的结果：幂等。",
                ],
                until: Sign::Counts("kitchenorders", "a", &["status", "prepared"], 3),
            },
            Step {
                part: Part::Reconcile,
                text: ["Once more, to see that nothing is to be done.", "再看一遍，确认没事可做。"],
                until: Sign::RestedWithoutWrite,
            },
        ],
        breaks: (
            ["Crash the operator in the middle of a pass.", "让 Operator 在一次协调中途崩溃。"],
            Deed::CrashMidReconcile,
        ),
        question: Question {
            ask: ["How many passes fail before the order is done?", "单子做完之前，有几次协调失败了？"],
            then: None,
            count: Sign::Failed,
        },
        pitfalls: &["stale-put", "status-changes", "failures-and-ceiling"],
    },
    Lesson {
        number: 6,
        slug: "deletion",
        name: ["Deletion", "打烊 删除"],
        scenario: "finalizer-backup",
        intro: [
            "Delete only asks. As long as a finalizer stands on the list, the object stays, and the operator cleans up first.",
            "delete 只是提出请求。清单上还有 finalizer，对象就留着，Operator 先收拾干净。",
        ],
        steps: &[
            Step {
                part: Part::Nodes,
                text: [
                    "Three pods are up; the finalizer stands on the object.",
                    "三个 Pod 都起来了；对象上挂着 finalizer。",
                ],
                until: Sign::Holds("pods", "cache-2", "Ready"),
            },
            Step {
                part: Part::Server,
                text: [
                    "DELETE: only a deletionTimestamp is written. The object is still there.",
                    "DELETE：只写上 deletionTimestamp，对象还在。",
                ],
                until: Sign::Held("redisclusters", "cache"),
            },
            Step {
                part: Part::Outside,
                text: [
                    "The operator starts its backup outside the cluster. It fails, so the finalizer stays.",
                    "Operator 到集群之外做备份。失败了，所以 finalizer 留着。",
                ],
                until: Sign::Failed,
            },
            Step {
                part: Part::Server,
                text: [
                    "The backup is safe, the last finalizer goes, and with it the object.",
                    "备份落袋为安，最后一个 finalizer 划掉，对象随之消失。",
                ],
                until: Sign::Gone("redisclusters", "cache"),
            },
            Step {
                part: Part::Nodes,
                text: [
                    "The garbage collector follows ownerReferences and takes the pods. The claims have no owner and stay.",
                    "垃圾回收沿着 ownerReferences 收走 Pod。存储声明没有主人，留了下来。",
                ],
                until: Sign::Gone("pods", "cache-"),
            },
        ],
        breaks: (
            ["Delete it now with --cascade=orphan. Who stays?", "现在用 --cascade=orphan 删除。谁会留下？"],
            Deed::Kubectl("kubectl delete rediscluster cache --cascade=orphan"),
        ),
        question: Question {
            ask: ["How many claims are deleted together with the cluster?", "集群删除时，一共跟着删了几个存储声明？"],
            then: None,
            count: Sign::Gone("persistentvolumeclaims", ""),
        },
        pitfalls: &["outside-bucket"],
    },
    Lesson {
        number: 7,
        slug: "stateful",
        name: ["Stateful apps", "老汤 有状态应用"],
        scenario: "rolling-update",
        intro: [
            "Pods with numbers and jars of their own: up one by one, renewed from the highest number down.",
            "每个 Pod 有自己的编号和坛子：一个一个地起，从最大的编号往下换。",
        ],
        steps: &[
            Step {
                part: Part::Reconcile,
                text: ["cache-0 is made first. cache-1 waits until it is Ready.", "先造 cache-0。cache-1 等它就绪。"],
                until: Sign::Holds("pods", "cache-0", "Ready"),
            },
            Step {
                part: Part::Nodes,
                text: ["The last one is Ready: three pods, three claims.", "最后一个也就绪：三个 Pod，三份存储。"],
                until: Sign::Holds("pods", "cache-2", "Ready"),
            },
            Step {
                part: Part::Kubectl,
                text: ["A new image is wished for. Which pod goes first?", "换新镜像。先换哪个？"],
                until: Sign::Says("redisclusters", "cache", &["spec", "image"], "redis:8.0"),
            },
            Step {
                part: Part::Nodes,
                text: ["The highest ordinal: cache-2.", "编号最大的：cache-2。"],
                until: Sign::Gone("pods", "cache-2"),
            },
            Step {
                part: Part::Nodes,
                text: [
                    "It comes back under the same name, with the same claim, and only then the next one goes.",
                    "它以同一个名字、带着同一份存储回来，然后才轮到下一个。",
                ],
                until: Sign::Gone("pods", "cache-1"),
            },
            Step {
                part: Part::Nodes,
                text: ["The primary, cache-0, is the last.", "主节点 cache-0 最后换。"],
                until: Sign::Gone("pods", "cache-0"),
            },
        ],
        breaks: (
            ["Kill cache-0 now. Does the rollout wait for it?", "现在杀掉 cache-0。更新会等它吗？"],
            Deed::KillPod("cache-0"),
        ),
        question: Question {
            ask: [
                "cache-1 is killed at 26 s, in the middle of the update. How many pods are created in the whole run?",
                "26 秒时，更新做到一半，cache-1 被杀掉。整个过程一共创建几次 Pod？",
            ],
            then: Some((26_000_000, Deed::KillPod("cache-1"))),
            count: Sign::Created("pods", "cache-"),
        },
        pitfalls: &["generated-names", "fixed-names", "self-healing"],
    },
];
