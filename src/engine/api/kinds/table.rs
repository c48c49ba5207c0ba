//! The table itself, in the order discovery lists it.

use super::{Hooks, Kind, NameRule};
use super::{apps, core, pods};
use crate::api::crd::{strategy, validate};
use crate::api::rbac::validate as roles;

const ALL: &[&str] = &["all"];
const RBAC: &str = "rbac.authorization.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// Every built-in kind.
pub static KINDS: &[Kind] = &[
    Kind {
        short_names: &["cm"],
        hooks: Hooks { validate: core::config_map, validate_update: core::config_map_update, ..Hooks::NONE },
        ..Kind::new("", "v1", "ConfigMap", "configmaps", "configmap")
    },
    Kind { short_names: &["ep"], ..Kind::new("", "v1", "Endpoints", "endpoints", "endpoints") },
    Kind { short_names: &["ev"], create_on_update: true, ..Kind::new("", "v1", "Event", "events", "event") },
    Kind {
        short_names: &["ns"],
        namespaced: false,
        has_status: true,
        names: NameRule::Label,
        ..Kind::new("", "v1", "Namespace", "namespaces", "namespace")
    },
    Kind { short_names: &["no"], namespaced: false, has_status: true, ..Kind::new("", "v1", "Node", "nodes", "node") },
    Kind {
        short_names: &["pvc"],
        has_status: true,
        hooks: Hooks {
            default: core::default_claim,
            prepare_create: apps::prepare_claim,
            validate: core::claim,
            validate_update: core::claim_update,
            ..Hooks::NONE
        },
        ..Kind::new("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim")
    },
    Kind {
        short_names: &["pv"],
        namespaced: false,
        has_status: true,
        ..Kind::new("", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume")
    },
    Kind {
        short_names: &["po"],
        categories: ALL,
        has_status: true,
        generation: true,
        hooks: Hooks { default: pods::default_pod, prepare_create: apps::prepare_pod, ..Hooks::NONE },
        ..Kind::new("", "v1", "Pod", "pods", "pod")
    },
    Kind {
        hooks: Hooks {
            default: core::default_secret,
            validate: core::secret,
            validate_update: core::secret_update,
            ..Hooks::NONE
        },
        ..Kind::new("", "v1", "Secret", "secrets", "secret")
    },
    Kind { short_names: &["sa"], ..Kind::new("", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount") },
    Kind {
        short_names: &["svc"],
        categories: ALL,
        has_status: true,
        names: NameRule::Label1035,
        hooks: Hooks {
            default: core::default_service,
            validate: core::service,
            validate_update: |new, _| core::service(new),
            ..Hooks::NONE
        },
        ..Kind::new("", "v1", "Service", "services", "service")
    },
    Kind {
        short_names: &["crd", "crds"],
        namespaced: false,
        has_status: true,
        generation: true,
        unconditional_update: false,
        hooks: Hooks {
            default: strategy::default,
            prepare_create: strategy::prepare_create,
            prepare_update: strategy::prepare_update,
            prepare_status: strategy::prepare_status,
            decode: validate::decode,
            validate: validate::validate,
            validate_update: validate::validate_update,
            validate_status: |new, _| validate::validate_status(new),
        },
        ..Kind::new(
            "apiextensions.k8s.io",
            "v1",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            "customresourcedefinition",
        )
    },
    Kind { ..Kind::new("apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision") },
    Kind {
        short_names: &["ds"],
        categories: ALL,
        has_status: true,
        generation: true,
        ..Kind::new("apps", "v1", "DaemonSet", "daemonsets", "daemonset")
    },
    Kind {
        short_names: &["deploy"],
        categories: ALL,
        has_status: true,
        has_scale: true,
        generation: true,
        hooks: Hooks {
            default: apps::default_deployment,
            prepare_update: apps::update_deployment,
            validate: pods::validate_deployment,
            validate_update: pods::validate_deployment_update,
            ..Hooks::NONE
        },
        ..Kind::new("apps", "v1", "Deployment", "deployments", "deployment")
    },
    Kind {
        short_names: &["rs"],
        categories: ALL,
        has_status: true,
        has_scale: true,
        generation: true,
        hooks: Hooks {
            default: apps::default_replica_set,
            validate: pods::validate_set,
            validate_update: pods::validate_replica_set_update,
            ..Hooks::NONE
        },
        ..Kind::new("apps", "v1", "ReplicaSet", "replicasets", "replicaset")
    },
    Kind {
        short_names: &["sts"],
        categories: ALL,
        has_status: true,
        has_scale: true,
        generation: true,
        hooks: Hooks {
            default: apps::default_stateful_set,
            validate: pods::validate_set,
            validate_update: pods::validate_stateful_set_update,
            validate_status: pods::validate_stateful_set_status,
            ..Hooks::NONE
        },
        ..Kind::new("apps", "v1", "StatefulSet", "statefulsets", "statefulset")
    },
    Kind {
        virtual_only: true,
        ..Kind::new(
            AUTHORIZATION,
            "v1",
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            "localsubjectaccessreview",
        )
    },
    Kind {
        virtual_only: true,
        namespaced: false,
        ..Kind::new(
            AUTHORIZATION,
            "v1",
            "SelfSubjectAccessReview",
            "selfsubjectaccessreviews",
            "selfsubjectaccessreview",
        )
    },
    Kind {
        virtual_only: true,
        namespaced: false,
        ..Kind::new(AUTHORIZATION, "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", "selfsubjectrulesreview")
    },
    Kind {
        virtual_only: true,
        namespaced: false,
        ..Kind::new(AUTHORIZATION, "v1", "SubjectAccessReview", "subjectaccessreviews", "subjectaccessreview")
    },
    Kind {
        short_names: &["cj"],
        categories: ALL,
        has_status: true,
        generation: true,
        ..Kind::new("batch", "v1", "CronJob", "cronjobs", "cronjob")
    },
    Kind { categories: ALL, has_status: true, generation: true, ..Kind::new("batch", "v1", "Job", "jobs", "job") },
    Kind {
        create_on_update: true,
        unconditional_update: false,
        ..Kind::new("coordination.k8s.io", "v1", "Lease", "leases", "lease")
    },
    Kind {
        short_names: &["pdb"],
        has_status: true,
        generation: true,
        unconditional_update: false,
        ..Kind::new("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget")
    },
    Kind {
        namespaced: false,
        create_on_update: true,
        names: NameRule::PathSegment,
        hooks: Hooks {
            default: roles::default_binding,
            validate: roles::cluster_role_binding,
            validate_update: roles::cluster_role_binding_update,
            ..Hooks::NONE
        },
        ..Kind::new(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding")
    },
    Kind {
        namespaced: false,
        create_on_update: true,
        names: NameRule::PathSegment,
        hooks: Hooks {
            validate: roles::cluster_role,
            validate_update: |new, _| roles::cluster_role(new),
            ..Hooks::NONE
        },
        ..Kind::new(RBAC, "v1", "ClusterRole", "clusterroles", "clusterrole")
    },
    Kind {
        create_on_update: true,
        names: NameRule::PathSegment,
        hooks: Hooks {
            default: roles::default_binding,
            validate: roles::role_binding,
            validate_update: roles::role_binding_update,
            ..Hooks::NONE
        },
        ..Kind::new(RBAC, "v1", "RoleBinding", "rolebindings", "rolebinding")
    },
    Kind {
        create_on_update: true,
        names: NameRule::PathSegment,
        hooks: Hooks { validate: roles::role, validate_update: |new, _| roles::role(new), ..Hooks::NONE },
        ..Kind::new(RBAC, "v1", "Role", "roles", "role")
    },
    Kind {
        short_names: &["sc"],
        namespaced: false,
        ..Kind::new("storage.k8s.io", "v1", "StorageClass", "storageclasses", "storageclass")
    },
];
