// The source of samples and summaries, as the API and events show it. Source: events.md 2.
import { providerName, providers, type Provider } from '../../people/users/sources.ts'
import { Fields, Nullable, OpenEnum, T, Uuid, type Static } from '../../platform/schema/schema.ts'
import { sourceTypes, type SourceType } from './timeseries.ts'

export const DataSource = Fields(
  {
    name: T.String(),
    slug: T.String(),
    logo: T.String(),
    provider: T.String(),
    type: OpenEnum(sourceTypes),
    app_id: Nullable(T.String()),
    device_id: Nullable(Uuid),
    sport: Nullable(T.String()),
    workout_id: Nullable(Uuid),
  },
  { title: 'DataSource' },
)
export type DataSource = Static<typeof DataSource>

/** What a source shows beside the provider and the type. */
interface SourceDetails {
  /** Null for samples: only summaries name their app. */
  app_id: string | null
  device_id: string | null
  /** Of samples that belong to a workout. */
  workout_id?: string | null
  sport?: string | null
}

export const wireSource = (
  provider: string,
  type: SourceType,
  { app_id, device_id, workout_id = null, sport = null }: SourceDetails,
): DataSource => ({
  name: providerName(provider),
  slug: provider,
  logo: '',
  provider,
  type,
  app_id,
  device_id,
  sport,
  workout_id,
})

/** A number for each provider that stays the same; consumers need not know what it means. */
export const wireSourceId = (provider: string): number => providers.indexOf(provider as Provider) + 1
