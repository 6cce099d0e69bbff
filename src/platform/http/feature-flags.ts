// Features that an operator can disable for a team, and options that an operator can enable. All features are enabled by default. An
// operation that belongs to a feature names it in its record; code that depends on a feature only in part calls `assertFeature`. Source:
// management-auth.md 19.
import type { Tenant } from '../db/transaction.ts'
import { forbidden } from './errors.ts'
import type { Problem } from '../runtime/problem.ts'

export interface Feature {
  /** The name in the operator's commands. */
  name: string
  /** What a team lacks without it. */
  about: string
  /** The response for a team without it. */
  refusal: () => Problem
}

/** Declares a feature; default response: 403. */
export const feature = (
  name: string,
  description: string,
  error: () => Problem = () => forbidden('This feature is not enabled for this team'),
): Feature => ({ name, about: description, refusal: error })

/** Whether a team has a feature. */
export const hasFeature = ({ disabled_features }: Pick<Tenant, 'disabled_features'>, { name }: Pick<Feature, 'name'>): boolean =>
  !disabled_features?.includes(name)

/** An option: disabled until the operator enables it for a team. */
export interface Option {
  /** The name in the operator's commands. */
  name: string
  /** What a team has with it. */
  about: string
}

export const hasOption = ({ options_on: enabled_options }: Pick<Tenant, 'options_on'>, { name }: Option): boolean =>
  enabled_options?.includes(name) ?? false

/** Throws the feature's response for a team without it. */
export function assertFeature(tenant: Pick<Tenant, 'disabled_features'>, feature: Feature): void {
  if (!hasFeature(tenant, feature)) throw feature.refusal()
}
