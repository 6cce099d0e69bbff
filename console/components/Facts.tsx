import type { ReactNode } from 'react'
import classes from './Facts.module.css'

interface Fact {
  label: string
  /** Facts without a value are left out. */
  value: ReactNode
}

/** Labels and values, one below the other. */
export const Facts = ({ facts }: { facts: readonly Fact[] }) => (
  <dl className={classes.facts}>
    {facts
      .filter(({ value }) => value !== undefined && value !== null && value !== false && value !== '')
      .map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
