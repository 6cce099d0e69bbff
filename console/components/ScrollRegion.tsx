import type { PropsWithChildren } from 'react'
import classes from './ScrollRegion.module.css'

/** Content that may be wider than its place: it scrolls sideways, by keys too. */
export const ScrollRegion = ({ label, children }: PropsWithChildren<{ label: string }>) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keys
  <section className={classes.region} aria-label={label} tabIndex={0}>
    {children}
  </section>
)
