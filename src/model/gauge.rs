//! The gap: how far what is there is from what was asked for, counted from objects alone.
//!
//! An object that nobody controls and that asks for a number (`spec.replicas`, `spec.dishes`) is a wish. What counts
//! towards it are the ready pods below it in the chain of controllers, of the image it asks for, or the number its
//! status reports where no pods are meant.

use engine::api::message::WatchEventType;
use engine::event::Write;
use engine::ids::{GroupResource, Key};
use engine::object::{Object, ObjectView};
use engine::scene::Scene;
use serde_json::Value;
use std::collections::BTreeMap;

/// How many controllers are followed upwards from a pod.
const OWNERS_MAX: usize = 4;

#[derive(Clone, Debug, PartialEq)]
struct Wish {
    uid: String,
    desired: i64,
    image: String,
    /// Where no pods are meant: what the status reports.
    reported: Option<i64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Pod {
    owner: String,
    image: String,
    ready: bool,
}

/// Wishes and pods as they stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gauge {
    wishes: BTreeMap<(GroupResource, Key), Wish>,
    pods: BTreeMap<Key, Pod>,
    /// Controller of what lies between wishes and pods, by uid.
    owners: BTreeMap<String, String>,
}

/// Want, have and on the way for one wish or all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub want: i64,
    pub ready: i64,
    pub starting: i64,
}

impl Count {
    /// Missing and surplus together.
    #[must_use]
    pub fn gap(self) -> i64 {
        (self.want - self.ready).max(0) + (self.ready + self.starting - self.want).max(0)
    }
}

impl Gauge {
    #[must_use]
    pub fn of(scene: &Scene) -> Self {
        let mut gauge = Gauge::default();
        for (resource, objects) in scene.objects.iter() {
            for (key, object) in objects.iter() {
                gauge.put(resource, key, Some(object));
            }
        }
        gauge
    }

    pub fn wrote(&mut self, write: &Write) {
        let object = write.new.as_ref().filter(|_| write.kind != WatchEventType::Deleted);
        self.put(&write.resource, &write.key, object);
    }

    fn put(&mut self, resource: &GroupResource, key: &Key, object: Option<&Object>) {
        if &*resource.resource == "pods" && resource.group.is_empty() {
            match object {
                Some(object) => self.pods.insert(key.clone(), pod(object)),
                None => self.pods.remove(key),
            };
            return;
        }
        let id = (resource.clone(), key.clone());
        let Some(object) = object else {
            self.wishes.remove(&id);
            return;
        };
        let owner = controller(object);
        if !owner.is_empty() {
            self.owners.insert(object.uid().to_string(), owner.to_string());
        } else if let Some(wish) = wish(object) {
            self.wishes.insert(id, wish);
        }
    }

    /// Missing and surplus of every wish, added up.
    #[must_use]
    pub fn gap(&self) -> i64 {
        self.wishes.values().map(|wish| self.count(wish).gap()).sum()
    }

    /// The count of the wish with this key, whatever its resource.
    #[must_use]
    pub fn keyed(&self, key: &Key) -> Option<Count> {
        self.wishes.iter().find(|((_, k), _)| k == key).map(|(_, wish)| self.count(wish))
    }

    fn count(&self, wish: &Wish) -> Count {
        if let Some(ready) = wish.reported {
            return Count { want: wish.desired, ready, starting: 0 };
        }
        let mut count = Count { want: wish.desired, ..Count::default() };
        for pod in self.pods.values().filter(|pod| self.root(&pod.owner) == wish.uid) {
            let fits = wish.image.is_empty() || wish.image == pod.image;
            if pod.ready && fits { count.ready += 1 } else { count.starting += 1 }
        }
        count
    }

    fn root<'a>(&'a self, owner: &'a str) -> &'a str {
        let mut uid = owner;
        for _ in 0..OWNERS_MAX {
            match self.owners.get(uid) {
                Some(next) => uid = next,
                None => break,
            }
        }
        uid
    }

    /// Pods that are ready.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.pods.values().filter(|pod| pod.ready).count()
    }
}

fn wish(object: &Object) -> Option<Wish> {
    let dishes = object.int(&["spec", "dishes"]);
    let desired = dishes.or_else(|| object.int(&["spec", "replicas"]))?;
    let template = object.list(&["spec", "template", "spec", "containers"]).first().map_or("", |c| c.text(&["image"]));
    let image = if object.text(&["spec", "image"]).is_empty() { template } else { object.text(&["spec", "image"]) };
    Some(Wish {
        uid: object.uid().to_string(),
        desired: if object.deleting() { 0 } else { desired },
        image: image.to_string(),
        reported: dishes.map(|_| object.int(&["status", "prepared"]).unwrap_or(0)),
    })
}

fn pod(object: &Object) -> Pod {
    Pod {
        owner: controller(object).to_string(),
        image: object.list(&["spec", "containers"]).first().map_or("", |c| c.text(&["image"])).to_string(),
        ready: is_ready(object) && !object.deleting(),
    }
}

/// The Ready condition is True.
#[must_use]
pub fn is_ready(object: &Value) -> bool {
    object.condition("Ready") == "True"
}

/// Uid of the owner that controls the object, or nothing.
fn controller(object: &Object) -> &str {
    object.controller_ref().map_or("", |owner| owner.text(&["uid"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn put(gauge: &mut Gauge, resource: &str, object: Value) {
        let object = Arc::new(object);
        gauge.put(&GroupResource::new("", resource), &object.key(), Some(&object));
    }

    fn pod_of(owner: &str, name: &str, image: &str, ready: &str) -> Value {
        json!({"metadata": {"name": name, "ownerReferences": [{"uid": owner, "controller": true}]},
            "spec": {"containers": [{"image": image}]}, "status": {"conditions": [{"type": "Ready", "status": ready}]}})
    }

    #[test]
    fn the_gap_counts_what_is_missing_old_or_too_much() {
        let mut gauge = Gauge::default();
        put(
            &mut gauge,
            "things",
            json!({"metadata": {"name": "c", "uid": "u"}, "spec": {"replicas": 3, "image": "r:2"}}),
        );
        assert_eq!(gauge.gap(), 3);
        put(&mut gauge, "pods", pod_of("u", "c-0", "r:2", "True"));
        put(&mut gauge, "pods", pod_of("u", "c-1", "r:1", "True"));
        put(&mut gauge, "pods", pod_of("u", "c-2", "r:2", "False"));
        assert_eq!(gauge.keyed(&Key::new("", "c")).unwrap(), Count { want: 3, ready: 1, starting: 2 });
        assert_eq!((gauge.gap(), gauge.ready()), (2, 2));
    }

    #[test]
    fn pods_count_through_the_controllers_between() {
        let mut gauge = Gauge::default();
        put(&mut gauge, "deployments", json!({"metadata": {"name": "d", "uid": "d"}, "spec": {"replicas": 1}}));
        let middle = json!({"metadata": {"name": "d-1", "uid": "rs", "ownerReferences": [{"uid": "d", "controller": true}]}, "spec": {"replicas": 1}});
        put(&mut gauge, "replicasets", middle);
        put(&mut gauge, "pods", pod_of("rs", "d-1-x", "i", "True"));
        assert_eq!(gauge.gap(), 0);
    }

    #[test]
    fn dishes_count_by_what_the_status_reports() {
        let mut gauge = Gauge::default();
        put(&mut gauge, "orders", json!({"metadata": {"name": "b"}, "spec": {"dishes": 5}, "status": {"prepared": 2}}));
        assert_eq!(gauge.gap(), 3);
    }
}
