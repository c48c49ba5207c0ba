//! Claims about the console's transcript and its typing help.

use super::*;
use engine::recording::Recording;
use engine::time::{SimTime, Span};
use engine::world::ClusterSpec;

fn second(n: u64) -> SimTime {
    SimTime::ZERO + Span::secs(n)
}

fn line(text: &str) -> Command {
    Command::Kubectl { line: text.to_string(), manifests: Vec::new() }
}

/// A run in which these lines are typed a second apart, and its transcript.
fn typed(lines: &[&str]) -> (Recording, Transcript) {
    let commands = lines.iter().enumerate().map(|(i, text)| (second(1 + i as u64), line(text))).collect();
    let mut recording = Recording::new(ClusterSpec::default(), commands);
    recording.seek(second(10));
    let mut transcript = Transcript::default();
    transcript.catch_up(recording.records());
    (recording, transcript)
}

#[test]
fn output_later_than_the_cursor_is_not_shown() {
    let (mut recording, transcript) = typed(&["create cm a", "get cm nope"]);
    let texts = |t: &Transcript, cursor: usize| {
        let (shown, cut) = t.shown(0, t.said(cursor));
        assert!(!cut);
        shown.iter().map(|s| (s.voice, s.text.to_string())).collect::<Vec<_>>()
    };
    let all = texts(&transcript, recording.cursor());
    let wanted = [
        (Voice::Typed, "create cm a".to_string()),
        (Voice::Out, "configmap/a created".to_string()),
        (Voice::Typed, "get cm nope".to_string()),
        (Voice::Err, "Error from server (NotFound): configmaps \"nope\" not found".to_string()),
    ];
    assert_eq!(all, wanted);
    recording.seek(second(1));
    assert_eq!(texts(&transcript, recording.cursor()), wanted[..1]);
    recording.seek(SimTime::ZERO);
    assert!(texts(&transcript, recording.cursor()).is_empty());
}

#[test]
fn a_command_runs_from_its_typing_to_its_end() {
    let (mut recording, transcript) = typed(&["create cm a", "get cm -w"]);
    assert_eq!(transcript.running(recording.cursor()), 1, "a watch has no end");
    recording.submit(Command::Interrupt);
    let mut transcript = transcript;
    transcript.catch_up(recording.records());
    assert_eq!(transcript.running(recording.cursor()), 0, "but Ctrl-C");
    recording.seek(second(1));
    assert_eq!(transcript.running(recording.cursor()), 1);
    recording.seek(SimTime(second(2).0 - 1));
    assert_eq!(transcript.running(recording.cursor()), 0);
}

#[test]
fn a_line_that_cannot_be_read_ends_at_once() {
    let (recording, transcript) = typed(&["gte pods"]);
    assert_eq!(transcript.running(recording.cursor()), 0);
    assert_eq!(transcript.shown(0, 2).0[1].voice, Voice::Err);
}

#[test]
fn clearing_hides_what_was_said_before_but_not_from_the_past() {
    let (recording, transcript) = typed(&["create cm a", "create cm b"]);
    let said = transcript.said(recording.cursor());
    assert!(transcript.shown(said, said).0.is_empty());
    assert_eq!(transcript.shown(said, 1).0.len(), 1);
}

#[test]
fn only_the_newest_lines_are_shown() {
    let part = |index| Spoken { index, voice: Voice::Out, text: "x\n".repeat(100).into() };
    let transcript = Transcript { spoken: (0..5).map(part).collect(), ..Transcript::default() };
    let (shown, cut) = transcript.shown(0, 5);
    assert_eq!((shown.len(), shown[0].index, cut), (3, 2, true));
    assert!(super::cut(&"x\n".repeat(LINES_MAX + 1)).1);
}

#[test]
fn a_line_says_what_it_needs() {
    assert_eq!(need("kubectl apply -f -"), Need::Files("-".into()));
    assert_eq!(need("replace --filename=x.yaml"), Need::Files("x.yaml".into()));
    assert_eq!(need("edit cm c"), Need::Editor);
    assert_eq!(need("get pods"), Need::Nothing);
    assert_eq!(need("wrong 'quote"), Need::Nothing);
}

#[test]
fn completion_fills_in_what_the_candidates_share() {
    let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let fill = |line: &str, list: &[&str]| filled(line, line.len(), &words(list));
    assert_eq!(fill("get po", &["pods"]), Some(("get pods ".into(), 9)));
    assert_eq!(fill("get ", &["statefulsets", "storageclasses"]), Some(("get st".into(), 6)));
    assert_eq!(fill("get pods -o ", &["custom-columns="]), Some(("get pods -o custom-columns=".into(), 27)));
    assert_eq!(filled("get po -A", 6, &words(&["pods"])), Some(("get pods -A".into(), 8)));
    assert_eq!(fill("get x", &[]), None);
}

#[test]
fn the_world_at_the_cursor_knows_nothing_of_the_future() {
    let (mut recording, _) = typed(&["create cm early", "create cm late"]);
    recording.seek(SimTime(second(2).0 - 1));
    let names = |r: &Recording| r.world_now().look("get cm -o name").iter().map(|l| l.text.clone()).collect::<Vec<_>>();
    assert_eq!(names(&recording), ["configmap/early"]);
    recording.submit(line("create cm third"));
    recording.seek(second(5));
    assert_eq!(names(&recording), ["configmap/early", "configmap/third"]);
}
