//! Line plots as SVG. Colours come from classes, so that the page decides them for light and dark.

use super::show::{escaped, number};
use crate::time::show_time;
use std::fmt::Write;

const WIDTH: f64 = 1_000.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 8.0;
/// Room for labels above bands.
const LABELS: f64 = 74.0;
const BOTTOM: f64 = 22.0;

/// What the horizontal axis counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Nanoseconds since 1970.
    Time,
    /// Plain numbers, such as steps.
    Count,
}

/// A line: places and values; a missing value interrupts it.
pub(crate) struct Line {
    pub(crate) class: &'static str,
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// A stretch of the axis to mark, over the whole height or as a bar at the foot.
pub(crate) struct Band {
    pub(crate) class: &'static str,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) title: String,
    /// Shown above the band when there is room.
    pub(crate) label: String,
}

/// A plot to be drawn.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) axis: Axis,
    pub(crate) height: f64,
    pub(crate) lines: Vec<Line>,
    pub(crate) bands: Vec<Band>,
    pub(crate) alerts: Vec<Band>,
    /// A level to draw across.
    pub(crate) threshold: Option<f64>,
    /// Powers of ten on the vertical axis.
    pub(crate) logarithmic: bool,
    /// Write the names of bands above them.
    pub(crate) labelled: bool,
    /// The horizontal axis; all plots of a page share it.
    pub(crate) range: (f64, f64),
}

impl Plot {
    pub(crate) fn new(title: &str, axis: Axis, range: (f64, f64), lines: Vec<Line>) -> Self {
        Self {
            title: title.to_owned(),
            axis,
            height: 120.0,
            lines,
            bands: Vec::new(),
            alerts: Vec::new(),
            threshold: None,
            logarithmic: false,
            labelled: false,
            range,
        }
    }

    /// The SVG element.
    pub(crate) fn svg(&self) -> String {
        let scale = Scale::of(self);
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\" class=\"plot\" data-from=\"{}\" data-to=\"{}\">",
            self.height,
            escaped(&self.title),
            self.range.0,
            self.range.1
        );
        self.bands.iter().for_each(|band| self.draw_band(band, &scale, &mut out));
        self.draw_axes(&scale, &mut out);
        if let Some(level) = self.threshold {
            let y = scale.y(level);
            let _ = write!(
                out,
                "<line class=\"threshold\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"><title>threshold {}</title></line>",
                WIDTH - RIGHT,
                number(level)
            );
        }
        self.lines.iter().for_each(|line| draw_line(line, &scale, &mut out));
        self.alerts.iter().for_each(|alert| self.draw_alert(alert, &scale, &mut out));
        out.push_str("<line class=\"cursor\" y1=\"0\" y2=\"100%\" visibility=\"hidden\"/></svg>");
        out
    }

    fn top(&self) -> f64 {
        if self.labelled { LABELS } else { TOP }
    }

    fn draw_band(&self, band: &Band, scale: &Scale, out: &mut String) {
        let (left, right) = (scale.x(band.from), scale.x(band.to));
        let width = (right - left).max(1.0);
        let (top, height) = (self.top(), self.height - BOTTOM - self.top());
        let _ = write!(
            out,
            "<g class=\"{}\"><title>{}</title><rect class=\"fill\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\
             <rect class=\"edge\" x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"2\"/>",
            band.class,
            escaped(&band.title)
        );
        if self.labelled && !band.label.is_empty() {
            let _ = write!(
                out,
                "<text transform=\"translate({:.1} {:.1}) rotate(-35)\">{}</text>",
                left + 3.0,
                top - 4.0,
                escaped(&band.label)
            );
        }
        out.push_str("</g>");
    }

    fn draw_alert(&self, alert: &Band, scale: &Scale, out: &mut String) {
        let (left, right) = (scale.x(alert.from), scale.x(alert.to));
        let _ = write!(
            out,
            "<rect class=\"alert\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"5\" rx=\"1.5\"><title>{}</title></rect>",
            self.height - BOTTOM - 5.0,
            (right - left).max(2.0),
            escaped(&alert.title)
        );
    }

    fn draw_axes(&self, scale: &Scale, out: &mut String) {
        for (value, label) in scale.y_ticks() {
            let y = scale.y(value);
            let _ = write!(
                out,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text class=\"y\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                WIDTH - RIGHT,
                LEFT - 7.0,
                y + 3.5
            );
        }
        for (place, label) in x_ticks(self.axis, self.range) {
            let x = scale.x(place);
            let foot = self.height - BOTTOM;
            let _ = write!(
                out,
                "<line class=\"tick\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{foot:.1}\" y2=\"{:.1}\"/><text class=\"x\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                foot + 4.0,
                self.height - 6.0
            );
        }
        let foot = self.height - BOTTOM;
        let _ = write!(
            out,
            "<line class=\"axis\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{foot:.1}\" y2=\"{foot:.1}\"/>",
            WIDTH - RIGHT
        );
    }
}

fn draw_line(line: &Line, scale: &Scale, out: &mut String) {
    let mut path = String::new();
    let mut broken = true;
    for (place, value) in thinned(&line.points, scale) {
        match value {
            Some(value) => {
                let command = if broken { 'M' } else { 'L' };
                let _ = write!(path, "{command}{:.1} {:.1}", scale.x(place), scale.y(value));
                if broken {
                    path.push_str("h0.01");
                }
                broken = false;
            }
            None => broken = true,
        }
    }
    let _ = write!(
        out,
        "<path class=\"line {}\" d=\"{path}\"><title>{}</title></path>",
        line.class,
        escaped(&line.name)
    );
}

