//! OperatorScope's page: a drawing of the records that the engine makes.

mod app;
mod i18n;
mod lessons;
mod model;
mod route;
mod session;
mod ui;
mod web;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
