//! A long fan-out on the terminal: one line that counts, in place of one for each element.

use indicatif::ProgressBar;
use pipe_runtime::events::NodeState;
use std::collections::BTreeMap;

/// A driver with more elements than this is shown as one line.
pub(crate) const LONG: usize = 8;

/// A driver that expands.
#[derive(Default)]
pub(crate) struct Fan {
    /// How each element has ended, so far; the last word counts.
    ended: BTreeMap<String, Option<NodeState>>,
    /// How often the driver asked.
    asked: usize,
    /// Elements that run now, in the order in which they began.
    running: Vec<String>,
    /// Quarters that a stream without redrawing was told of.
    told: usize,
    /// The line that is redrawn.
    pub(crate) bar: Option<ProgressBar>,
}

/// Drivers by name.
#[derive(Default)]
pub(crate) struct Fans(BTreeMap<String, Fan>);

impl Fans {
    /// A driver asked for these elements; those of a driver that is itself an element of a long one are not followed.
    pub(crate) fn expand(&mut self, driver: &str, elements: &[String]) -> Option<&mut Fan> {
        if self.of(driver).is_some() {
            return None;
        }
        let fan = self.0.entry(driver.to_owned()).or_default();
        fan.asked += 1;
        for element in elements {
            fan.ended.entry(element.clone()).or_insert(None);
        }
        Some(fan)
    }

    /// The long fan-out that a node belongs to.
    pub(crate) fn of(&mut self, node: &str) -> Option<&mut Fan> {
        let places = node.match_indices('[').map(|(at, _)| at);
        let driver = places.filter_map(|at| node.get(..at));
        let driver = driver.into_iter().find(|name| self.0.get(*name).is_some_and(Fan::is_long));
        driver.and_then(|name| self.0.get_mut(name))
    }

    /// The driver has ended.
    pub(crate) fn end(&mut self, driver: &str) -> Option<Fan> {
        self.0.remove(driver)
    }
}

impl Fan {
    pub(crate) fn is_long(&self) -> bool {
        self.ended.len() > LONG
    }

    /// Elements in all that were asked for.
    pub(crate) fn len(&self) -> usize {
        self.ended.len()
    }

    fn count(&self, state: NodeState) -> usize {
        self.ended.values().filter(|ended| **ended == Some(state)).count()
    }

    /// A node of it has begun.
    pub(crate) fn begin(&mut self, node: &str) {
        self.running.push(node.to_owned());
        self.redraw();
    }

    /// A node of it has ended. Gives what to say where nothing is redrawn.
    pub(crate) fn finish(&mut self, node: &str, state: NodeState) -> Option<String> {
        self.running.retain(|running| running != node);
        if let Some(ended) = self.ended.get_mut(node) {
            *ended = Some(state);
        }
        self.redraw();
        let done = self.done();
        let quarter = 4 * done / self.len().max(1);
        let tells = self.asked == 1 && quarter > self.told && done < self.len();
        self.told = self.told.max(quarter);
        tells.then(|| self.progress())
    }

    fn done(&self) -> usize {
        self.ended.values().flatten().count()
    }

    /// `37 of 120`; a driver that asks again and again only counts.
    pub(crate) fn progress(&self) -> String {
        if self.asked == 1 {
            format!("{} of {}", self.done(), self.len())
        } else {
            format!("{} done", self.done())
        }
    }

    pub(crate) fn redraw(&self) {
        let Some(bar) = &self.bar else { return };
        bar.set_length(self.len() as u64);
        bar.set_position(self.done() as u64);
        let label = |node: &String| {
            let inside = node.find('[').and_then(|at| node.get(at..));
            inside.unwrap_or(node).to_owned()
        };
        let now = self.running.first().map(label).unwrap_or_default();
        bar.set_message(format!("{}  {now}", self.progress()));
    }

    /// `120 elements: 83 ran, 37 cached`.
    pub(crate) fn summary(&self) -> String {
        let states = [
            (NodeState::Ran, "ran"),
            (NodeState::Cached, "cached"),
            (NodeState::Failed, "failed"),
            (NodeState::Skipped, "skipped"),
        ];
        let counts = states.iter().map(|(state, what)| (self.count(*state), what));
        let parts: Vec<String> = counts
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        format!("{} elements: {}", self.len(), parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_fan_outs_are_counted() {
        let names: Vec<String> = (0..12).map(|at| format!("all[n={at}]")).collect();
        let mut fans = Fans::default();
        assert!(!fans.expand("few", &names[..3]).unwrap().is_long());
        assert!(fans.expand("all", &names).unwrap().is_long());
        assert!(fans.of("few[n=1]").is_none() && fans.of("all").is_none());
        assert!(fans.expand("all[n=1][m=2]", &names).is_none(), "it is inside of a long one");
        let fan = fans.of("all[n=3].fit").unwrap();
        fan.begin("all[n=3].fit");
        assert_eq!(fan.finish("all[n=3].fit", NodeState::Ran), None, "a step of an element");
        assert_eq!(fan.finish("all[n=3]", NodeState::Ran), None);
        fan.finish("all[n=1]", NodeState::Cached);
        assert_eq!(fan.finish("all[n=2]", NodeState::Ran).as_deref(), Some("3 of 12"));
        assert_eq!(fan.summary(), "12 elements: 2 ran, 1 cached");
        fans.expand("all", &["all[n=12]".to_owned()]);
        assert_eq!(fans.of("all[n=0]").unwrap().progress(), "3 done");
        assert_eq!(fans.end("all").unwrap().len(), 13);
    }
}
