// Markers as a request names them, by our ids or by the labs' codes: looked up and resolved to one lab. Only reads.
import type { Tx } from '../../platform/db/transaction.ts'
import { badRequest } from '../../platform/http/errors.ts'
import { T, type Static } from '../../platform/schema/schema.ts'
import { sql } from '../../platform/db/sql.ts'
import type { SampleType } from './enums.ts'
import { cachedLab } from './labs.ts'

/** One of the two lists is not empty. */
export interface MarkerNames {
  marker_ids?: number[] | undefined
  provider_ids?: string[] | undefined
}

const NamedMarker = T.Object({
  id: T.Integer(),
  lab_id: T.Integer(),
  provider_id: T.String(),
  is_orderable: T.Boolean(),
  a_la_carte_enabled: T.Boolean(),
  price: T.Number(),
  specimens: T.Array(T.String()),
})
/** A marker with the data that a lab test needs. An invalid price counts as zero. */
export type ResolvedMarker = Static<typeof NamedMarker>

/**
 * Looks up the markers of a request at every lab. `ofOneLab` then returns each once, in the given order, for the given lab or for the only
 * lab that has them all. Errors: 400 an unknown marker, one of another lab, or codes that several labs use.
 */
export async function resolveMarkers(tx: Tx, { marker_ids = [], provider_ids = [] }: MarkerNames) {
  const found = await tx.many(
    NamedMarker,
    sql`
    select m.id, m.lab_id, m.provider_id, m.is_orderable, m.a_la_carte_enabled,
           case when m.price ~ '^[0-9]{1,9}([.][0-9]{1,2})?$' then m.price::float8 else 0 end as price,
           array(select distinct a.definition->>'specimen' from marker_analyte ma join analyte a on a.id = ma.analyte_id
                 where ma.marker_id = m.id and a.definition->>'specimen' is not null) as specimens
    from marker m where m.id = any (${marker_ids}::integer[]) or m.provider_id = any (${provider_ids}::text[]) order by m.id`,
  )
  const names = [...new Set<string | number>(marker_ids.length ? marker_ids : provider_ids)]
  const candidates = names.map((name) =>
    found.filter(({ id, provider_id }) => name === (typeof name === 'number' ? id : provider_id)),
  )
  return { ofOneLab: (lab_id: number | undefined) => requireOneLab(names, candidates, lab_id) }
}

function requireOneLab(names: (string | number)[], candidates: ResolvedMarker[][], lab_id: number | undefined): ResolvedMarker[] {
  const unknown = candidates.findIndex((markers) => markers.length === 0)
  if (unknown >= 0) throw badRequest(`Marker ${names[unknown]} does not exist`)
  const [lab, ...others] = lab_id === undefined ? labsOfferingAll(candidates) : [lab_id]
  if (others.length) throw badRequest('provider_ids match markers of several labs: specify the lab, or use marker_ids')
  return candidates.map((markers, i) => {
    const marker = markers.find((candidate) => candidate.lab_id === lab)
    if (!marker) throw badRequest(`Marker ${names[i]} belongs to a different lab than the other markers`)
    return marker
  })
}

/** The labs that have all of them; if none does, a lab that has the first, so that another is reported as missing. */
function labsOfferingAll(candidates: ResolvedMarker[][]): number[] {
  const [first = [], ...others] = candidates.map((markers) => markers.map(({ lab_id }) => lab_id))
  const common = first.filter((lab) => others.every((labs) => labs.includes(lab)))
  return common.length ? common : first.slice(0, 1)
}

/** The sum of the markers' prices, in dollars. */
export const totalPrice = (items: { price: number }[]): number =>
  items.reduce((sum, { price }) => sum + Math.round(price * 100), 0) / 100

/** The specimen of markers: the one that they share, if the lab accepts it; else the first that the lab accepts. */
export async function getSampleType(tx: Tx, lab_id: number, markers: ResolvedMarker[]): Promise<SampleType> {
  const { sample_types } = await cachedLab(tx, lab_id)
  const [specimen, ...others] = new Set(markers.flatMap(({ specimens }) => specimens))
  return (others.length ? undefined : sample_types.find((type) => type === specimen)) ?? sample_types[0]!
}