/// At most two points a pixel: the lowest and the highest of those that would fall together.
fn thinned(points: &[(f64, Option<f64>)], scale: &Scale) -> Vec<(f64, Option<f64>)> {
    if points.len() < 2_400 {
        return points.to_vec();
    }
    let pixel = |point: &(f64, Option<f64>)| scale.x(point.0).floor();
    let mut kept = Vec::new();
    for group in points.chunk_by(|a, b| pixel(a) == pixel(b)) {
        let by_value = |a: &&(f64, Option<f64>), b: &&(f64, Option<f64>)| {
            a.1.unwrap_or_default().total_cmp(&b.1.unwrap_or_default())
        };
        let present = || group.iter().filter(|point| point.1.is_some());
        match (present().min_by(by_value), present().max_by(by_value)) {
            (Some(low), Some(high)) if low.0 <= high.0 => kept.extend([*low, *high]),
            (Some(low), Some(high)) => kept.extend([*high, *low]),
            _ => kept.extend(group.first().copied()),
        }
    }
    kept
}

/// From values to places in the picture.
struct Scale {
    height: f64,
    top: f64,
    from: (f64, f64),
    values: (f64, f64),
    logarithmic: bool,
}

impl Scale {
    fn of(plot: &Plot) -> Self {
        let values =
            plot.lines.iter().flat_map(|line| line.points.iter().filter_map(|point| point.1));
        let all: Vec<f64> =
            values.chain(plot.threshold).filter(|value| value.is_finite()).collect();
        let highest = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let lowest = if plot.logarithmic {
            let least =
                all.iter().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
            least.max(plot.threshold.unwrap_or(highest) / 100.0)
        } else {
            all.iter().copied().fold(f64::INFINITY, f64::min)
        };
        let values = match (lowest.is_finite() && highest.is_finite(), plot.logarithmic) {
            (false, _) => (0.0, 1.0),
            (true, true) => (lowest.log10(), highest.max(lowest * 10.0).log10()),
            (true, false) => padded(lowest, highest),
        };
        Self {
            height: plot.height,
            top: plot.top(),
            from: plot.range,
            values,
            logarithmic: plot.logarithmic,
        }
    }

    fn x(&self, place: f64) -> f64 {
        let span = self.from.1 - self.from.0;
        let share = if span > 0.0 { (place - self.from.0) / span } else { 0.5 };
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let share = (value - self.values.0) / (self.values.1 - self.values.0);
        self.height - BOTTOM - share.clamp(0.0, 1.0) * (self.height - BOTTOM - self.top - 4.0)
    }

    fn y_ticks(&self) -> Vec<(f64, String)> {
        let (low, high) = self.values;
        if self.logarithmic {
            let step = ((high - low) / 4.0).ceil().max(1.0);
            let powers = multiples(low, high, step);
            return powers
                .into_iter()
                .map(|power| (10_f64.powf(power), power_label(power)))
                .collect();
        }
        let step = nice((high - low) / if self.height > 150.0 { 5.0 } else { 3.0 });
        multiples(low, high, step)
            .into_iter()
            .map(|value| (value, tick_label(value, step)))
            .collect()
    }
}

fn padded(low: f64, high: f64) -> (f64, f64) {
    if low >= 0.0 && low < high * 0.5 {
        return (0.0, high);
    }
    let room = if high > low { (high - low) * 0.08 } else { low.abs().max(1.0) * 0.1 };
    (low - room, high + room)
}

/// 1, 2 or 5 times a power of ten, at least `rough`.
fn nice(rough: f64) -> f64 {
    let power = 10_f64.powf(rough.max(1e-300).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * power)
        .find(|step| *step >= rough * 0.999)
        .unwrap_or(rough)
}

fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let first = (low / step - 1e-9).ceil();
    (0..20)
        .map(|count| (first + f64::from(count)) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .collect()
}

fn power_label(power: f64) -> String {
    let value = 10_f64.powf(power);
    if (1e-3..1e5).contains(&value) { format!("{value}") } else { format!("1e{power:.0}") }
}

fn tick_label(value: f64, step: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    for (size, unit) in units {
        if step >= size || (value.abs() >= size * 10.0 && step >= size / 10.0) {
            return format!("{}{unit}", value / size);
        }
    }
    let digits = if step >= 1.0 { 0.0 } else { (-step.log10()).ceil().clamp(0.0, 9.0) };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped between 0 and 9"
    )]
    let digits = digits as usize;
    format!("{value:.digits$}", digits = digits).replace("-0", "0")
}

/// Places on the horizontal axis that deserve a label.
fn x_ticks(axis: Axis, range: (f64, f64)) -> Vec<(f64, String)> {
    let span = range.1 - range.0;
    if axis == Axis::Count {
        let step = nice(span / 8.0);
        return multiples(range.0, range.1, step)
            .into_iter()
            .map(|value| (value, tick_label(value, step)))
            .collect();
    }
    const STEPS: [f64; 18] = [
        1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0,
        7_200.0, 21_600.0, 43_200.0, 86_400.0, 604_800.0,
    ];
    let seconds =
        STEPS.into_iter().find(|step| span / 1e9 / step <= 11.0).unwrap_or(span / 1e9 / 8.0);
    let places = multiples(range.0, range.1, seconds * 1e9);
    #[expect(clippy::cast_possible_truncation, reason = "times lie within i64")]
    let label = |place: f64| {
        let text = show_time(place.round() as i64);
        let part = match seconds {
            _ if seconds >= 86_400.0 => text.get(..10),
            _ if seconds >= 60.0 => text.get(11..16),
            _ => text.get(11..),
        };
        part.unwrap_or(&text).to_owned()
    };
    places.into_iter().map(|place| (place, label(place))).collect()
}
