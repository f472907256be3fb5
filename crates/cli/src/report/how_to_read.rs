//! The section that says what the numbers mean and how to make them again.

use maud::{Markup, html};

pub(super) fn section(commands: &[String]) -> Markup {
    html! {
        section id="reading" {
            h2 { "How to read this" }
            h3 { "Costs" }
            p {
                "A message costs twice: the sender is busy for a while, and then the receiver. Send is measured as "
                "what one message of a long stream takes to a receiver that keeps up; receive as what taking one "
                "message takes that already waits. The bare line is what one cache line needs from one core to the "
                "other, with nothing around it. Values are medians over many batches; the spread is the median "
                "absolute deviation."
            }
            h3 { "Trees" }
            p {
                "A member sends to its children one after the other. A child has the message when its parent has sent "
                "to all children before it and to it, and it has received. A reduction runs the other way; a parent "
                "takes its children as they come. A barrier is a reduction followed by a broadcast, often over another "
                "tree; or an exchange, in which everybody signals somebody in each round, of all members or of the "
                "leaders of groups. Predictions add up these costs and know nothing else. A lower bound is proven: by "
                "the same costs no plan of any planner is cheaper."
            }
            h3 { "Race" }
            p {
                "The median says what an operation usually takes. Nine of ten samples are not above the end of the "
                "bar, 99 of 100 not above the tick: a long tail is an interrupted thread, or a contender that "
                "sometimes sleeps. With more members than CPUs somebody always has to wait for its turn; then what "
                "counts is how soon the others make room. Differences within the spread mean nothing."
            }
            h3 { "Make it again" }
            @if commands.is_empty() {
                pre { code { "corecast" } }
            } @else {
                pre { code { (commands.join("\n")) } }
            }
        }
    }
}
