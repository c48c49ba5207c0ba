//! Small settings that outlive the page, where the browser lets them.

fn storage() -> Option<web_sys::Storage> {
    web_sys::window()?.local_storage().ok().flatten()
}

#[must_use]
pub fn read(name: &str) -> Option<String> {
    storage()?.get_item(&format!("operatorscope.{name}")).ok().flatten()
}

pub fn write(name: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&format!("operatorscope.{name}"), value);
    }
}
