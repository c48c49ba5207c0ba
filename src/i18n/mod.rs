//! Languages, skins and themes. A text that is missing in a language does not compile.

pub mod console;
pub mod deeds;
mod en;
pub mod home;
mod narrate_en;
mod narrate_zh;
mod words;
mod zh;

pub use words::Words;

use engine::event::Event;
use engine::manifest::{ManifestError, WayOut};
use engine::share::ShareError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    En,
    Zh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

/// What the machine is told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skin {
    Cluster,
    Kitchen,
}

impl Lang {
    #[must_use]
    pub fn code(self) -> &'static str {
        if self == Lang::Zh { "zh" } else { "en" }
    }
    #[must_use]
    pub fn of(code: &str) -> Option<Self> {
        match code {
            "zh" => Some(Lang::Zh),
            "en" => Some(Lang::En),
            _ => None,
        }
    }
    #[must_use]
    pub fn text(self) -> &'static Text {
        if self == Lang::Zh { &zh::TEXT } else { &en::TEXT }
    }

    /// A record as a sentence.
    #[must_use]
    pub fn sentence(self, event: &Event) -> String {
        if self == Lang::Zh { narrate_zh::sentence(event) } else { narrate_en::sentence(event) }
    }

    /// Why a link does not open, and what can be done.
    #[must_use]
    pub fn refusal(self, error: &ShareError) -> String {
        if self == Lang::En {
            return error.to_string();
        }
        match error {
            ShareError::Damaged => "链接损坏：途中被改动过，请从原处重新复制".to_string(),
            ShareError::Truncated { have, need } => {
                format!("链接不完整：应有 {need} 个字符，只收到 {have} 个；请完整复制，或改要场景文件")
            }
            ShareError::TooNew { version } => {
                format!("链接是第 {version} 版格式，比本页新；请刷新页面或打开更新的版本")
            }
            ShareError::TooLarge { size, max, .. } => format!("链接放不下：{size}，上限 {max}；请改用场景文件分享"),
            ShareError::Unplayable { path, message } => format!("链接能读，但无法播放：{path}：{message}"),
        }
    }

    /// Why a manifest cannot be read, and where.
    #[must_use]
    pub fn misread(self, error: &ManifestError) -> String {
        if self == Lang::En {
            return error.to_string();
        }
        let way = match error.way_out {
            WayOut::FixSyntax => "请改正此处",
            WayOut::UseSpaces => "请用空格缩进，YAML 此处不允许制表符",
            WayOut::RemoveDuplicate => "两个同名键请留一个",
            WayOut::Split => "请拆开，分几次应用",
            WayOut::Flatten => "请减少嵌套，或展开别名",
            WayOut::NameKind => "文档请以 apiVersion、kind、metadata.name 开头",
        };
        format!("第 {} 篇文档，第 {} 行，第 {} 列：{}；{way}", error.document, error.line, error.column, error.message)
    }
}

impl Theme {
    #[must_use]
    pub fn code(self) -> &'static str {
        if self == Theme::Dark { "dark" } else { "light" }
    }
    #[must_use]
    pub fn of(code: &str) -> Option<Self> {
        match code {
            "dark" => Some(Theme::Dark),
            "light" => Some(Theme::Light),
            _ => None,
        }
    }
    #[must_use]
    pub fn other(self) -> Self {
        if self == Theme::Dark { Theme::Light } else { Theme::Dark }
    }
}

impl Skin {
    #[must_use]
    pub fn code(self) -> &'static str {
        if self == Skin::Kitchen { "kitchen" } else { "cluster" }
    }
    #[must_use]
    pub fn of(code: &str) -> Self {
        if code == "kitchen" { Skin::Kitchen } else { Skin::Cluster }
    }
}

macro_rules! text {
    ($($name:ident),* $(,)?) => {
        /// Every fixed text of the page that does not belong to a skin.
        pub struct Text { $(pub $name: &'static str),* }
    };
}

text! {
    scenario, sandbox, share, shared, share_hint, theme_light, theme_dark, language, view, view_cluster, view_kitchen, help, close,
    play, pause, step, step_back, start, speed, by_event, by_reconcile, until_quiet, event_of, other_future, seek,
    break_it, kill_pod, node_down, node_up, drop_watch, fail_write, conflict, internal, timeout, crash, armed, target,
    manifest, manifest_hint, apply, applied, manifest_label,
    object, log, why, objects, no_object, by_user, no_write_yet, log_hint, no_record, led_here, woke, root,
    lane_user, lane_writes, lane_watch, lane_reconcile, lane_ready, gap,
    stage_label, run_as_text, open_without, link_differs,
    ready, starting, leaving, failed, plain, down, frozen, pending,
    key_space, key_arrows, key_shift, key_speed, key_ends, key_help, about, side, inspector,
}
