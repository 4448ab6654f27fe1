//! Messages that wait. The newest can be seen without taking the first, so that work nobody waits for any more stops.

use crate::transport::Incoming;
use lsp_server::{Message, RequestId};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// What happens next.
pub(crate) enum Event {
    /// Something came from the client.
    Incoming(Incoming),
    /// A request that waited was cancelled.
    Cancelled(RequestId),
    /// Nothing came for the given time.
    Quiet,
    /// The stream has ended.
    Closed,
}

/// The messages of one connection.
pub(crate) struct Inbox {
    receiver: Receiver<Incoming>,
    waiting: RefCell<VecDeque<Event>>,
    closed: Cell<bool>,
}

impl Inbox {
    pub(crate) fn new(receiver: Receiver<Incoming>) -> Self {
        Self { receiver, waiting: RefCell::default(), closed: Cell::new(false) }
    }

    /// Whether something waits.
    pub(crate) fn waits(&self) -> bool {
        loop {
            match self.receiver.try_recv() {
                Ok(incoming) => self.put(incoming),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.closed.set(true);
                    break;
                }
            }
        }
        !self.waiting.borrow().is_empty()
    }

    /// The next event; [`Event::Quiet`] when nothing comes within `patience`.
    pub(crate) fn next(&self, patience: Option<Duration>) -> Event {
        if self.waits()
            && let Some(event) = self.waiting.borrow_mut().pop_front()
        {
            return event;
        }
        if self.closed.get() {
            return Event::Closed;
        }
        let received = match patience {
            Some(patience) => self.receiver.recv_timeout(patience),
            None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match received {
            Ok(incoming) => Event::Incoming(incoming),
            Err(RecvTimeoutError::Timeout) => Event::Quiet,
            Err(RecvTimeoutError::Disconnected) => Event::Closed,
        }
    }

    fn put(&self, incoming: Incoming) {
        let mut waiting = self.waiting.borrow_mut();
        if let Some(id) = cancelled(&incoming) {
            for event in waiting.iter_mut() {
                if matches!(event, Event::Incoming(Incoming::Message(Message::Request(request))) if request.id == id)
                {
                    *event = Event::Cancelled(id.clone());
                }
            }
        }
        waiting.push_back(Event::Incoming(incoming));
    }
}

/// The request that a message cancels.
fn cancelled(incoming: &Incoming) -> Option<RequestId> {
    match incoming {
        Incoming::Message(Message::Notification(note)) if note.method == "$/cancelRequest" => {
            serde_json::from_value(note.params.get("id")?.clone()).ok()
        }
        _ => None,
    }
}
