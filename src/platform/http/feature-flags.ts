// Features that an operator can switch off for a team, and options that can be switched on. All features are on until then. An operation that belongs to one names it in its record;
// what depends on a feature only in part asks `assertFeature`. Source: management-auth.md 19.
import type { Tenant } from '../db/transaction.ts'
import { forbidden } from './errors.ts'
import type { Problem } from '../runtime/problem.ts'

export interface Feature {
  /** As the operator writes it. */
  name: string
  /** What a team does not have without it. */
  about: string
  /** The answer to a team that does not have it. */
  refusal: () => Problem
}

/** Declare a feature; 403 to a team that does not have it, unless said otherwise. */
export const feature = (
  name: string,
  description: string,
  error: () => Problem = () => forbidden('This feature is not enabled for this team'),
): Feature => ({ name, about: description, refusal: error })

/** Whether a team has a feature. */
export const hasFeature = (
  { features_off: disabled_features }: Pick<Tenant, 'features_off'>,
  { name }: Pick<Feature, 'name'>,
): boolean => !disabled_features?.includes(name)

/** What no team has until its operator switches it on. */
export interface Option {
  /** As the operator writes it. */
  name: string
  /** What a team has with it. */
  about: string
}

export const hasOption = ({ options_on: enabled_options }: Pick<Tenant, 'options_on'>, { name }: Option): boolean =>
  enabled_options?.includes(name) ?? false

/** Throws the feature's refusal for a team that does not have it. */
export function assertFeature(tenant: Pick<Tenant, 'features_off'>, feature: Feature): void {
  if (!hasFeature(tenant, feature)) throw feature.refusal()
}
