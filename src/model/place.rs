//! Where things stand on the stage and which way a message goes. Pure geometry: two plans, wide and narrow.

use engine::event::{Carries, Message};
use engine::time::SimTime;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

const fn rect(x: f32, y: f32, w: f32, h: f32) -> Rect {
    Rect { x, y, w, h }
}

/// A cubic curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve(pub [(f32, f32); 4]);

const fn line(from: (f32, f32), to: (f32, f32)) -> Curve {
    let (dx, dy) = ((to.0 - from.0) / 3.0, (to.1 - from.1) / 3.0);
    Curve([from, (from.0 + dx, from.1 + dy), (to.0 - dx, to.1 - dy), to])
}

impl Curve {
    /// The point a share `t` of the way along.
    #[must_use]
    pub fn at(&self, t: f32) -> (f32, f32) {
        let [a, b, c, d] = self.0;
        let u = 1.0 - t;
        let mix =
            |a: f32, b: f32, c: f32, d: f32| u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d;
        (mix(a.0, b.0, c.0, d.0), mix(a.1, b.1, c.1, d.1))
    }

    #[must_use]
    pub fn path(&self) -> String {
        let n = |v: f32| v as i32;
        let [a, b, c, d] = self.0;
        format!("M{} {}C{} {} {} {} {} {}", n(a.0), n(a.1), n(b.0), n(b.1), n(c.0), n(c.1), n(d.0), n(d.1))
    }
}

/// The ways between the boxes, named by where they lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    Kubectl,
    Managers,
    Watch,
    Handler,
    Get,
    Write,
    NodeReport,
    NodeOrder,
    Outside,
}

pub const EDGES: [Edge; 9] = [
    Edge::Kubectl,
    Edge::Managers,
    Edge::Watch,
    Edge::Handler,
    Edge::Get,
    Edge::Write,
    Edge::NodeReport,
    Edge::NodeOrder,
    Edge::Outside,
];

/// A plan of the stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub size: (f32, f32),
    pub kubectl: Rect,
    pub managers: Rect,
    pub outside: Rect,
    pub server: Rect,
    pub informer: Rect,
    pub queue: Rect,
    pub reconcile: Rect,
    pub nodes: Rect,
    pub footer: (f32, f32),
    /// The kitchen's chef, who stands beside the reconcile box or in its corner.
    pub chef: (f32, f32),
    /// The kitchen's closing checklist, in the middle where nothing else stands.
    pub checklist: Rect,
    pub curves: [Curve; EDGES.len()],
    /// Where the words of an edge stand.
    pub labels: [(f32, f32); 4],
}

pub static WIDE: Plan = Plan {
    size: (772.0, 676.0),
    kubectl: rect(26.0, 30.0, 136.0, 62.0),
    managers: rect(26.0, 112.0, 136.0, 92.0),
    outside: rect(396.0, 404.0, 130.0, 46.0),
    server: rect(238.0, 26.0, 298.0, 140.0),
    informer: rect(556.0, 192.0, 192.0, 166.0),
    queue: rect(556.0, 430.0, 192.0, 200.0),
    reconcile: rect(236.0, 498.0, 234.0, 132.0),
    nodes: rect(26.0, 318.0, 164.0, 312.0),
    footer: (236.0, 656.0),
    chef: (248.0, 450.0),
    checklist: rect(386.0, 214.0, 140.0, 100.0),
    curves: [
        line((162.0, 62.0), (236.0, 62.0)),
        line((162.0, 140.0), (236.0, 140.0)),
        Curve([(536.0, 88.0), (640.0, 88.0), (652.0, 120.0), (652.0, 190.0)]),
        line((652.0, 358.0), (652.0, 428.0)),
        line((556.0, 556.0), (472.0, 556.0)),
        line((350.0, 498.0), (350.0, 168.0)),
        Curve([(108.0, 296.0), (108.0, 236.0), (196.0, 222.0), (262.0, 168.0)]),
        Curve([(300.0, 168.0), (300.0, 262.0), (236.0, 300.0), (192.0, 334.0)]),
        line((440.0, 498.0), (452.0, 452.0)),
    ],
    labels: [(602.0, 92.0), (662.0, 396.0), (500.0, 546.0), (358.0, 480.0)],
};

pub static NARROW: Plan = Plan {
    size: (390.0, 690.0),
    kubectl: rect(8.0, 8.0, 96.0, 56.0),
    managers: rect(8.0, 76.0, 96.0, 82.0),
    outside: rect(132.0, 472.0, 70.0, 40.0),
    server: rect(124.0, 8.0, 258.0, 140.0),
    informer: rect(214.0, 190.0, 168.0, 160.0),
    queue: rect(214.0, 378.0, 168.0, 154.0),
    reconcile: rect(8.0, 546.0, 374.0, 112.0),
    nodes: rect(8.0, 214.0, 116.0, 312.0),
    footer: (10.0, 678.0),
    chef: (314.0, 612.0),
    checklist: rect(128.0, 262.0, 80.0, 100.0),
    curves: [
        line((104.0, 36.0), (122.0, 36.0)),
        line((104.0, 112.0), (122.0, 112.0)),
        line((330.0, 148.0), (330.0, 188.0)),
        line((298.0, 350.0), (298.0, 376.0)),
        line((298.0, 532.0), (298.0, 544.0)),
        line((168.0, 546.0), (168.0, 150.0)),
        Curve([(40.0, 190.0), (40.0, 166.0), (136.0, 186.0), (136.0, 150.0)]),
        Curve([(152.0, 150.0), (152.0, 200.0), (146.0, 232.0), (126.0, 240.0)]),
        line((186.0, 546.0), (182.0, 514.0)),
    ],
    labels: [(338.0, 176.0), (306.0, 368.0), (306.0, 542.0), (172.0, 540.0)],
};

