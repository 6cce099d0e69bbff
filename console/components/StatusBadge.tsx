import type { ReactNode } from 'react'
import type { Tone } from '../theme.ts'
import classes from './StatusBadge.module.css'

/** Beside the color, each meaning has a shape of its own. */
const SHAPES: Record<Tone, ReactNode> = {
  neutral: <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  progress: (
    <>
      <circle cx="6" cy="6" r="4.6" fill="none" stroke="currentColor" strokeWidth="1.6" />
      <path d="M6 1.4a4.6 4.6 0 0 1 0 9.2Z" />
    </>
  ),
  good: <circle cx="6" cy="6" r="4.6" />,
  attention: <path d="M6 1 11.3 10.7H.7Z" />,
  failed: <path d="m2.2 2.2 7.6 7.6M9.8 2.2 2.2 9.8" stroke="currentColor" strokeWidth="2.2" fill="none" />,
}

interface StatusBadgeProps {
  tone: Tone
  /** The word for the status. */
  children: ReactNode
}

/** A status: its word, with a shape and a color for what it means. */
export const StatusBadge = ({ tone, children }: StatusBadgeProps) => (
  <span className={classes.badge} data-tone={tone}>
    <svg viewBox="0 0 12 12" width="10" height="10" fill="currentColor" aria-hidden="true">
      {SHAPES[tone]}
    </svg>
    {children}
  </span>
)
