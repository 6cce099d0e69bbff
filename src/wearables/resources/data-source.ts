// The source of samples and summaries, as the API and events show it. Source: events.md 2.
import type { Tx } from '../../platform/db/transaction.ts'
import { providerName, providers, type Provider } from '../../people/users/sources.ts'
import { Fields, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { servesLegacy } from './legacy.ts'
import { sourceTypes, type SourceType } from './timeseries.ts'

export const DataSource = Fields(
  {
    name: T.Optional(T.String()),
    slug: T.Optional(T.String()),
    logo: T.Optional(T.String()),
    provider: T.String(),
    type: OpenEnum(sourceTypes),
    app_id: Nullable(T.String()),
    device_id: Nullable(Uuid),
    sport: Nullable(T.String()),
    workout_id: Nullable(Uuid),
  },
  {
    title: 'DataSource',
    description: '`name`, `slug` and `logo` are deprecated; a server with `LEGACY_TIMESERIES=off` leaves them out.',
  },
)
export type DataSource = Static<typeof DataSource>

/** What a source shows in addition to the provider and the type. */
interface SourceDetails {
  /** Null for samples: only summaries name their app. */
  app_id: string | null
  device_id: string | null
  /** The workout that samples belong to. */
  workout_id?: string | null
  sport?: string | null
}

/** The source as the API and events show it; without the fields that the reference has ended, unless the server serves them. */
export const wireSource = (
  tx: Pick<Tx, 'tenant'>,
  provider: string,
  type: SourceType,
  { app_id, device_id, workout_id = null, sport = null }: SourceDetails,
): DataSource => ({
  ...(servesLegacy(tx) && { name: providerName(provider), slug: provider, logo: '' }),
  provider,
  type,
  app_id,
  device_id,
  sport,
  workout_id,
})

/** A number for each provider that stays the same; consumers need not know what it means. */
export const wireSourceId = (provider: string): number => providers.indexOf(provider as Provider) + 1
