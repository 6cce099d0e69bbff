// Features that an operator can switch off for a team. All are on until then, but those that a team has to ask for. An operation that belongs to one names it in its record;
// what depends on a feature only in part asks `assertFeature`. Source: management-auth.md 19.
import type { Tenant } from './db.ts'
import { forbidden, type Problem } from './errors.ts'

export interface Feature {
  /** As the operator writes it. */
  name: string
  /** What a team does not have without it. */
  about: string
  /** The answer to a team that does not have it. */
  refusal: () => Problem
  /** A new team does not have it. */
  offAtFirst: boolean
}

/** Declare a feature; 403 to a team that does not have it, unless said otherwise. */
export const feature = (
  name: string,
  about: string,
  refusal: () => Problem = () => forbidden('This feature is not enabled for this team'),
  { offAtFirst = false } = {},
): Feature => ({ name, about, refusal, offAtFirst })

/** Whether a team has a feature. */
export const hasFeature = ({ features_off }: Pick<Tenant, 'features_off'>, { name }: Pick<Feature, 'name'>): boolean =>
  !features_off?.includes(name)

/** Throws the feature's refusal for a team that does not have it. */
export function assertFeature(tenant: Pick<Tenant, 'features_off'>, feature: Feature): void {
  if (!hasFeature(tenant, feature)) throw feature.refusal()
}
