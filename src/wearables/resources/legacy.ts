// What the reference has ended and this server still has, behind the setting `LEGACY_TIMESERIES`: lists of samples without sources, the
// timeseries of sleep stages, and old fields of sources and of events about histories. Source: field-2026.md 0 no. 1.
import type { Tx } from '../../platform/db/transaction.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Deprecation } from '../../platform/http/operation.ts'

export const servesLegacy = ({ tenant }: Pick<Tx, 'tenant'>): boolean => tenant.settings.legacy_timeseries !== false

/** Errors: 404 the server does not serve what the reference has ended. */
export function assertServesLegacy(tx: Tx): void {
  if (!servesLegacy(tx)) throw notFound('This list is no longer served')
}

/** The day on which the reference ended them. */
const since = new Date('2026-09-14T00:00:00Z')

/** Marks a list as deprecated. @param successor the path that takes its place */
export const endedList = (successor: `/${string}`): Deprecation => ({ deprecated_at: since, successor })

export const groupedPath = (user_id: string, resource: string): `/${string}` => `/v2/timeseries/${user_id}/${resource}/grouped`

/** The stages of nights, which the timeseries `hypnogram` shows as samples. */
export const stagesPath = (user_id: string): `/${string}` => `/v2/summary/sleep_cycle/${user_id}`