impl Plan {
    #[must_use]
    pub fn curve(&self, edge: Edge) -> &Curve {
        &self.curves[edge as usize]
    }
}

pub const SERVER: &str = "apiserver";

/// The edge a message takes when the loop of `focus` is drawn, and whether it goes along it or against it.
#[must_use]
pub fn way(message: &Message, focus: &str) -> (Edge, bool) {
    let (from, to) = (&*message.from, &*message.to);
    let other = if to == SERVER || to == "outside" { from } else { to };
    if from == "outside" || to == "outside" {
        return (Edge::Outside, to == "outside");
    }
    let up = to == SERVER;
    match other {
        "kubectl" => (Edge::Kubectl, up),
        _ if other == focus && informs(&message.carries) => (Edge::Watch, !up),
        _ if other == focus => (Edge::Write, up),
        _ if other.starts_with("kubelet") => (if up { Edge::NodeReport } else { Edge::NodeOrder }, true),
        _ => (Edge::Managers, up),
    }
}

/// Belongs to the reflector's conversation and not to a reconcile.
fn informs(carries: &Carries) -> bool {
    match carries {
        Carries::Watch { .. } => true,
        Carries::Request { verb, .. } => matches!(*verb, "list" | "watch"),
        Carries::Answer { key, .. } => key.name.is_empty(),
    }
}

/// Where a message is at `now`: beside its edge, requests on one side and answers on the other, neighbours apart.
#[must_use]
pub fn position(plan: &Plan, message: &Message, focus: &str, now: SimTime) -> (f32, f32) {
    let (edge, along) = way(message, focus);
    let whole = message.deliver_at.since(message.sent_at).0.max(1);
    let done = now.since(message.sent_at).0.min(whole);
    let share = (done * 1_000 / whole) as f32 / 1_000.0;
    let (x, y) = plan.curve(edge).at(if along { share } else { 1.0 - share });
    let rank = (message.id.0 / 2 % 3) as f32 - 1.0;
    let side = if along { -6.0 } else { 6.0 };
    (x + rank * 3.0, y + side + rank * 9.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::ids::{GroupResource, Key, MessageId};

    fn message(from: &str, to: &str, carries: Carries) -> Message {
        Message {
            id: MessageId(2),
            from: from.into(),
            to: to.into(),
            sent_at: SimTime(100),
            deliver_at: SimTime(200),
            carries,
            background: false,
        }
    }

    fn answer(name: &str) -> Carries {
        let (resource, key) = (GroupResource::new("", "pods"), Key::new("default", name));
        Carries::Answer { request: MessageId(1), code: 200, reason: "".into(), resource, key }
    }

    #[test]
    fn messages_of_the_drawn_loop_take_its_edges_and_others_go_round_it() {
        assert_eq!(way(&message("operator", SERVER, answer("a")), "operator"), (Edge::Write, true));
        assert_eq!(way(&message(SERVER, "operator", answer("")), "operator"), (Edge::Watch, true));
        assert_eq!(way(&message(SERVER, "kubelet/a", answer("a")), "operator"), (Edge::NodeOrder, true));
        assert_eq!(way(&message(SERVER, "kube-scheduler", answer("a")), "operator"), (Edge::Managers, false));
        assert_eq!(way(&message("outside", "operator", answer("a")), "operator"), (Edge::Outside, false));
    }

    #[test]
    fn a_message_is_where_its_time_says_on_both_plans() {
        let going = message("operator", SERVER, answer("a"));
        for plan in [&WIDE, &NARROW] {
            let (from, to) = (plan.curve(Edge::Write).at(0.0), plan.curve(Edge::Write).at(1.0));
            let half = position(plan, &going, "operator", SimTime(150));
            assert!(half.1 < from.1 && half.1 > to.1, "{half:?}");
            assert_eq!(
                position(plan, &going, "operator", SimTime(0)),
                position(plan, &going, "operator", SimTime(100))
            );
        }
    }

    #[test]
    fn every_box_lies_on_its_plan() {
        for plan in [&WIDE, &NARROW] {
            for r in [
                plan.kubectl,
                plan.managers,
                plan.outside,
                plan.server,
                plan.informer,
                plan.queue,
                plan.reconcile,
                plan.nodes,
            ] {
                assert!(r.x >= 0.0 && r.y >= 0.0 && r.x + r.w <= plan.size.0 && r.y + r.h <= plan.size.1, "{r:?}");
            }
        }
    }
}
