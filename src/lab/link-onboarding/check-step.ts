// A step of the check of a link: what it has shown, and what to do.
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import type { Static } from '../../platform/schema/schema.ts'
import type { LinkCheck } from './schema.ts'

export type CheckStep = Static<typeof LinkCheck>['steps'][number]

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
