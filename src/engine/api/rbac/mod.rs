//! Role-based access control: who may do what.
