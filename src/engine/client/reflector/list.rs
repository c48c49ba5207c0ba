//! Ordinary lists, page by page.

use super::super::call::{Call, CallError, ListCall, ListPage};
use super::{Phase, Reflector, Retry};
use crate::object::Object;
use crate::time::SimTime;

/// client-go `tools/pager/pager.go`: default page size.
const PAGE_SIZE: u32 = 500;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listing {
    pub(super) requested: ListCall,
    /// The version of the first request of this listing; the fallback of a broken paged list asks for it again.
    first_version: String,
    /// The one retry without a version has been used.
    retried: bool,
    version: String,
    items: Vec<Object>,
    paged: bool,
}

impl Reflector {
    fn relist_version(&self) -> String {
        if self.version_unavailable {
            String::new()
        } else if self.last_version.is_empty() {
            "0".to_string()
        } else {
            self.last_version.clone()
        }
    }

    pub(super) fn list(&mut self) {
        let resource_version = self.relist_version();
        let limit = match self.settings.page_size {
            0 if self.paged_before || matches!(resource_version.as_str(), "" | "0") => PAGE_SIZE,
            0 => 0,
            explicit => explicit,
        };
        let first_version = resource_version.clone();
        self.send_list(
            ListCall { id: 0, resource_version, limit, continue_token: String::new() },
            Listing {
                requested: ListCall { id: 0, resource_version: String::new(), limit, continue_token: String::new() },
                first_version,
                retried: false,
                version: String::new(),
                items: Vec::new(),
                paged: false,
            },
        );
    }

    fn send_list(&mut self, mut call: ListCall, mut listing: Listing) {
        call.id = self.call_id();
        listing.requested = call.clone();
        self.calls.push(Call::List(call));
        self.phase = Phase::Listing(Box::new(listing));
    }

    pub(super) fn listed(&mut self, now: SimTime, listing: Listing, answer: Result<ListPage, CallError>) {
        let page = answer.and_then(|page| match self.undecodable(&page.items) {
            Some(error) => Err(error),
            None => Ok(page),
        });
        match page {
            Ok(page) => self.listed_page(now, listing, page),
            Err(error) => self.list_failed(now, listing, error),
        }
    }

    fn listed_page(&mut self, now: SimTime, mut listing: Listing, page: ListPage) {
        if listing.version.is_empty() {
            listing.version = page.resource_version;
        }
        listing.items.extend(page.items);
        if !page.continue_token.is_empty() {
            // Later pages name no version: the token holds it.
            let call = ListCall {
                id: 0,
                resource_version: String::new(),
                limit: listing.requested.limit,
                continue_token: page.continue_token,
            };
            listing.paged = true;
            self.send_list(call, listing);
            return;
        }
        self.paged_before |= listing.paged && listing.first_version == "0";
        self.synced(listing.version, listing.items);
        self.watch(now);
    }

    fn list_failed(&mut self, now: SimTime, mut listing: Listing, error: CallError) {
        if error.is_expired() && !listing.requested.continue_token.is_empty() {
            // The pages so far are of a version that is gone: everything at once, at the version first asked for.
            listing.items.clear();
            listing.version.clear();
            let resource_version = listing.first_version.clone();
            self.send_list(ListCall { id: 0, resource_version, limit: 0, continue_token: String::new() }, listing);
            return;
        }
        if (error.is_expired() || error.is_too_large_version()) && !listing.retried {
            self.version_unavailable = true;
            listing.retried = true;
            listing.items.clear();
            listing.version.clear();
            let limit = listing.requested.limit;
            let call =
                ListCall { id: 0, resource_version: self.relist_version(), limit, continue_token: String::new() };
            self.send_list(call, listing);
            return;
        }
        self.fail(now, error, Retry::ListAndWatch);
    }

    fn undecodable(&self, items: &[Object]) -> Option<CallError> {
        let decode = self.decode?;
        items.iter().find_map(|item| decode(item).err()).map(CallError::Decode)
    }
}
