//! A map that forgets what was not touched for longest.

use std::collections::BTreeMap;

/// At most `max` entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lru<V> {
    max: usize,
    clock: u64,
    entries: BTreeMap<String, (u64, V)>,
    /// Exactly the stamps of `entries`.
    by_age: BTreeMap<u64, String>,
}

impl<V> Lru<V> {
    #[must_use]
    pub fn new(max: usize) -> Self {
        Lru { max, clock: 0, entries: BTreeMap::new(), by_age: BTreeMap::new() }
    }

    /// Reads an entry, which makes it the youngest.
    pub fn get(&mut self, key: &str) -> Option<&V> {
        let clock = self.tick();
        let (stamp, value) = self.entries.get_mut(key)?;
        self.by_age.remove(stamp);
        *stamp = clock;
        self.by_age.insert(clock, key.to_string());
        Some(value)
    }

    pub fn put(&mut self, key: &str, value: V) {
        let clock = self.tick();
        if let Some((stamp, _)) = self.entries.insert(key.to_string(), (clock, value)) {
            self.by_age.remove(&stamp);
        }
        self.by_age.insert(clock, key.to_string());
        if self.entries.len() > self.max
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_not_touched_for_longest_goes() {
        let mut lru = Lru::new(2);
        lru.put("a", 1);
        lru.put("b", 2);
        assert_eq!(lru.get("a"), Some(&1));
        lru.put("c", 3);
        assert_eq!(lru.len(), 2);
        assert_eq!(lru.get("a"), Some(&1));
        assert_eq!(lru.get("b"), None);
    }
}
