//! Every record as a Chinese sentence.

use super::deeds::{failure, thing, typed};
use crate::model::number::span;
use engine::api::message::WatchEventType;
use engine::event::{Carries, Event, Message, Outcome, ProcessState, QueueOp, Write};

pub fn sentence(event: &Event) -> String {
    match event {
        Event::Commanded { command } => format!("你：{}。", typed(command)),
        Event::Printed { text, failed, .. } => {
            format!("{}：{}", if *failed { "被拒绝" } else { "kubectl" }, text.trim())
        }
        Event::Exited { process, code } => format!("{process} 结束，退出码 {code}。"),
        Event::Sent { message } => sent(message),
        Event::Delivered { message } => format!("{} 收到{}。", message.to, carried(message)),
        Event::Lost { message, why } => format!("发给 {} 的{}在路上丢了（{why}）。", message.to, carried(message)),
        Event::Handled { user, code, reason, message, .. } if *code >= 400 => {
            format!("服务器拒绝了 {user}：{code} {reason}。{message}")
        }
        Event::Handled { user, code, .. } => format!("服务器答复 {user}：{code}。"),
        Event::Wrote { write } => wrote(write),
        Event::WatchOpened { process, resource, revision, .. } => {
            format!("{process} 从版本 {revision} 起监听 {resource}。")
        }
        Event::WatchClosed { process, resource, why, .. } => format!("{process} 对 {resource} 的 watch 结束：{why}。"),
        Event::Listed { informer, revision, contents } => {
            format!("{} 列出 {} 个 {}，版本 {revision}。", informer.process, contents.len(), informer.resource)
        }
        Event::FifoPushed { informer, kind, key, .. } => {
            format!("{} {key} 在 {} 的 FIFO 里等着。", kind.word(), informer.process)
        }
        Event::Cached { informer, key, revision, .. } => {
            format!("{} 的缓存里 {key} 到了版本 {revision}。", informer.process)
        }
        Event::Notified { key, enqueued, .. } if enqueued.is_empty() => format!("predicate 丢掉了 {key} 的变化。"),
        Event::Notified { controller, key, enqueued, .. } => {
            let keys: Vec<_> = enqueued.iter().map(ToString::to_string).collect();
            format!("{} 的 handler 把 {key} 的变化换成 {}。", controller.controller, keys.join("、"))
        }
        Event::Queue { controller, op, key, shot } => queue(op, &key.to_string(), &controller.controller, shot.len),
        Event::Started { controller, key, .. } => format!("{} 开始协调 {key}。", controller.controller),
        Event::At { controller, note, line, .. } => {
            format!("{}：{}", controller.controller, if note.is_empty() { line } else { &**note })
        }
        Event::NoWrite { controller, key, why, .. } => format!("{} 不动 {key}：{why}。", controller.controller),
        Event::Finished { controller, key, outcome, .. } => {
            format!("{} 做完了 {key}：{}。", controller.controller, ended(outcome))
        }
        Event::Process { process, state, why } => turned(process, *state, why),
        Event::Leading { process, leads } => {
            format!("{process} {}。", if *leads { "当上 leader" } else { "不再是 leader" })
        }
        Event::Tokens { process, .. } => format!("{process} 的限流桶变了。"),
        Event::Tuned { process, setting, value } => match value {
            Some(value) => format!("{process}：{setting} 现在是 {value}。"),
            None => format!("{process}：{setting} 恢复默认。"),
        },
        Event::Announced { controller, reason, message, .. } => {
            format!("{} 上报 {reason}：{message}。", controller.controller)
        }
        Event::FaultArmed { fault } => {
            format!("{} 等着接下来 {} 次 {} 写入。", failure(fault.failure), fault.count, fault.resource)
        }
        Event::FaultFired { failure: hit, .. } => format!("这个请求撞上了 {}。", failure(*hit)),
        Event::KnobSet { knob, value } => format!("{knob} 改成 {value}。"),
        Event::InvariantBroken { invariant, detail } => format!("破了：{invariant}。{detail}"),
    }
}

fn wrote(write: &Write) -> String {
    let done = match write.kind {
        WatchEventType::Added => "创建",
        WatchEventType::Deleted => "删除",
        _ => "修改",
    };
    format!("{} 被 {} {done}，版本 {}。", thing(&write.resource, "", &write.key), write.user, write.revision)
}

fn turned(process: &str, state: ProcessState, why: &str) -> String {
    let now = match state {
        ProcessState::Running => "在运行",
        ProcessState::Frozen => "被冻住",
        ProcessState::Down => "停了",
    };
    format!("{process} {now}：{why}。")
}

fn sent(message: &Message) -> String {
    match &message.carries {
        Carries::Request { verb, resource, subresource, key, .. } => {
            format!("{} 发出请求：{verb} {}。", message.from, thing(resource, subresource, key))
        }
        Carries::Answer { code, reason, .. } => format!("给 {} 的答复上路了：{code} {reason}。", message.to),
        Carries::Watch { kind, resource, key, .. } => {
            format!("服务器通知 {}：{} {}。", message.to, kind.word(), thing(resource, "", key))
        }
    }
}

fn carried(message: &Message) -> String {
    match &message.carries {
        Carries::Request { verb, resource, subresource, key, .. } => {
            format!("请求 {verb} {}", thing(resource, subresource, key))
        }
        Carries::Answer { code, resource, key, .. } => format!("{} 的答复 {code}", thing(resource, "", key)),
        Carries::Watch { kind, resource, key, .. } => {
            format!("事件 {} {}", kind.word(), thing(resource, "", key))
        }
    }
}

fn queue(op: &QueueOp, key: &str, controller: &str, depth: usize) -> String {
    match op {
        QueueOp::Added => format!("{key} 进了 {controller} 的队列，长度 {depth}。"),
        QueueOp::Merged => format!("{key} 已经在排队，一张单就够。"),
        QueueOp::AddedWhileProcessing => format!("{key} 正在处理，做完会再来一遍。"),
        QueueOp::Delayed(after) => format!("{key} 过 {} 再入队。", span(*after)),
        QueueOp::BackedOff { after, failures } => format!("{key} 第 {failures} 次失败，退避 {}。", span(*after)),
        QueueOp::Due => format!("{key} 到点了。"),
        QueueOp::Got => format!("worker 取走 {key}。"),
        QueueOp::Done => format!("worker 放下 {key}。"),
        QueueOp::Forgotten => format!("{key} 的失败次数清零。"),
    }
}

fn ended(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done => "没什么可做了".to_string(),
        Outcome::RequeueAfter(after) => format!("{} 后再看", span(*after)),
        Outcome::Requeue => "很快再看".to_string(),
        Outcome::Failed { code, message } => format!("失败，{code}，{message}"),
        Outcome::Terminal { message } => format!("彻底失败，{message}"),
        Outcome::Panicked { message } => format!("panic，{message}"),
    }
}
