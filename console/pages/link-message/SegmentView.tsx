import { Button, Title } from '@mantine/core'
import { useMemo, useState } from 'react'
import { readSegments, type MessageSegment } from './segments.ts'
import classes from './SegmentView.module.css'

/** Segments that are shown at first; more come with a press. */
const SEGMENTS_MAX = 100

/** A message with its segments and fields named. All of it is text, wherever it comes from. */
export function SegmentView({ text, label }: { text: string; label: string }) {
  const segments = useMemo(() => readSegments(text), [text])
  const [shown, setShown] = useState(SEGMENTS_MAX)
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keys
    <section className={classes.view} aria-label={label} tabIndex={0}>
      {segments ? (
        <>
          {segments.slice(0, shown).map((segment, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- the segments of a message do not move
            <Segment key={index} segment={segment} />
          ))}
          {segments.length > shown && (
            <Button size="compact-sm" variant="subtle" mt="sm" onClick={() => setShown(shown + SEGMENTS_MAX)}>
              {(segments.length - shown).toLocaleString()} more segments
            </Button>
          )}
        </>
      ) : (
        <pre className={classes.raw}>{text}</pre>
      )}
    </section>
  )
}

const Segment = ({ segment: { name, fields } }: { segment: MessageSegment }) => (
  <div className={classes.segment}>
    {fields.length === 0 ? <p className={classes.note}>{name}</p> : <Title order={3}>{name}</Title>}
    <dl className={classes.fields}>
      {fields.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </div>
)
