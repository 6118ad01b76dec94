//! The role is the boundary: its rights beyond reading what is needed, found when a connection opens.
//!
//! A READ ONLY transaction does not hold a superuser, and nothing holds a role that may read the server's files. Attributes
//! and memberships are asked on **every** new connection, in the round trip that also asks for `server_info`;
//! privileges object by object are dearer and asked on the first connection, and then on a new one at most once in
//! `REVIEW_AGE`. A connection whose role is refused is closed and never pooled, so that nothing runs on it, and nothing is
//! kept of it, so that the next call notices a role that was mended. A right that is granted while a connection lives is
//! noticed when it is replaced. The servers of one DSN are taken for copies of one.
//!
//! | file | holds |
//! |---|---|
//! | `finding.rs` | a finding, the setting that decides on it, and the need it exceeds |
//! | `attributes.rs` | attributes of the role, and roles that it can become |
//! | `privileges.rs`, `privileges.sql` | privileges object by object |
//! | `reviews.rs` | findings that are kept between connections |

mod finding;
mod attributes;
mod privileges;
mod reviews;

pub(super) use attributes::{POWERS, ROLES, RoleRow, is_superuser, judge as powers};
pub use finding::{Need, RoleFinding, UnsafeRole};
pub(super) use privileges::ask as privileges;
pub(super) use reviews::Reviews;
