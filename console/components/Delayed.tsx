import type { PropsWithChildren } from 'react'
import classes from './Delayed.module.css'

/** Shows its content after 200 ms, so that a fast response replaces nothing that flashed. */
export const Delayed = ({ children }: PropsWithChildren) => <div className={classes.delayed}>{children}</div>
