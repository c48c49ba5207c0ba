//! The console and the tabs beside it.

use super::Lang;

pub struct Console {
    pub tabs: &'static str,
    pub label: &'static str,
    pub output: &'static str,
    pub hint: &'static str,
    pub run: &'static str,
    pub clear: &'static str,
    pub offered: &'static str,
    pub earlier: &'static str,
    pub runs: &'static str,
    pub still: &'static str,
    pub paste: &'static str,
    pub edit: &'static str,
    pub send: &'static str,
    pub save: &'static str,
    pub cancel: &'static str,
    pub empty: &'static str,
}

static EN: Console = Console {
    tabs: "What you can do",
    label: "A kubectl line",
    output: "What kubectl printed",
    hint: "Tab completes, ↑ ↓ go through what you typed, Ctrl-C gives up, Esc leaves the line. Lines are part of the run: they rewind with it and are in its link.",
    run: "Run",
    clear: "Clear",
    offered: "May stand here:",
    earlier: "Earlier output is not shown.",
    runs: "kubectl is at work.",
    still: "Time stands still: press Play and kubectl goes on.",
    paste: "The manifests for",
    edit: "The object as kubectl edit opened it",
    send: "Send",
    save: "Save",
    cancel: "Cancel",
    empty: "There is no object in this text.",
};

static ZH: Console = Console {
    tabs: "可以做的事",
    label: "一行 kubectl 命令",
    output: "kubectl 的输出",
    hint: "Tab 补全，↑ ↓ 翻看输入过的命令，Ctrl-C 放弃，Esc 离开输入行。命令是运行的一部分：会随时间倒回，也写在链接里。",
    run: "执行",
    clear: "清屏",
    offered: "此处可填：",
    earlier: "更早的输出未显示。",
    runs: "kubectl 正在执行。",
    still: "时间静止：按播放，kubectl 才会继续。",
    paste: "清单内容，用于",
    edit: "kubectl edit 打开的对象",
    send: "发送",
    save: "保存",
    cancel: "取消",
    empty: "这段文字里没有对象。",
};

impl Lang {
    #[must_use]
    pub fn console(self) -> &'static Console {
        if self == Lang::Zh { &ZH } else { &EN }
    }
}
