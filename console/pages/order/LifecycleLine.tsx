import { VisuallyHidden } from '@mantine/core'
import { toneOfOrder, toWords } from '../../components/order-status.ts'
import { ScrollRegion } from '../../components/ScrollRegion.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import type { OrderStep } from './order-queries.ts'
import classes from './LifecycleLine.module.css'

const PHASE_WORDS = { passed: 'done', current: 'now', expected: 'expected' } as const

/** The way of the order through the lifecycle of its collection method: done, now, and what is still expected. */
export const LifecycleLine = ({ steps }: { steps: readonly OrderStep[] }) => (
  <ScrollRegion label="Lifecycle">
    <ol className={classes.line}>
      {steps.map((step, index) => (
        <li
          key={`${index} ${step.low_level_status}`}
          className={classes.step}
          data-phase={step.phase}
          data-tone={toneOfOrder(step.state, step.low_level_status)}
          aria-current={step.phase === 'current' ? 'step' : undefined}
        >
          <span className={classes.mark} aria-hidden="true" />
          <span className={classes.name}>{toWords(step.low_level_status)}</span>
          <span className={classes.time}>
            {step.reached_at ? <RelativeTime value={step.reached_at} /> : <span>expected</span>}
            <VisuallyHidden>, {PHASE_WORDS[step.phase]}</VisuallyHidden>
          </span>
        </li>
      ))}
    </ol>
  </ScrollRegion>
)
