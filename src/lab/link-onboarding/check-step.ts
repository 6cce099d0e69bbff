// A step of the check of a link: what it has shown, and what to do.
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'

export interface CheckStep {
  name: string
  /** `open`: it cannot be said yet. */
  outcome: 'ok' | 'failed' | 'open'
  text: string
  /** What to do; null if nothing. */
  advice: string | null
}

/** What a process may reach. */
export interface NetworkContext {
  targets: TargetPolicy
  isSandbox: boolean
  /** `LAB_FOLDER`. */
  lab_folder: string | undefined
}

export const createStep = (
  name: string,
  outcome: CheckStep['outcome'],
  text: string,
  advice: string | null = null,
): CheckStep => ({ name, outcome, text, advice })
