// Spans of time. Pure.

export type Span = [from_ms: number, to_ms: number]

/** Whether a span overlaps one of these, by a binary search. Spans that touch do not overlap. */
export function overlaps(spans: Span[]): (span: Span) => boolean {
  const sorted = spans.toSorted(([a], [b]) => a - b)
  // Up to each span, the latest end.
  const ends: number[] = []
  for (const [, to] of sorted) ends.push(Math.max(to, ends.at(-1) ?? -Infinity))
  return ([from, to]) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sorted[middle]![0] < to) low = middle + 1
      else high = middle
    }
    return low > 0 && ends[low - 1]! > from
  }
}
