//! Words of the first minute: the home page, the page of limits, the table of the two views.

use super::Lang;

macro_rules! texts {
    ($($name:ident),* $(,)?) => {
        pub struct Home {
            $(pub $name: &'static str,)*
            /// The machine, the kitchen, what the picture makes obvious.
            pub two_views: &'static [[&'static str; 3]],
        }
    };
}

texts! {
    headline, promise, lessons, lessons_hint, sandbox, sandbox_hint, break_it, break_hint, no_such_place,
    about, about_intro, back,
    lessons_menu, watch, do_it, guess, run_on, right, not_quite, model_says, pitfalls, off_script, back_to_script, views_title, machine, kitchen, meaning,
}

#[must_use]
pub fn of(lang: Lang) -> &'static Home {
    if lang == Lang::Zh { &ZH } else { &EN }
}

static EN: Home = Home {
    headline: "Watch a Kubernetes operator think.",
    promise: "A real API server, informer, queue and reconciler are running in this page. Stop them, rewind them, break them.",
    lessons: "Lessons",
    lessons_hint: "from the control loop on",
    sandbox: "Sandbox",
    sandbox_hint: "your own YAML",
    break_it: "Break it",
    break_hint: "kill a pod of this run",
    no_such_place: "Nothing of this name is here. It may have been renamed.",
    about: "What this model does not do",
    about_intro: "Collected from the source of the model: what each module knows to be different from Kubernetes. Modules that know of no difference are not listed.",
    back: "Back",
    lessons_menu: "Lessons",
    watch: "What to watch",
    do_it: "Do it now",
    guess: "Guess",
    run_on: "Run it on",
    right: "Right.",
    not_quite: "Not quite.",
    model_says: "The model says ",
    pitfalls: "Where this goes wrong",
    off_script: "You have left the script: this is your own future.",
    back_to_script: "Back to the lesson",
    views_title: "The same machine, told as a kitchen",
    machine: "Machine",
    kitchen: "Kitchen",
    meaning: "What to see",
    two_views: &[
        ["CRD", "The menu", "It says what may be ordered; nobody cooks yet"],
        ["API server", "The front desk", "Checks and writes down; does not act"],
        ["etcd", "The order ledger", "Every write gets the next line number"],
        ["spec / status", "Asked / reported", "Two halves, compared again and again"],
        ["watch", "The bell on the pass", "A change rings once, and brings only the change"],
        ["informer cache", "The order book", "Copied once, then line by line; it may lag"],
        ["work queue", "The ticket rail", "One ticket for a dish, however often the bell rings"],
        ["reconcile", "The chef", "Moves only when ticket and plate differ"],
        ["backoff", "Stepping back from the stove", "1 s, 2 s, 4 s, up to a cap"],
        ["finalizer", "The closing checklist", "The sign says closing; the door is not yet shut"],
        ["StatefulSet", "Numbered pots", "One at a time, each keeps its jar"],
        ["kubebuilder", "The fitters", "The kitchen stands; the dish is yours"],
        ["idempotence", "The recipe book", "Any cook, any number of times, the same plate"],
        ["choosing an operator", "Opening a branch", "Buy a proven kitchen before building one"],
    ],
};

static ZH: Home = Home {
    headline: "看一个 Kubernetes Operator 怎么想。",
    promise: "真正的 API server、informer、队列和协调循环就在这一页里运行。停下它，倒回去，弄坏它。",
    lessons: "课程",
    lessons_hint: "从控制循环讲起",
    sandbox: "沙盒",
    sandbox_hint: "放进自己的 YAML",
    break_it: "搞破坏",
    break_hint: "杀掉这里的一个 Pod",
    no_such_place: "这里没有叫这个名字的内容，也许改过名。",
    about: "这个模型不做什么",
    about_intro: "下面的条目取自模型源码（原文为英文）：每个模块自知与 Kubernetes 不同的地方。没有已知差异的模块不列出。",
    back: "返回",
    lessons_menu: "课程",
    watch: "看点",
    do_it: "就现在",
    guess: "猜一猜",
    run_on: "跑给我看",
    right: "猜对了。",
    not_quite: "不对。",
    model_says: "模型跑出来是 ",
    pitfalls: "常在这里出错",
    off_script: "你离开了剧本：这是你自己的未来。",
    back_to_script: "回到课上",
    views_title: "同一台机器，用后厨来讲",
    machine: "机器",
    kitchen: "后厨",
    meaning: "看什么",
    two_views: &[
        ["CRD", "菜单", "只规定能点什么，还没人下锅"],
        ["API server", "前台服务员", "核对、记下，自己不动手"],
        ["etcd", "点单账本", "每记一笔，行号加一"],
        ["spec / status", "客人要的 / 后厨回的", "两半一遍遍地对"],
        ["watch", "传菜铃", "有变才响，只报变了什么"],
        ["informer 缓存", "点菜簿", "先整本抄一遍，再逐行改；可能慢一拍"],
        ["工作队列", "挂单夹", "铃响几次，一道菜也只挂一张"],
        ["协调", "主厨", "单子和盘子不一样才动手"],
        ["退避", "离灶退一步", "1 秒、2 秒、4 秒……到顶为止"],
        ["finalizer", "打烊清单", "牌子翻了，门还没锁"],
        ["StatefulSet", "编号的老汤锅", "一锅一锅来，各有各的坛子"],
        ["kubebuilder", "装修队", "厨房搭好，菜还得自己炒"],
        ["幂等", "中央菜谱", "谁来炒、炒几遍，端出来都一样"],
        ["选型", "开分店", "先买成熟的厨房，再谈自建"],
    ],
};
