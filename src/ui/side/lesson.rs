//! A lesson beside its run: what to watch, what to break, what to guess, and the way back to the script.

use crate::i18n::Lang;
use crate::lessons::{self, Both, Lesson};
use crate::route::Place;
use crate::session::use_session;
use leptos::prelude::*;

/// What the reader guessed and what the model found.
type Guess = Option<(usize, usize)>;

#[component]
pub fn LessonPanel(lesson: &'static Lesson) -> impl IntoView {
    let session = use_session();
    let say = move |both: &'static Both| move || lessons::text(both, session.lang.get());
    view! {
        <div class="lesson" data-testid="lesson">
            <p class="hint">{move || format!("{} {} · {}", session.h().lessons_menu, lesson.number, session.read(|run| run.scenario.title.get(session.lang.get().code()).to_string()))}</p>
            <h2>{say(&lesson.name)}</h2>
            <p class="intro">{say(&lesson.intro)}</p>
            <WayBack/>
            <h3>{move || session.h().watch}</h3>
            <Steps lesson/>
            <h3>{move || session.t().break_it}</h3>
            <p>{say(&lesson.breaks.0)}</p>
            <button class="fault" data-testid="lesson-break" on:click=move |_| {
                session.submit(lesson.breaks.1.command());
                session.play();
            }>{move || session.h().do_it}</button>
            <h3>{move || session.h().guess}</h3>
            <Ask lesson/>
            <h3>{move || session.h().pitfalls}</h3>
            <Pitfalls lesson/>
        </div>
    }
}

#[component]
fn Steps(lesson: &'static Lesson) -> impl IntoView {
    let session = use_session();
    let row = move |i: usize, text: &'static Both, current: usize, lang: Lang| {
        let class = if i < current {
            "done"
        } else if i == current {
            "now"
        } else {
            "later"
        };
        let word = if i < current { "✓".to_string() } else { (i + 1).to_string() };
        let here = (i == current).then_some("step");
        view! {
            <li class=class aria-current=here data-testid=format!("lesson-step-{}", i + 1)>
                <button on:click=move |_| session.visit_step(i)><i aria-hidden="true">{word}</i><span>{lessons::text(text, lang)}</span></button>
            </li>
        }
    };
    move || {
        let (current, lang) = (session.step_now(), session.lang.get());
        let rows = lesson.steps.iter().enumerate().map(|(i, step)| row(i, &step.text, current, lang));
        view! { <ol class="watch">{rows.collect::<Vec<_>>()}</ol> }
    }
}

#[component]
fn WayBack() -> impl IntoView {
    let session = use_session();
    move || {
        session.off_script.get().then(|| {
            view! {
                <p class="off-script" role="status" data-testid="off-script">
                    {session.h().off_script}" "
                    <button data-testid="back-to-script" on:click=move |_| session.back_to_script()>{session.h().back_to_script}</button>
                </p>
            }
        })
    }
}

#[component]
fn Ask(lesson: &'static Lesson) -> impl IntoView {
    let session = use_session();
    let guessed = RwSignal::new(String::new());
    let found: RwSignal<Guess> = RwSignal::new(None);
    let ask = move || lessons::text(&lesson.question.ask, session.lang.get());
    let run_on = move || {
        if let Ok(guess) = guessed.get_untracked().trim().parse::<usize>() {
            let answer = session.read(|run| lesson.question.answer(&run.scenario));
            found.set(Some((guess, answer)));
        }
    };
    let verdict = move || {
        found.get().map(|(guess, answer)| {
            let h = session.h();
            let word = if guess == answer { h.right } else { h.not_quite };
            format!("{word} {}{answer}", h.model_says)
        })
    };
    view! {
        <p id="lesson-question">{ask}</p>
        <form class="row" on:submit=move |event| {
            event.prevent_default();
            run_on();
        }>
            <input type="number" min="0" max="999" required data-testid="lesson-guess" aria-labelledby="lesson-question"
                on:input=move |event| guessed.set(event_target_value(&event))/>
            <button data-testid="lesson-answer">{move || session.h().run_on}</button>
        </form>
        <p class="said" role="status" data-testid="lesson-verdict">{verdict}</p>
    }
}

#[component]
fn Pitfalls(lesson: &'static Lesson) -> impl IntoView {
    let session = use_session();
    move || {
        let lang = session.lang.get().code();
        let link = |name: &'static str| {
            let title = engine::library::load(name).and_then(Result::ok).map(|s| s.title.get(lang).to_string());
            view! {
                <li><button class="link" on:click=move |_| session.go(Place::Scenario(name.to_string()))>{title}</button></li>
            }
        };
        view! { <ul class="pitfalls">{lesson.pitfalls.iter().map(|name| link(name)).collect::<Vec<_>>()}</ul> }
    }
}
